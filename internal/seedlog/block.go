package seedlog

import (
	"bytes"
	"crypto/ed25519"
	"fmt"
)

// RawBlock is the bytes of a block together with its link. Only this package makes one, so the two always match, and
// nothing is hashed a second time. The zero RawBlock holds nothing.
type RawBlock struct {
	data []byte
	link Link
}

// NewRawBlock hashes data and takes it over.
func NewRawBlock(data []byte) RawBlock { return RawBlock{data, LinkOf(data)} }

// Bytes returns the block; read-only.
func (b RawBlock) Bytes() []byte { return b.data }

// Link returns the link that names the block.
func (b RawBlock) Link() Link { return b.link }

// Block is a block together with its value, so that nothing is encoded or decoded a second time either. The zero Block
// holds nothing.
type Block[T any] struct {
	RawBlock
	value *T
}

// Value returns what the block says; nil for the zero Block. Read-only.
func (b Block[T]) Value() *T { return b.value }

// open decodes a block.
func open[T any](raw RawBlock, decode func([]byte) (*T, error)) (Block[T], error) {
	value, err := decode(raw.data)
	if err != nil {
		return Block[T]{}, err
	}
	return Block[T]{raw, value}, nil
}

// blockOf makes the block of a value that was made here.
func blockOf[T any](value *T) Block[T] {
	return Block[T]{NewRawBlock(Encode(value)), value}
}

// CheckedClaim is a claim of the run that has the right form and was signed by its peer. Only a re-run tells
// whether its numbers are true.
type CheckedClaim struct{ Block[Claim] }

// CheckedEntry is an entry of the run with its seal, both of the right form and signed by the leader and all voters.
type CheckedEntry struct {
	Block[Entry]
	seal    Block[Seal]
	batches []RawBlock // that it names; nil: they are not here, or the run has none
}

// Batches returns the blocks of the batches that the entry names, if it came with them.
func (e CheckedEntry) Batches() []RawBlock { return e.batches }

// Joined reports whether all is known that the entry names: its batches are here, or it needs none.
func (e CheckedEntry) Joined() bool { return len(e.batches) == len(e.value.Batches) }

// Seal returns the entry's seal.
func (e CheckedEntry) Seal() Block[Seal] { return e.seal }

// CheckedProof is a proof about a given claim, signed by its accuser. Only a re-run tells whether it is right.
type CheckedProof struct{ Block[Proof] }

// CheckClaim reads a claim and verifies its shape, its ranges and its signature.
func (r *Rules) CheckClaim(data []byte) (CheckedClaim, error) {
	return r.checkedClaim(NewRawBlock(data))
}

func (r *Rules) checkedClaim(raw RawBlock) (CheckedClaim, error) {
	b, err := open(raw, DecodeClaim)
	if err == nil {
		err = r.checkClaim(b)
	}
	if err != nil {
		return CheckedClaim{}, err
	}
	return CheckedClaim{b}, nil
}

// CheckEntry reads an entry and its seal and verifies that they are of this run, belong together and are
// signed. [Rules.CheckPlace] says whether the entry fits its parent, [Rules.Advance] whether its digests are
// right.
func (r *Rules) CheckEntry(entry, seal []byte) (CheckedEntry, error) {
	return r.checkedEntry(NewRawBlock(entry), seal)
}

func (r *Rules) checkedEntry(entry RawBlock, seal []byte) (CheckedEntry, error) {
	e, err := open(entry, DecodeEntry)
	if err != nil {
		return CheckedEntry{}, err
	}
	s, err := open(NewRawBlock(seal), DecodeSeal)
	if err != nil {
		return CheckedEntry{}, err
	}
	if e.value.Run != r.Run {
		return CheckedEntry{}, fmt.Errorf("%w: entry of run %s", ErrRun, e.value.Run)
	}
	if err := checkSeal(e, s); err != nil {
		return CheckedEntry{}, err
	}
	if err := r.checkTrusted(e.value, s.value); err != nil {
		return CheckedEntry{}, err
	}
	if err := r.checkNames(e.value); err != nil {
		return CheckedEntry{}, err
	}
	if err := r.checkAttested(e.value); err != nil {
		return CheckedEntry{}, err
	}
	return CheckedEntry{e, s, nil}, nil
}

// CheckProof reads a proof about a claim and verifies its signature.
func (r *Rules) CheckProof(data []byte, claim CheckedClaim) (CheckedProof, error) {
	b, err := open(NewRawBlock(data), DecodeProof)
	if err == nil {
		err = b.value.check(r, claim.Block)
	}
	if err != nil {
		return CheckedProof{}, err
	}
	return CheckedProof{b}, nil
}

// KeptClaim reads a claim that this computer checked before it was stored: its link proves that it is the same.
func (r *Rules) KeptClaim(data []byte, link Link) (CheckedClaim, error) {
	b, err := kept(data, link, DecodeClaim)
	return CheckedClaim{b}, err
}

// KeptEntry reads an entry and its seal that this computer checked before they were stored.
func (r *Rules) KeptEntry(entry []byte, link Link, seal []byte, sealLink Link) (CheckedEntry, error) {
	e, err := kept(entry, link, DecodeEntry)
	if err != nil {
		return CheckedEntry{}, err
	}
	s, err := kept(seal, sealLink, DecodeSeal)
	if err != nil {
		return CheckedEntry{}, err
	}
	if e.value.Run != r.Run || s.value.Entry != link {
		return CheckedEntry{}, fmt.Errorf("%w: seal of %s on entry %s of run %s", ErrLink, s.value.Entry, link, e.value.Run)
	}
	if err := r.checkNames(e.value); err != nil {
		return CheckedEntry{}, err
	}
	return CheckedEntry{e, s, nil}, nil
}

func kept[T any](data []byte, link Link, decode func([]byte) (*T, error)) (Block[T], error) {
	b, err := open(NewRawBlock(data), decode)
	if err == nil && b.link != link {
		err = fmt.Errorf("%w: a block that hashes to %s under the name %s", ErrLink, b.link, link)
	}
	if err != nil {
		return Block[T]{}, err
	}
	return b, nil
}

// OwnClaim is a claim that key's owner just signed.
func (r *Rules) OwnClaim(c *Claim) CheckedClaim { return CheckedClaim{blockOf(c)} }

// OwnEntry seals an entry with the key of its leader.
func (r *Rules) OwnEntry(e *Entry, key ed25519.PrivateKey, votes []Vote) CheckedEntry {
	entry := blockOf(e)
	var batches []RawBlock
	if e.batch > 0 {
		cut := *e
		batches, cut.Batches = e.batchBlocks()
		cut.Count, cut.batch = uint64(len(e.Claims)), 0
		entry.value = &cut
	}
	return CheckedEntry{entry, blockOf(newSeal(entry.link, key, votes)), batches}
}

// OwnProof signs that counter of a claim gave other numbers.
func (r *Rules) OwnProof(claim CheckedClaim, counter uint64, fitness []int64, steps uint64, key ed25519.PrivateKey) CheckedProof {
	return CheckedProof{blockOf(NewProof(r.Run, claim.link, counter, fitness, steps, key))}
}

// signedPart returns the bytes that a claim's signature covers, out of its block: the signature, which comes
// last, empty.
func signedPart(block []byte) []byte {
	const empty, full = "\x40", "\x58\x40" // CBOR byte strings of 0 and of 64 bytes
	n := len(block) - len(full) - ed25519.SignatureSize
	if n < 0 || !bytes.HasPrefix(block[n:], []byte(full)) {
		return nil // another length of signature, which is wrong
	}
	return append(bytes.Clone(block[:n]), empty...)
}

// KeptClaims reads the claims that links name with [Rules.KeptClaim]; block looks up what was stored.
func (r *Rules) KeptClaims(links []Link, block func(Link) ([]byte, bool)) ([]CheckedClaim, error) {
	claims := make([]CheckedClaim, len(links))
	for i, link := range links {
		data, ok := block(link)
		if !ok {
			return nil, fmt.Errorf("%w: claim %s", ErrMissing, link)
		}
		var err error
		if claims[i], err = r.KeptClaim(data, link); err != nil {
			return nil, err
		}
	}
	return claims, nil
}
