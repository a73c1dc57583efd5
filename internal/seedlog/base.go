package seedlog

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/evoswarm/evoswarm/internal/evolve"
)

// ErrBelow is returned for a height of which a log has no state, since it begins at a base above.
var ErrBelow = errors.New("seedlog: the log begins above that height")

// Base begins the log of a peer that dropped the older part of its chain, in front of the first generation: what a
// reader has to know of what lies below, and the state after an entry some way above, from which the log can be folded.
// Blocks with its bytes follow. It proves nothing: the state has the digests that the entry names, and why that entry
// is true is no longer in the log.
type Base struct {
	_   struct{} `cbor:",toarray"`
	Tag string
	// The parent of the first generation in the log.
	Link        Link
	Height      uint64
	Term        uint64
	Evaluations uint64
	Steps       uint64
	Solved      uint64
	Duration    uint64

	At    uint64 // height of the entry after which the state is, at least MaxStale above Height
	Size  uint64 // of the bytes that follow in blocks
	Start uint64 // where in these the state begins, as [evolve.State] encodes it; what else they hold is the writer's
	Len   uint64 // of the state
}

const (
	baseTag = "evoswarm/base/1"
	// kindBase is the first byte of a base: array of twelve.
	kindBase = 0x8c
	// baseBlock is how many of its bytes a block holds; the last one holds the rest.
	baseBlock = 48 << 10
	// maxBaseMore bounds what the bytes hold besides the state.
	maxBaseMore = 4 << 20
)

// Bases reports whether who joins the run may begin at a base. Where nobody does, no log begins at one: it would
// be of no use to those who join.
func (r *Rules) Bases() bool { return r.Spec.SpotChecks != nil && !r.Trusting() }

// Parent is the parent of the first generation in the log.
func (b *Base) Parent() Parent {
	return Parent{Link: b.Link, Height: b.Height, Term: b.Term, Evaluations: b.Evaluations, Steps: b.Steps, Solved: b.Solved, Duration: b.Duration}
}

// AppendBase appends the blocks of a base with its bytes, of which it sets tag and size.
func AppendBase(to []byte, b *Base, data []byte) []byte {
	b.Tag, b.Size = baseTag, uint64(len(data))
	to, _ = AppendSection(to, Encode(b))
	for len(data) > 0 {
		n := min(len(data), baseBlock)
		to, _ = AppendSection(to, Encode(data[:n]))
		data = data[n:]
	}
	return to
}

// PeekBase reports whether the next section of a log is a base.
func PeekBase(r *bufio.Reader) bool {
	const most = 4 + linkLen + 1
	b, _ := r.Peek(most)
	for i, c := range b {
		if c < 0x80 { // the length ends here
			return len(b) > i+1+linkLen && b[i+1+linkLen] == kindBase
		}
	}
	return false
}

// ReadBase reads the base that is the next block of sections, and its bytes.
func (r *Rules) ReadBase(sections *Sections) (*Base, []byte, error) {
	block, _, err := sections.Next()
	if err != nil {
		return nil, nil, err
	}
	b := new(Base)
	if err := decode(block, MaxBlockBytes, b); err != nil {
		return nil, nil, fmt.Errorf("base: %w", err)
	}
	stale := r.Spec.Generation.MaxStale
	switch {
	case b.Tag != baseTag, !r.Bases(), r.Spec.Solo():
		return nil, nil, fmt.Errorf("base: %w: not in a log of this run", ErrMalformed)
	case b.Height == 0 || b.At < b.Height+stale || b.At-b.Height > MaxBaseDepth:
		return nil, nil, fmt.Errorf("base: %w: the state of height %d above %d", ErrMalformed, b.At, b.Height)
	case b.Len != uint64(r.Initial().EncodedLen()) || b.Start > maxBaseMore || b.Size < b.Start+b.Len || b.Size-b.Len > maxBaseMore:
		return nil, nil, fmt.Errorf("base: %w: a state of %d bytes in %d", ErrMalformed, b.Len, b.Size)
	}
	data := make([]byte, 0, min(b.Size, baseBlock))
	for uint64(len(data)) < b.Size {
		block, _, err := sections.Next()
		if err == io.EOF {
			err = fmt.Errorf("%w: %d of %d bytes of a base", ErrTorn, len(data), b.Size)
		}
		if err != nil {
			return nil, nil, err
		}
		var piece []byte
		if err := decode(block, MaxBlockBytes, &piece); err != nil {
			return nil, nil, fmt.Errorf("base: %w", err)
		}
		if want := min(b.Size-uint64(len(data)), baseBlock); uint64(len(piece)) != want {
			return nil, nil, fmt.Errorf("base: %w: a block of %d bytes, want %d", ErrMalformed, len(piece), want)
		}
		data = append(data, piece...)
	}
	return b, data, nil
}

// MaxBaseDepth bounds how far the state of a base lies above the first generation of its log.
const MaxBaseDepth = 1 << 10

// state reads the state among the bytes of a base.
func (b *Base) state(data []byte) (*evolve.State, error) {
	s := new(evolve.State)
	if err := s.UnmarshalBinary(data[b.Start : b.Start+b.Len]); err != nil {
		return nil, fmt.Errorf("base: %w", err)
	}
	return s, nil
}

// check compares the state of a base with the entry that it comes after.
func (b *Base) check(s *evolve.State, e *Entry) error {
	if theta, digest := s.ThetaDigest(), s.Digest(); !bytes.Equal(theta[:], e.Theta) || !bytes.Equal(digest[:], e.State) {
		return fmt.Errorf("%w: the state that the log begins with is not that after the entry of height %d", ErrDigest, b.At)
	}
	return nil
}
