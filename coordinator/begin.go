package coordinator

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// The chain of a newcomer begins at a base. The archive's chain still is the one from the genesis on, which the past
// (past.go) folds meanwhile. What is above the base is kept as blocks, with a list of places: a block for each entry,
// which names the one below. The hard state names the newest, so a restart loses nothing.

// stateBlock is how many bytes of the state of a base a block holds.
const stateBlock = 48 << 10

// baseRecord is what is kept of a base.
type baseRecord struct {
	_           struct{} `cbor:",toarray"`
	Entry       seedlog.Link
	Seal        seedlog.Link
	Evaluations uint64 // of the chain up to the entry, as the hubs say
	Steps       uint64
	Weight      uint64
	From        []Peer // these hubs
	State       []seedlog.Link
}

// place is what is kept of an entry from the base on.
type place struct {
	_     struct{} `cbor:",toarray"`
	Entry seedlog.Link
	Seal  seedlog.Link
	Below []seedlog.Link // the place of the entry below; none: it is the base
}

// based is a chain that begins at a base.
type based struct {
	baseRecord
	height  uint64 // of the base
	record  seedlog.Link
	archive *baseArchive
	past    *Coordinator // nil: it was verified, and is on its way into the archive
	kept    uint64       // up to where it is there
	firm    uint64       // weight of the entry that is votingEntries above the base; 0: there is none yet
	since   Tick
	rest    Tick // until when it folds nothing
	traced  traced
	alone   Tick // since when nobody gives what the past lacks; 0: somebody may
	lost    bool // whether that is so for long
}

// baseArchive is the archive of a chain that begins at a base. Below that it has what the past has folded.
type baseArchive struct {
	Archive
	height  uint64 // of the base
	places  []place
	links   []seedlog.Link // of the places
	heights map[seedlog.Link]uint64
}

// At implements Archive.
func (a *baseArchive) At(height uint64) (entry, seal seedlog.Link, ok bool) {
	switch {
	case height < a.height:
		return a.Archive.At(height)
	case height-a.height >= uint64(len(a.places)):
		return entry, seal, false
	}
	p := a.places[height-a.height]
	return p.Entry, p.Seal, true
}

// Height implements Archive.
func (a *baseArchive) Height(entry seedlog.Link) (uint64, bool) {
	if height, ok := a.heights[entry]; ok {
		return height, true
	}
	height, ok := a.Archive.Height(entry)
	return height, ok && height < a.height
}

// Summary implements Archive: there is none of such a chain.
func (a *baseArchive) Summary(uint64) (height uint64, data []byte, ok bool) { return 0, nil, false }

// top is the height of the newest entry.
func (a *baseArchive) top() uint64 { return a.height + uint64(len(a.places)) - 1 }

// cut forgets the places above a height.
func (a *baseArchive) cut(height uint64) {
	n := int(height - a.height + 1)
	for _, p := range a.places[n:] {
		delete(a.heights, p.Entry)
	}
	a.places, a.links = a.places[:n], a.links[:n]
}

// add appends a place, and returns its block.
func (a *baseArchive) add(entry, seal seedlog.Link) seedlog.RawBlock {
	p := place{Entry: entry, Seal: seal, Below: []seedlog.Link{}}
	if n := len(a.links); n > 0 {
		p.Below = append(p.Below, a.links[n-1])
	}
	block := seedlog.NewRawBlock(seedlog.Encode(&p))
	a.put(p, block.Link())
	return block
}

func (a *baseArchive) put(p place, link seedlog.Link) {
	a.heights[p.Entry] = a.height + uint64(len(a.places))
	a.places, a.links = append(a.places, p), append(a.links, link)
}

// begin makes a base the head, whose state was read to these blocks. What this peer had becomes the past.
func (c *Coordinator) begin(r *baseRecord, entry seedlog.CheckedEntry, state *evolve.State, blocks []seedlog.RawBlock) {
	for _, b := range blocks {
		r.State = append(r.State, b.Link())
	}
	record := seedlog.NewRawBlock(seedlog.Encode(r))
	c.out.Blocks = append(append(c.out.Blocks, blocks...), record, entry.RawBlock, entry.Seal().RawBlock)
	c.split(r, record.Link(), entry, state)
	c.out.Blocks = append(c.out.Blocks, c.based.archive.add(r.Entry, r.Seal))
	c.nameBase()
	for _, p := range r.From {
		c.members.pulls[p] = &pull{proven: c.now, delivered: c.now}
	}
	c.land()
	c.cancelStale()
	c.measure()
	c.out.note(NoteSync, c.self, fmt.Sprintf("begins at height %d, with the state that %d hubs gave; the %d entries below are folded meanwhile", c.based.height, len(r.From), c.based.height-c.based.past.chain.head.height))
}

// split makes what this peer has of the run the past, and a base the root and the head of a new chain.
func (c *Coordinator) split(r *baseRecord, record seedlog.Link, entry seedlog.CheckedEntry, state *evolve.State) {
	e := entry.Value()
	past := c.newPast()
	archive := &baseArchive{Archive: c.cfg.Archive, height: e.Height, heights: make(map[seedlog.Link]uint64)}
	c.based = &based{baseRecord: *r, height: e.Height, record: record, archive: archive, past: past, since: c.now}
	c.cfg.Archive = archive
	c.chain = newChain(c.rules, archive, c.faults.peers)
	c.members.rich.head = nil // of another chain
	root := &node{
		link: entry.Link(), height: e.Height, term: e.Term, leader: e.Leader, sealLink: entry.Seal().Link(), batches: e.Batches, claims: e.Claims, named: e.NamesClaims(),
		evaluations: r.Evaluations, steps: r.Steps, weight: min(r.Weight, r.Steps), solved: e.Solved, duration: e.Duration, stage: trusted,
		fresh: c.rules.Spec.Generation.MaxStale > 0,
		best:  evolve.InvalidFitness, mean: evolve.InvalidFitness, theta: [32]byte(e.Theta), digest: [32]byte(e.State), state: state,
	}
	k := &c.chain
	k.self, k.root, k.head, k.reported, k.canon = c.self, root, root, root, []*node{root}
	k.nodes, k.tips = map[seedlog.Link]*node{root.link: root}, []*node{root}
	c.settled, c.folds = root, folds{goal: root, size: 1}
	c.recall, c.coming = recall{}, nil
	c.checkpoints = checkpoints{vouches: make(map[Peer]Vouch)}
	c.election.electorate = electorate{}
	c.tenure = tenure{mandateFrom: root.height}
	c.lastEntry = c.now
}

// nameBase has the hard state name the newest place.
func (c *Coordinator) nameBase() {
	b := c.based
	c.hard.Base = []seedlog.Link{b.record, b.archive.links[len(b.archive.links)-1]}
	c.hardChanged = true
}

// keepPlaces keeps the places of entries that became canonical.
func (c *Coordinator) keepPlaces(m *HeadMove) {
	b := c.based
	b.archive.cut(m.Fork)
	b.kept = min(b.kept, m.Fork)
	for i, entry := range m.Entries {
		c.out.Blocks = append(c.out.Blocks, b.archive.add(entry, m.Seals[i]))
	}
	c.nameBase()
	if n := c.chain.canonAt(b.height + votingEntries); n != nil {
		b.firm = n.weight
	}
}

// young reports whether the chain begins at a base so close below the head that votes cannot be weighed yet.
func (c *Coordinator) young() bool {
	return c.based != nil && c.chain.head.height < c.based.height+votingEntries
}

// errBase says that what was kept of a base is not whole.
var errBase = errors.New("what was kept of the entry that the chain begins at is not whole")

// KeptBase is what was kept of a base, and the places above it.
type KeptBase struct {
	record *baseRecord
	link   seedlog.Link // of the record
	entry  seedlog.CheckedEntry
	state  *evolve.State
	places []place // newest first
	links  []seedlog.Link
}

// Base reads the base that a hard state names, and its state; nil: it names none. The driver calls it before New.
func (r Summaries) Base(hard []byte) (*KeptBase, error) {
	if len(hard) == 0 {
		return nil, nil
	}
	h, err := decodeHard(hard)
	if err != nil || len(h.Base) == 0 {
		return nil, err
	}
	k, err := r.readBase(h.Base)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRestore, err)
	}
	return k, nil
}

func (r Summaries) readBase(links []seedlog.Link) (*KeptBase, error) {
	k := &KeptBase{record: new(baseRecord), link: links[0]}
	if data, ok := r.Archive.Block(links[0]); !ok || messageMode.Unmarshal(data, k.record) != nil {
		return nil, errBase
	}
	var err error
	if k.entry, err = readEntry(r.Rules, r.Archive, k.record.Entry, k.record.Seal); err != nil {
		return nil, err
	}
	var data []byte
	for _, link := range k.record.State {
		part, ok := r.Archive.Block(link)
		if !ok {
			return nil, errBase
		}
		data = append(data, part...)
	}
	read := (&Unpack{k.entry.Value().Height, data, k.entry, false}).Do(r.Rules)
	if read.Err != nil {
		return nil, read.Err
	}
	k.state = read.State
	for at := links[1:]; len(at) == 1; at = k.places[len(k.places)-1].Below {
		var p place
		if data, ok := r.Archive.Block(at[0]); !ok || messageMode.Unmarshal(data, &p) != nil {
			return nil, errBase
		}
		k.places, k.links = append(k.places, p), append(k.links, at[0])
	}
	if n := len(k.places); n == 0 || k.places[n-1].Entry != k.record.Entry {
		return nil, errBase
	}
	return k, nil
}

// restoreBase begins at the base that was kept.
func (c *Coordinator) restoreBase(k *KeptBase) error {
	c.split(k.record, k.link, k.entry, k.state)
	for i, p := range slices.Backward(k.places) {
		c.based.archive.put(p, k.links[i])
	}
	for c.chain.head.height < c.based.archive.top() {
		if err := c.restoreEntry(); err != nil {
			return fmt.Errorf("%w: height %d: %w", ErrRestore, c.chain.head.height+1, err)
		}
		if c.chain.head.height == c.based.height+votingEntries {
			c.based.firm = c.chain.head.weight
		}
	}
	c.chain.reported = c.chain.head
	c.settled, c.folds.goal = c.chain.head, c.chain.head
	c.tenure.mandateFrom = c.chain.head.height
	return nil
}

// checkPlace checks that an entry belongs on parent. Right above a base its claims may lie on entries below that, which
// are not here: there it is for the past to check them.
func (c *Coordinator) checkPlace(entry seedlog.CheckedEntry, parent *node, claims []seedlog.CheckedClaim) error {
	if b := c.based; b == nil || parent.height >= b.height+c.chain.maxStale {
		return c.rules.CheckPlace(entry, parent.parentInfo(), claims)
	}
	e := entry.Value()
	if e.Parent != parent.link || e.Height != parent.height+1 || e.Term < parent.term || e.Term-parent.term > seedlog.MaxTermStep || len(claims) != len(e.Claims) {
		return fmt.Errorf("%w: an entry of height %d and term %d on %s", seedlog.ErrLink, e.Height, e.Term, e.Parent)
	}
	for i, claim := range claims {
		if !bytes.Equal(claim.Link().Bytes(), e.Claims[i].Bytes()) {
			return fmt.Errorf("%w: claim %s in place of %s", seedlog.ErrLink, claim.Link(), e.Claims[i])
		}
	}
	return nil
}

// fillArchive gives the archive the next entries of a chain that was verified, a few in each step, and ends what began
// at the base once it has all.
func (c *Coordinator) fillArchive() {
	b := c.based
	if b == nil || b.past != nil || c.out.Head != nil {
		return
	}
	top := b.archive.top()
	if b.kept == top {
		c.cfg.Archive, c.chain.archive, c.based = b.archive.Archive, b.archive.Archive, nil
		c.hard.Base, c.hardChanged = nil, true
		return
	}
	m := &HeadMove{Fork: b.kept, Past: true}
	for b.kept < min(m.Fork+recallStep, top) {
		b.kept++
		entry, seal, _ := b.archive.At(b.kept)
		m.Entries, m.Seals = append(m.Entries, entry), append(m.Seals, seal)
	}
	c.out.Head = m
}
