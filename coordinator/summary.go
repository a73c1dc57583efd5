package coordinator

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/fxamacker/cbor/v2"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

const (
	// summaryDepth is how far below the head a mark lies when it is summed up: deep enough that it rarely changes, and
	// that a hub which restarts there can give the base that newcomers ask for.
	summaryDepth = 64
	// leafDepth is how far below the head a leaf's newest summary lies: nobody asks a leaf for a base, so it restarts
	// with fewer entries to fold. They are leafEvery entries apart, and up to leafRarely where state and credits are
	// larger: a leaf writes leafBytes an entry at most. Of what is larger still it sums up the marks alone.
	leafDepth, leafEvery, leafRarely = 16, 8, 32
	leafBytes                        = 2 << 10
)

// leafInterval is the distance in height of a leaf's summaries of so many bytes; 0: they are too large.
func leafInterval(bytes int64) uint64 {
	for every := uint64(leafEvery); every <= leafRarely; every *= 2 {
		if bytes <= leafBytes*int64(every) {
			return every
		}
	}
	return 0
}

const (
	summaryTag  = "evoswarm/summary/1"
	summaryHead = len(summaryTag) + 4
	creditLen   = 32 + 8 + 8
)

// Summary is what this peer knows at an entry of its chain, so that a restart reads only what lies above. Keeping it
// saves time and promises nothing: a lost or damaged one makes the next start begin at an older one.
type Summary struct {
	Height  uint64
	figures figures
	credits map[Peer]Credit
	state   *evolve.State
}

// figures are sums over a chain up to an entry.
type figures struct {
	_           struct{} `cbor:",toarray"`
	Entry       seedlog.Link
	Height      uint64
	Evaluations uint64
	Steps       uint64
	Weight      uint64
	Votes       uint64
	Credits     []byte // key, evaluations and env-steps of each peer, 48 bytes, in the order of keys
	BestHeight  uint64 // of seedlog.Best
	BestResults uint64
	BestScore   int64
}

// figuresFields and figuresFields1 are how many figures a summary has, and had at first.
const figuresFields, figuresFields1 = 10, 7

// best is the best state of the chain up to the entry.
func (f *figures) best() seedlog.Best {
	return seedlog.Best{Height: f.BestHeight, Results: f.BestResults, Score: f.BestScore}
}

// decodeFigures reads the figures of a summary of this version or an earlier one, which lacks the best state: none.
func decodeFigures(data []byte) (f figures, err error) {
	var fields []cbor.RawMessage
	if err = messageMode.Unmarshal(data, &fields); err != nil {
		return f, err
	}
	for len(fields) >= figuresFields1 && len(fields) < figuresFields {
		fields = append(fields, cbor.RawMessage{0})
	}
	return f, messageMode.Unmarshal(seedlog.Encode(fields), &f)
}

// Encode returns the bytes to keep: the tag, the length of the figures (4 bytes, little endian), the figures as CBOR,
// the state, and the SHA-256 of all before. It may take long for a large state: call it outside the loop.
func (s *Summary) Encode() ([]byte, error) {
	state, err := s.state.MarshalBinary()
	if err != nil {
		return nil, err
	}
	f := s.figures
	for _, p := range slices.SortedFunc(maps.Keys(s.credits), Peer.Compare) {
		c := s.credits[p]
		f.Credits = append(f.Credits, p[:]...)
		f.Credits = binary.LittleEndian.AppendUint64(f.Credits, c.Evaluations)
		f.Credits = binary.LittleEndian.AppendUint64(f.Credits, c.Steps)
	}
	body := seedlog.Encode(&f)
	data := make([]byte, 0, summaryHead+len(body)+len(state)+sha256.Size)
	data = append(data, summaryTag...)
	data = binary.LittleEndian.AppendUint32(data, uint32(len(body)))
	data = append(append(data, body...), state...)
	sum := sha256.Sum256(data)
	return append(data, sum[:]...), nil
}

var errSummary = errors.New("damaged summary")

// decodeSummary reads what Encode wrote.
func decodeSummary(data []byte) (*Summary, error) {
	end := len(data) - sha256.Size
	if end < summaryHead || !bytes.HasPrefix(data, []byte(summaryTag)) {
		return nil, errSummary
	}
	if sum := sha256.Sum256(data[:end]); !bytes.Equal(sum[:], data[end:]) {
		return nil, errSummary
	}
	n := int(binary.LittleEndian.Uint32(data[len(summaryTag):]))
	if n > end-summaryHead {
		return nil, errSummary
	}
	s := &Summary{credits: make(map[Peer]Credit), state: new(evolve.State)}
	var err error
	if s.figures, err = decodeFigures(data[summaryHead : summaryHead+n]); err != nil {
		return nil, fmt.Errorf("%w: %v", errSummary, err)
	}
	if err := s.state.UnmarshalBinary(data[summaryHead+n : end]); err != nil {
		return nil, fmt.Errorf("%w: %w", errSummary, err)
	}
	s.Height = s.figures.Height
	for b := s.figures.Credits; len(b) >= creditLen; b = b[creditLen:] {
		s.credits[Peer(b[:32])] = Credit{binary.LittleEndian.Uint64(b[32:]), binary.LittleEndian.Uint64(b[40:])}
	}
	s.figures.Credits = nil
	return s, nil
}

// summarize sums up the newest entry whose turn it is, once.
func (c *Coordinator) summarize() {
	if c.based != nil || c.chain.head != c.chain.reported {
		return
	}
	if n := c.chain.ripe(!c.cfg.Hub); n != nil && n.height > c.chain.summarized {
		c.chain.summarized = n.height
		c.out.Summary = c.chain.summary(n)
	}
}

// ripe returns the newest canonical entry that is deep enough to be summed up: a mark, or another one that a leaf
// sums up. Nil if there is none.
func (c *chain) ripe(leaf bool) (best *node) {
	consider := func(n *node, depth uint64) {
		if n.height+depth <= c.head.height && (best == nil || n.height > best.height) && c.canonAt(n.height) == n {
			best = n
		}
	}
	for _, n := range c.states.marks {
		consider(n, summaryDepth)
	}
	if every := leafInterval(c.states.bytes + int64(creditLen*len(c.credits))); leaf && every > 0 {
		for _, n := range c.states.recent {
			if n.height%every == 0 {
				consider(n, leafDepth)
			}
		}
	}
	return best
}

// summary sums up the chain up to a canonical entry whose state is in memory.
func (c *chain) summary(n *node) *Summary {
	best := n.marks.Best
	s := &Summary{Height: n.height, state: n.state, credits: maps.Clone(c.credits),
		figures: figures{Entry: n.link, Height: n.height, Evaluations: n.evaluations, Steps: n.steps, Weight: n.weight, Votes: n.votes,
			BestHeight: best.Height, BestResults: best.Results, BestScore: best.Score}}
	below := chain{credits: s.credits}
	for _, m := range c.above(n.height) {
		below.credit(m, false)
	}
	return s
}

// Summaries reads what Actions.Summary had kept. Its methods decode and hash whole states: the driver calls them
// outside the loop, before New and for a [Recall].
type Summaries struct {
	Rules   *seedlog.Rules
	Archive Archive
}

// Newest returns the newest good summary of the archive's chain whose height is at most the one given, or nil; and for
// a person, in words, what is wrong with newer ones.
func (r Summaries) Newest(most uint64) (s *Summary, notes []string) {
	for {
		height, data, ok := r.Archive.Summary(most)
		if !ok || height == 0 || height > most {
			return nil, notes
		}
		s, err := r.read(height, data)
		if err == nil {
			return s, notes
		}
		notes = append(notes, fmt.Sprintf("the summary of height %d is of no use, an older one takes more time: %v", height, err))
		most = height - 1
	}
}

// Beginning is a summary that a chain can be cut to begin with.
type Beginning struct {
	Height             uint64
	Data               []byte // as Encode made it
	Start, Len         int    // where in Data the state is, as evolve.State encodes it
	Evaluations, Steps uint64 // of the chain up to there
}

// Beginning returns the good summary of a height.
func (r Summaries) Beginning(height uint64) (*Beginning, error) {
	at, data, ok := r.Archive.Summary(height)
	if !ok || at != height {
		return nil, fmt.Errorf("there is no summary of height %d", height)
	}
	s, err := r.read(height, data)
	if err != nil {
		return nil, fmt.Errorf("the summary of height %d: %w", height, err)
	}
	start := summaryHead + int(binary.LittleEndian.Uint32(data[len(summaryTag):]))
	return &Beginning{height, data, start, len(data) - sha256.Size - start, s.figures.Evaluations, s.figures.Steps}, nil
}

// read decodes a summary and compares it with the chain: its state must be the one that the entry names.
func (r Summaries) read(height uint64, data []byte) (*Summary, error) {
	s, err := decodeSummary(data)
	if err != nil {
		return nil, err
	}
	link, sealLink, ok := r.Archive.At(height)
	if !ok || s.Height != height || s.figures.Entry != link {
		return nil, errors.New("it is of another branch")
	}
	entry, err := readEntry(r.Rules, r.Archive, link, sealLink)
	if err != nil {
		return nil, err
	}
	e := entry.Value()
	if theta, digest := s.state.ThetaDigest(), s.state.Digest(); e.Height != height || !bytes.Equal(theta[:], e.Theta) || !bytes.Equal(digest[:], e.State) {
		return nil, fmt.Errorf("%w: its state is not that of the entry", seedlog.ErrDigest)
	}
	return s, nil
}

// readEntry reads an entry and its seal from the archive.
func readEntry(rules *seedlog.Rules, archive Archive, link, sealLink seedlog.Link) (seedlog.CheckedEntry, error) {
	entry, ok1 := archive.Block(link)
	seal, ok2 := archive.Block(sealLink)
	if !ok1 || !ok2 {
		return seedlog.CheckedEntry{}, fmt.Errorf("entry %s or its seal %s is not in the archive", link, sealLink)
	}
	return rules.KeptEntry(entry, link, seal, sealLink)
}

// readNode makes the node of the canonical entry above parent, which the archive holds.
func (c *Coordinator) readNode(parent *node) (*node, error) {
	link, sealLink, ok := c.cfg.Archive.At(parent.height + 1)
	if !ok {
		return nil, errors.New("the archive's chain ends below it")
	}
	entry, err := readEntry(c.rules, c.cfg.Archive, link, sealLink)
	if err != nil {
		return nil, err
	}
	entry, claims, err := c.rules.KeptNamed(entry, c.cfg.Archive.Block)
	if err != nil {
		return nil, err
	}
	if err := c.checkKept(entry, parent, claims); err != nil {
		return nil, err
	}
	n := c.chain.newNode(parent, entry, claims)
	n.stage = trusted
	return n, nil
}

// checkKept checks that an entry of the archive belongs on parent. Of what lies lowest in memory the entries are gone
// that its claims may lie on; it was checked before it was kept.
func (c *Coordinator) checkKept(entry seedlog.CheckedEntry, parent *node, claims []seedlog.CheckedClaim) error {
	lowest := parent
	for range c.chain.maxStale {
		if lowest.parent != nil {
			lowest = lowest.parent
		}
	}
	if e := entry.Value(); lowest.height > 0 && lowest.height+c.chain.maxStale > parent.height {
		if e.Parent != parent.link || e.Height != parent.height+1 {
			return fmt.Errorf("%w: an entry of height %d on %s", seedlog.ErrLink, e.Height, e.Parent)
		}
		return nil
	}
	return c.rules.CheckPlace(entry, parent.parentInfo(), claims)
}

// rebuilt is a part of the canonical chain that is being read into memory: a root with its state, what is below it as
// parents, and what is above it.
type rebuilt struct {
	from  uint64  // height of the root
	nodes []*node // from the lowest parent on
	state *evolve.State
	best  seedlog.Best // of the root
}

// rebuild begins at a summary, or at the genesis if s is nil.
func (c *Coordinator) rebuild(s *Summary) (*rebuilt, error) {
	if s == nil {
		genesis := newGenesis(c.rules)
		return &rebuilt{nodes: []*node{genesis}, state: genesis.state}, nil
	}
	lowest := s.Height - min(s.Height, windowDepth)
	if lowest == 0 {
		genesis := newGenesis(c.rules)
		genesis.state = nil
		return &rebuilt{s.Height, []*node{genesis}, s.state, s.figures.best()}, nil
	}
	link, sealLink, ok := c.cfg.Archive.At(lowest)
	if !ok {
		return nil, fmt.Errorf("height %d is not in the archive", lowest)
	}
	entry, err := readEntry(c.rules, c.cfg.Archive, link, sealLink)
	if err != nil {
		return nil, err
	}
	e := entry.Value()
	n := &node{link: link, height: lowest, term: e.Term, leader: e.Leader, sealLink: sealLink, batches: e.Batches, claims: e.Claims, named: e.NamesClaims(), duration: e.Duration, stage: trusted, theta: [32]byte(e.Theta),
		digest: [32]byte(e.State), fresh: c.rules.Spec.Generation.MaxStale > 0}
	return &rebuilt{s.Height, []*node{n}, s.state, s.figures.best()}, nil
}

// top is the highest entry that was read.
func (b *rebuilt) top() *node { return b.nodes[len(b.nodes)-1] }

// read reads the next entry.
func (b *rebuilt) read(c *Coordinator) error {
	n, err := c.readNode(b.top())
	if err != nil {
		return fmt.Errorf("height %d: %w", b.top().height+1, err)
	}
	n.falseAt, n.fresh = n.parent.falseAt, n.parent.fresh
	// Where leaders re-run few claims it is not known down here who should have found one, and it is too deep to be
	// void.
	if c.rules.Spec.SpotChecks == nil && slices.ContainsFunc(n.claims, func(claim seedlog.Link) bool { return c.faults.falseClaims[claim] }) {
		n.fraud, n.falseAt = true, n.height
	}
	b.nodes = append(b.nodes, n)
	return nil
}

// root is the entry that has the state; nil if it was not read yet.
func (b *rebuilt) root() *node {
	if b.top().height < b.from {
		return nil
	}
	return b.nodes[b.from-b.nodes[0].height]
}

// settle gives the entries the sums of the whole chain, of which those at the entry n are known, and the root and those
// above it the best state.
func (b *rebuilt) settle(c *chain, n *node, evaluations, steps, weight, votes uint64) {
	e, s, w := evaluations-n.evaluations, steps-n.steps, weight-n.weight
	n.votes = votes
	for _, m := range b.nodes {
		m.evaluations += e
		m.steps += s
		m.weight += w
		m.forgotten = m.height < b.from
	}
	root := b.root()
	root.state, root.marks.Best = b.state, b.best
	for _, m := range b.nodes {
		if m.height > root.height {
			c.mark(m)
		}
	}
}

// beginAt makes the entry of a summary the root and the head.
func (c *Coordinator) beginAt(s *Summary) error {
	b, err := c.rebuild(s)
	if err != nil {
		return err
	}
	for b.root() == nil {
		if err := b.read(c); err != nil {
			return err
		}
	}
	root := b.root()
	b.settle(&c.chain, root, s.figures.Evaluations, s.figures.Steps, s.figures.Weight, s.figures.Votes)
	c.chain.root, c.chain.head, c.chain.canon = root, root, []*node{root}
	c.chain.nodes, c.chain.tips = map[seedlog.Link]*node{root.link: root}, []*node{root}
	c.chain.credits, c.chain.summarized = s.credits, s.Height
	for _, n := range b.nodes {
		if n.fraud {
			c.disqualify(n.leader, fmt.Sprintf("logged a false claim at height %d", n.height))
		}
	}
	return nil
}
