package seedlog

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/evoswarm/evoswarm/internal/cores"
	"github.com/evoswarm/evoswarm/internal/evolve"
)

// Record is one generation: the entry with everything that belongs to it, as in a file. The claims are in the
// entry's order.
type Record struct {
	Entry    *Entry // with what its batches name
	Seal     *Seal
	Batches  []*Batch // none where the run has none
	Claims   []*Claim
	Link     Link  // of Entry
	SealLink Link  // of Seal
	Offset   int64 // where it begins in the file
	End      int64 // where the next one begins

	entry   Block[Entry]
	seal    Block[Seal]
	batches []RawBlock
	claims  []Block[Claim]
	base    *Base         // that the log begins at, with the first generation; else nil
	state   *evolve.State // of the base
}

// AppendGeneration appends one generation to b: the batches and the claims in the order of the entry, the entry, the
// seal. An entry that was read has no batches to append: see [AppendRecord].
func AppendGeneration(b []byte, entry *Entry, seal *Seal, claims []*Claim) []byte {
	for _, batch := range entry.Blocks() {
		b = AppendLinked(b, batch.link, batch.data)
	}
	for _, c := range claims {
		b, _ = AppendSection(b, Encode(c))
	}
	b, _ = AppendSection(b, Encode(entry))
	b, _ = AppendSection(b, Encode(seal))
	return b
}

// AppendRecord appends a generation that was read from a log.
func AppendRecord(b []byte, g *Record) []byte {
	for _, batch := range g.Batches {
		b, _ = AppendSection(b, Encode(batch))
	}
	return AppendGeneration(b, g.Entry, g.Seal, g.Claims)
}

// Writer writes a seed log. Each call writes once and checks nothing. Not safe for concurrent use.
type Writer struct{ w io.Writer }

// NewWriter returns a Writer to w.
func NewWriter(w io.Writer) *Writer { return &Writer{w} }

// WriteBeginning begins the log and returns the number of bytes written.
func (w *Writer) WriteBeginning(rules *Rules) (int, error) {
	return w.w.Write(rules.AppendBeginning(nil))
}

// AppendEntry writes one generation and returns the number of bytes written. The claims are in the entry's order.
func (w *Writer) AppendEntry(entry *Entry, seal *Seal, claims []*Claim) (int, error) {
	return w.w.Write(AppendGeneration(nil, entry, seal, claims))
}

// Scanner reads a seed log front to back and checks every block against the rules of the run: form, links,
// order, counts and signatures. It does not fold: see [Replay]. It never seeks. Not safe for concurrent use.
type Scanner struct {
	in       *bufio.Reader
	sections *Sections
	rules    *Rules
	parent   Parent
	window   *Window
	solo     bool
	offset   int64 // of the section being read
	err      error // what ended it
	begun    bool
	base     *Base // nil: the log begins at the genesis
}

// NewScanner reads the header and the genesis block of a log. Errors other than those of r are a [*FileError]; it wraps
// ErrNotSeedlog, ErrTorn, ErrVersion, ErrSpec, ErrSignature (a solo run signed by another key) or any error of a block.
func NewScanner(r io.Reader) (*Scanner, error) {
	s := &Scanner{in: bufio.NewReaderSize(r, 1<<16)}
	if err := s.start(); err != nil {
		return nil, s.fail(err)
	}
	return s, nil
}

func (s *Scanner) start() error {
	sections, root, err := NewSections(s.in)
	if err != nil {
		return err
	}
	s.sections, s.offset = sections, sections.Offset()
	data, link, err := sections.Next()
	if err == io.EOF {
		err = fmt.Errorf("%w: no genesis block", ErrTorn)
	}
	if err != nil {
		return err
	}
	if link != root {
		s.offset = 0 // the block is whole: what is wrong is the header
		return fmt.Errorf("%w: the header names %s, the first block is %s", ErrLink, root, link)
	}
	spec, err := DecodeSpec(data)
	if err != nil {
		return err
	}
	if s.rules, err = beginning(spec, sections); err != nil {
		return err
	}
	if s.solo = spec.Solo(); s.solo && PeerOf(SoloKey(spec)) != s.rules.Origin {
		return fmt.Errorf("%w: a solo run whose origin is not the key derived from its spec", ErrSignature)
	}
	s.parent, s.window = Parent{Link: s.rules.Run}, s.rules.NewWindow()
	return nil
}

// Rules returns the rules of the run that the log holds.
func (s *Scanner) Rules() *Rules { return s.rules }

// Parent returns the newest entry that Next returned, or the genesis: the parent of the next entry.
func (s *Scanner) Parent() Parent { return s.parent }

// Base is what the log begins at, once Next was called; nil: the genesis. Of the first MaxStale generations of
// such a log is not checked what the claims lie on.
func (s *Scanner) Base() *Base { return s.base }

// Offset is where the next generation begins.
func (s *Scanner) Offset() int64 { return s.sections.Offset() }

// Next returns the next generation, or io.EOF where the log ends after a whole one. Other errors, except
// those of the reader, are a [*FileError] that wraps the error of the block; all errors are final.
func (s *Scanner) Next() (*Record, error) {
	if s.err != nil {
		return nil, s.err
	}
	state, err := s.begin()
	var g *Record
	if err == nil {
		g, err = s.next()
	}
	if err == nil {
		err = s.check(g)
	}
	if err != nil {
		s.err = s.fail(err)
		return nil, s.err
	}
	s.parent = s.rules.After(s.parent, g.Link, g.Entry, g.Claims)
	if s.base != nil {
		s.parent.Marks.drop(s.base.At)
	}
	s.window.Add(g.Link, g.Entry.Height, g.Claims)
	if state != nil {
		g.base, g.state = s.base, state
	}
	return g, nil
}

// begin reads the base in front of the first generation, if there is one, and returns its state.
func (s *Scanner) begin() (*evolve.State, error) {
	if s.begun {
		return nil, nil
	}
	s.begun = true
	if !PeekBase(s.in) {
		return nil, nil
	}
	s.offset = s.sections.Offset()
	base, data, err := s.rules.ReadBase(s.sections)
	if err != nil {
		return nil, err
	}
	state, err := base.state(data)
	if err != nil {
		return nil, err
	}
	s.base, s.parent = base, base.Parent()
	s.window = s.rules.windowAbove(base)
	return state, nil
}

// fail adds the position to an error of the file, but not to one of the reader.
func (s *Scanner) fail(err error) error {
	if err == io.EOF {
		return err
	}
	height := uint64(0)
	if s.rules != nil {
		height = s.parent.Height + 1
	}
	return &FileError{Height: height, Offset: s.offset, Err: err}
}

// The first byte of a block tells its kind.
const (
	kindBatch = 0x82 // array of two
	kindClaim = 0x86 // array of six
	kindEntry = 0xaa // map of ten, and of up to
	kindLast  = 0xad // thirteen: all fields that it may have
	kindSeal  = 0x83 // array of three
)

// next reads the blocks of one generation.
func (s *Scanner) next() (*Record, error) {
	g := &Record{Offset: s.sections.Offset()}
	evaluations := uint64(0)
	for g.Entry == nil {
		data, link, err := s.block(g, len(g.claims)+len(g.batches) == 0)
		if err != nil {
			return nil, err
		}
		switch kind := data[0]; {
		case kind == kindClaim:
			c, err := open(RawBlock{data, link}, DecodeClaim)
			if err != nil {
				return nil, err
			}
			if most := s.rules.MostClaims(); uint64(len(g.claims)) == most {
				return nil, fmt.Errorf("%w: a generation of more than %d claims", ErrTooLarge, most)
			}
			if evaluations += c.value.Evaluations(); evaluations > MaxEvaluations {
				return nil, fmt.Errorf("%w: a generation of more than %d evaluations", ErrCount, MaxEvaluations)
			}
			g.Claims, g.claims = append(g.Claims, c.value), append(g.claims, c)
		case kind == kindBatch:
			if len(g.batches) == MaxBatches {
				return nil, fmt.Errorf("%w: a generation of more than %d batches", ErrTooLarge, MaxBatches)
			}
			if len(g.claims) > 0 {
				return nil, fmt.Errorf("%w: a batch after a claim", ErrOrder)
			}
			g.batches = append(g.batches, RawBlock{data, link})
		case kindEntry <= kind && kind <= kindLast:
			if g.entry, err = open(RawBlock{data, link}, DecodeEntry); err != nil {
				return nil, err
			}
			if err := s.join(g); err != nil {
				return nil, err
			}
			g.Entry, g.Link = g.entry.value, link
		case kind == kindSeal:
			return nil, fmt.Errorf("%w: a seal without its entry", ErrMissing)
		default:
			return nil, fmt.Errorf("%w: neither a batch, a claim nor an entry", ErrMalformed)
		}
	}
	if err := s.place(g.Entry, g.claims); err != nil {
		return nil, err
	}
	data, link, err := s.block(g, false)
	if err != nil {
		return nil, err
	}
	if data[0] != kindSeal {
		return nil, fmt.Errorf("%w: an entry without its seal", ErrMissing)
	}
	g.SealLink, g.End = link, s.sections.Offset()
	if g.seal, err = open(RawBlock{data, link}, DecodeSeal); err != nil {
		return nil, err
	}
	g.Seal = g.seal.value
	return g, nil
}

// join fills in what the batches of an entry name, which come before it.
func (s *Scanner) join(g *Record) error {
	e := g.entry.value
	if err := s.rules.checkNames(e); err != nil {
		return err
	}
	if len(g.batches) > len(e.Batches) {
		return fmt.Errorf("%w: %d batches before an entry that names %d", ErrCount, len(g.batches), len(e.Batches))
	}
	batches, err := s.rules.openBatches(e, g.batches)
	if err != nil || len(batches) == 0 {
		return err
	}
	for _, b := range batches {
		g.Batches = append(g.Batches, b.value)
	}
	e.take(batches)
	return nil
}

// block reads one block; only the first of a generation may be the file's end.
func (s *Scanner) block(g *Record, first bool) ([]byte, Link, error) {
	s.offset = s.sections.Offset()
	data, link, err := s.sections.Next()
	if err == io.EOF && !(first && g.Entry == nil) {
		err = ErrTorn
	}
	return data, link, err
}

// place checks that an entry is the one that belongs here and that its claims are those before it.
func (s *Scanner) place(e *Entry, claims []Block[Claim]) error {
	if e.Run != s.rules.Run {
		return fmt.Errorf("%w: entry of run %s", ErrRun, e.Run)
	}
	if e.Height != s.parent.Height+1 {
		return fmt.Errorf("%w: entry of height %d where %d belongs", ErrOrder, e.Height, s.parent.Height+1)
	}
	if slices.EqualFunc(e.Claims, claims, func(link Link, c Block[Claim]) bool { return link == c.link }) {
		return nil
	}
	for _, link := range e.Claims {
		if !slices.ContainsFunc(claims, func(c Block[Claim]) bool { return c.link == link }) {
			return fmt.Errorf("%w: claim %s", ErrMissing, link)
		}
	}
	return fmt.Errorf("%w: the claims before the entry are not those that it names, in its order", ErrOrder)
}

// check verifies a generation: counts, order and all signatures.
func (s *Scanner) check(g *Record) error {
	parent := s.parent
	parent.Below = s.window
	place := s.rules.checkPlace
	if s.base != nil && g.Entry.Height <= s.base.Height+s.rules.Spec.Generation.MaxStale {
		place = s.rules.checkPlaceAbove // claims may lie on what is not in the log
	}
	if err := place(g.Entry, parent, g.claims); err != nil {
		return err
	}
	if err := checkSeal(g.entry, g.seal); err != nil {
		return err
	}
	if err := s.rules.checkTrusted(g.Entry, g.Seal); err != nil {
		return err
	}
	if err := s.rules.checkAttested(g.Entry); err != nil {
		return err
	}
	errs := make([]error, len(g.claims))
	cores.Each(len(errs), func(i int) { errs[i] = s.rules.checkClaim(g.claims[i]) })
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	if s.solo {
		return s.rules.checkSolo(g.Entry, g.Seal, g.Claims)
	}
	return nil
}

// checkSolo checks that an entry is one that a run on one machine writes: one key, one term, no votes.
func (r *Rules) checkSolo(e *Entry, seal *Seal, claims []*Claim) error {
	if e.Leader != r.Origin {
		return fmt.Errorf("%w: entry of %s in the solo run of %s", ErrSignature, e.Leader.Short(), r.Origin.Short())
	}
	if e.Term != 1 || len(seal.Votes) != 0 {
		return fmt.Errorf("%w: term %d with %d votes in a solo run", ErrOrder, e.Term, len(seal.Votes))
	}
	for _, c := range claims {
		if c.Peer != r.Origin {
			return fmt.Errorf("%w: claim of %s in the solo run of %s", ErrSignature, c.Peer.Short(), r.Origin.Short())
		}
	}
	return nil
}

// Torn reports whether err says that a log ends within a generation, such as one still being written.
func Torn(err error) bool { return errors.Is(err, ErrTorn) }
