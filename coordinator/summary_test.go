package coordinator

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// counting is an archive that counts the blocks that are read.
type counting struct {
	*memory
	reads int
}

func (c *counting) Block(link seedlog.Link) ([]byte, bool) {
	c.reads++
	return c.memory.Block(link)
}

// again makes a coordinator of what a disk holds, folds what there is to fold, and counts blocks read by New.
func (l *lone) again(t testing.TB, disk *memory) (c *Coordinator, notes []string, reads int) {
	t.Helper()
	archive := &counting{memory: disk}
	cfg := l.cfg
	cfg.Archive, cfg.State, cfg.Height = archive, disk.state, uint64(len(disk.chain))
	cfg.Summary, notes = Summaries{cfg.Rules, archive}.Newest(cfg.Height)
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	reads = archive.reads
	for a := c.Step(1, Passed{}); ; {
		if a.Fold == nil {
			return c, notes, reads
		}
		a = c.Step(1, foldNow(l.cfg.Rules, disk, a.Fold))
	}
}

// TestRestartReadsOnlyWhatIsAboveTheSummary: however long the chain is, and what the peer then knows is the same.
func TestRestartReadsOnlyWhatIsAboveTheSummary(t *testing.T) {
	l := newLone(t)
	for _, height := range []uint64{firstInterval + summaryDepth, 3*firstInterval + summaryDepth - 1, 5*firstInterval + 17} {
		l.grow(height)
		c, notes, reads := l.again(t, l.disk)
		// An entry has two claims and a seal; of the summary's own entry claims are read with the window.
		if limit := 4*(firstInterval+summaryDepth+windowDepth) + 8; reads > limit {
			t.Errorf("height %d: %d blocks were read, want at most %d", height, reads, limit)
		}
		if len(notes) > 0 {
			t.Errorf("height %d: notes %v", height, notes)
		}
		sameChain(t, c, l.coord)
	}
}

// TestLeafRestartsNearItsHead: nobody asks a leaf for a base, so it folds a part of what a hub does at a restart, as
// long as its summaries are small.
func TestLeafRestartsNearItsHead(t *testing.T) {
	l := newLone(t)
	l.cfg.Hub = false
	l.start(t)
	for _, height := range []uint64{leafEvery + leafDepth, 3*leafEvery + leafDepth - 1, firstInterval + 5*leafEvery + 7} {
		l.grow(height)
		c, notes, _ := l.again(t, l.disk)
		if root, head := c.chain.root.height, c.chain.head.height; root+leafEvery+leafDepth <= head || root+leafDepth > head {
			t.Errorf("height %d: begins at %d", head, root)
		}
		if len(notes) > 0 {
			t.Errorf("height %d: notes %v", height, notes)
		}
		sameChain(t, c, l.coord)
	}
	l.coord.chain.states.bytes = leafBytes*leafRarely + 1
	l.grow(2*firstInterval + summaryDepth + leafEvery)
	if newest := slices.Max(slices.Collect(maps.Keys(l.disk.summaries))); newest != 2*firstInterval {
		t.Errorf("with a large state the newest summary is of height %d, want %d", newest, 2*firstInterval)
	}
}

// TestLeafWritesLittle: however large its summaries are, a leaf writes no more than leafBytes of them an entry.
func TestLeafWritesLittle(t *testing.T) {
	for _, c := range []struct {
		bytes int64
		every uint64
	}{{0, 8}, {16 << 10, 8}, {16<<10 + 1, 16}, {32<<10 + 1, 32}, {64 << 10, 32}, {64<<10 + 1, 0}} {
		if every := leafInterval(c.bytes); every != c.every {
			t.Errorf("summaries of %d bytes are %d entries apart, want %d", c.bytes, every, c.every)
		}
	}
}

// sameChain fails unless two coordinators know the same of their chain where both have it in memory.
func sameChain(t testing.TB, got, want *Coordinator) {
	t.Helper()
	g, w := got.Snapshot(), want.Snapshot()
	if g.Head != w.Head || g.Evaluations != w.Evaluations || g.Steps != w.Steps || g.Weight != w.Weight || g.Best != w.Best || g.Mean != w.Mean || g.Mine != w.Mine || g.Credits != w.Credits {
		t.Fatalf("got  %+v\nwant %+v", g, w)
	}
	if g.State.Digest() != w.State.Digest() || g.StateHeight != w.StateHeight {
		t.Fatalf("state of height %d, want that of %d", g.StateHeight, w.StateHeight)
	}
	if !maps.Equal(got.chain.credits, want.chain.credits) {
		t.Errorf("credits %v, want %v", got.chain.credits, want.chain.credits)
	}
	for height := max(got.chain.root.height, want.chain.root.height); height <= g.Height; height++ {
		a, b := got.chain.canonAt(height), want.chain.canonAt(height)
		if a.link != b.link || a.weight != b.weight || a.evaluations != b.evaluations || a.steps != b.steps || a.votes != b.votes || a.falseAt != b.falseAt {
			t.Fatalf("height %d: %+v, want %+v", height, a, b)
		}
		if !maps.Equal(recentWeights(a), recentWeights(b)) {
			t.Fatalf("height %d: other voting weights", height)
		}
	}
}

// TestDamagedSummariesFallBack: whatever is wrong with the newest summaries, a peer starts with an older one, or with
// the genesis, and says so.
func TestDamagedSummariesFallBack(t *testing.T) {
	l := newLone(t)
	l.grow(4*firstInterval + summaryDepth)
	heights := slices.Sorted(maps.Keys(l.disk.summaries))
	if len(heights) < 4 {
		t.Fatalf("summaries at %v", heights)
	}
	newest := l.disk.summaries[heights[len(heights)-1]]
	for name, spoil := range map[string]func([]byte) []byte{
		"empty":           func([]byte) []byte { return nil },
		"cut":             func(b []byte) []byte { return b[:len(b)/2] },
		"a bit flipped":   func(b []byte) []byte { b[len(b)/2] ^= 1; return b },
		"that of another": func([]byte) []byte { return l.disk.summaries[heights[0]] },
	} {
		disk := *l.disk
		disk.summaries = maps.Clone(disk.summaries)
		disk.summaries[heights[len(heights)-1]] = spoil(slices.Clone(newest))
		c, notes, _ := l.again(t, &disk)
		sameChain(t, c, l.coord)
		if len(notes) != 1 || !strings.Contains(notes[0], "summary") {
			t.Errorf("%s: notes %v", name, notes)
		}
	}
	disk := *l.disk
	disk.summaries = map[uint64][]byte{}
	for _, h := range heights {
		disk.summaries[h] = []byte("damaged")
	}
	c, notes, _ := l.again(t, &disk)
	if len(notes) != len(heights) {
		t.Errorf("%d notes of %d damaged summaries", len(notes), len(heights))
	}
	sameChain(t, c, l.coord)
}

// TestSummaryOfAnotherState: a summary that is whole but holds a state other than the sealed one is not believed.
func TestSummaryOfAnotherState(t *testing.T) {
	l := newLone(t)
	l.grow(2*firstInterval + summaryDepth)
	s, err := decodeSummary(l.disk.summaries[2*firstInterval])
	if err != nil {
		t.Fatal(err)
	}
	s.state.Theta[0]++
	disk := *l.disk
	disk.summaries = maps.Clone(disk.summaries)
	if disk.summaries[2*firstInterval], err = s.Encode(); err != nil {
		t.Fatal(err)
	}
	c, notes, _ := l.again(t, &disk)
	if len(notes) != 1 {
		t.Errorf("notes %v", notes)
	}
	sameChain(t, c, l.coord)
}

// TestRestartMarksFalseClaimsBelowTheSummary: a false claim in the window below the root still counts.
func TestRestartMarksFalseClaimsBelowTheSummary(t *testing.T) {
	l := newLone(t)
	l.grow(firstInterval + summaryDepth)
	height := uint64(firstInterval - 3)
	link := l.coord.chain.canonAt(height).claims[0]
	claim, err := l.cfg.Rules.KeptClaim(l.disk.blocks[link], link)
	if err != nil {
		t.Fatal(err)
	}
	counter := l.cfg.Rules.First(claim.Value())
	fitness, steps := l.cfg.Rules.At(claim.Value(), counter)
	proof := l.cfg.Rules.OwnProof(claim, counter, fitness, steps+1, keyOf("n2"))
	disk := *l.disk
	disk.blocks = maps.Clone(disk.blocks)
	disk.blocks[proof.Link()] = proof.Bytes()
	hard := l.coord.hard
	hard.Proofs = append(slices.Clone(hard.Proofs), [2]seedlog.Link{link, proof.Link()})
	disk.state = seedlog.Encode(&hard)
	cfg := l.cfg
	cfg.Archive, cfg.State, cfg.Height = &disk, disk.state, uint64(len(disk.chain))
	cfg.Summary, _ = Summaries{cfg.Rules, &disk}.Newest(cfg.Height)
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if c.chain.root.height != firstInterval || c.chain.head.falseAt != height {
		t.Errorf("root at height %d, false claim at %d, want %d", c.chain.root.height, c.chain.head.falseAt, height)
	}
}

// TestTrainsOnAfterRestart: a peer that restarted from a summary continues as one that never stopped, summaries
// included.
func TestTrainsOnAfterRestart(t *testing.T) {
	l := newLone(t)
	l.grow(2*firstInterval + summaryDepth + 5)
	l.start(t)
	l.grow(keepDepth + 3*firstInterval)
	if _, ok := l.disk.summaries[uint64(keepDepth+2*firstInterval)]; !ok {
		t.Errorf("summaries at %v", slices.Sorted(maps.Keys(l.disk.summaries)))
	}
	c, _, _ := l.again(t, l.disk)
	sameChain(t, c, l.coord)
}
