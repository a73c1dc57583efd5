package coordinator

import (
	"bytes"
	"crypto/ed25519"
	"testing"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// newBestField is newNextField in a run that marks its best state.
func newBestField(t testing.TB, stale uint64, natives int, nonce byte) *field {
	spec := *newNextField(t, stale, 1, 0).rules.Spec
	spec.Nonce, spec.Best = bytes.Repeat([]byte{nonce}, 16), &seedlog.BestState{Every: 8, Results: 32}
	rules, err := seedlog.NewRules(&spec)
	if err != nil {
		t.Fatal(err)
	}
	f := newFieldOf(t, rules, natives, 0)
	f.capacity = 2
	return f
}

// heldOutOn is what a peer's chain holds of the held-out results of a state, and whose they are.
func heldOutOn(c *Coordinator, height uint64) (results uint64, by map[Peer]uint64) {
	by = make(map[Peer]uint64)
	for n := c.chain.canonAt(height + 1); n != nil && n.height <= height+1+c.chain.maxStale; n = c.chain.canonAt(n.height + 1) {
		for _, credit := range n.credits {
			if k := credit.held.tally.Results; k > 0 {
				results += k
				by[credit.peer] += k
			}
		}
	}
	return results, by
}

// TestBestStateIsMarked: peers play about as many held-out episodes of a state as its score needs, each its part, and
// all agree on the best state and have it.
func TestBestStateIsMarked(t *testing.T) {
	for stale, natives := range map[uint64]int{4: 4, 0: 3, 2: 1} {
		f := newBestField(t, stale, natives, 3)
		f.pass(500)
		f.friendly()
		c := f.peers[0].coord
		states, results := 0, uint64(0)
		for height := uint64(8); height+stale+1 <= c.chain.head.height; height += 8 {
			if c.chain.canonAt(height) == nil || height <= c.chain.root.height {
				continue
			}
			n, by := heldOutOn(c, height)
			states, results = states+1, results+n
			for p, k := range by {
				if s := sharesAt(c.chain.canonAt(height)); k > f.rules.HeldOutChunks(c.chain.canonAt(height).link, p, s.steps[p], s.all)*f.rules.Spec.Generation.Chunk {
					t.Errorf("stale %d: %s has %d results of height %d", stale, f.nameOf(p), k, height)
				}
			}
		}
		if mean := float64(results) / float64(max(states, 1)); states < 3 || mean < 24 || mean > 40 {
			t.Errorf("stale %d: %d states have %.1f results each, want about 32", stale, states, mean)
		}
		best := c.chain.head.marks.Best
		for _, m := range f.peers {
			if own := m.coord.chain.canonAt(c.chain.head.height); own != nil && own.link == c.chain.head.link && own.marks.Best != best {
				t.Errorf("stale %d: %s marks %+v, others %+v", stale, m.name, own.marks.Best, best)
			}
		}
		s := c.Snapshot()
		if s.BestState != best || best.Height == 0 || s.BestModel == nil {
			t.Fatalf("stale %d: best %+v (state there: %t), want %+v", stale, s.BestState, s.BestModel != nil, best)
		}
		if n := c.chain.canonAt(best.Height); n != nil && s.BestModel.Digest() != n.digest {
			t.Errorf("stale %d: the best state is not that of height %d", stale, best.Height)
		}
	}
}

// TestFalseScoreIsFound: who claims more for a state than it got, with one result of each, loses its key within a few
// states, and these their scores, although such results move the model by nothing.
func TestFalseScoreIsFound(t *testing.T) {
	const swarms = 4
	found := 0
	for nonce := range byte(swarms) {
		f := newBestField(t, 4, 6, 40+nonce)
		f.pass(200)
		faulty := f.peers[5]
		f.corrupt = func(m *member, j *job, results []int64) {
			if m == faulty && j.kind == jobOwn && j.chunk >= seedlog.FirstHeldOut {
				results[0] += 1 << 44
			}
		}
		f.pass(250)
		c := f.peers[0].coord
		if !c.faults.peers[faulty.peer] {
			continue
		}
		found++
		if best := c.chain.head.marks.Best; best.Score >= 1<<40 {
			t.Errorf("swarm %d: the best state has the score %d still", nonce, best.Score)
		}
		for _, m := range f.peers[:5] {
			for p := range m.coord.faults.peers {
				if p != faulty.peer {
					t.Errorf("swarm %d: %s bans %s", nonce, m.name, f.nameOf(p))
				}
			}
		}
	}
	if found < swarms-1 {
		t.Errorf("%d of %d who lied of a state were found", found, swarms)
	}
}

// TestRestartKnowsTheBestState: a peer that begins at a summary knows the best state below it.
func TestRestartKnowsTheBestState(t *testing.T) {
	f := newBestField(t, 2, 1, 5)
	markEvery = 16
	defer func() { markEvery = firstInterval }()
	m := f.peers[0]
	f.powerDown(m)
	if err := f.powerUp(m); err != nil {
		t.Fatal(err)
	}
	f.pass(1500)
	want := m.coord.chain.head.marks
	f.powerDown(m)
	if err := f.powerUp(m); err != nil {
		t.Fatal(err)
	}
	if got := m.coord.chain.head.marks; m.coord.chain.root.height <= want.Best.Height || got != want || want.Best.Height == 0 {
		t.Errorf("from height %d on: %+v, want %+v", m.coord.chain.root.height, got, want)
	}
}

// TestNewcomersScoreNothing: nobody keeps what a key without work claims of a state, or anybody of one that gets no
// score, or more than its part.
func TestNewcomersScoreNothing(t *testing.T) {
	f := newBestField(t, 4, 3, 6)
	for f.pass(100); f.peers[0].coord.chain.head.height%8 != 1; f.pass(1) {
	}
	c := f.peers[0].coord
	on := c.chain.head.parent
	size := f.rules.Spec.Generation.Chunk
	claim := func(key ed25519.PrivateKey, on *node, chunk uint64) *seedlog.Claim {
		task := f.rules.Range(on.state, on.link, seedlog.PeerOf(key), chunk*size, size)
		return f.rules.Claim(on.link, key, chunk, f.evaluate(task, false))
	}
	known := f.peers[1].key
	s := sharesAt(on)
	most := f.rules.HeldOutChunks(on.link, f.peers[1].peer, s.steps[f.peers[1].peer], s.all)
	for name, v := range map[string]*seedlog.Claim{
		"a newcomer's":       claim(keyOf("stranger"), on, seedlog.FirstHeldOut),
		"of another height":  claim(known, on.parent, seedlog.FirstHeldOut),
		"more than its part": claim(known, on, seedlog.FirstHeldOut+most),
	} {
		if checked := f.rules.OwnClaim(v); f.kept(c, checked) {
			t.Errorf("%s claim is kept", name)
		}
	}
}

// kept reports whether a peer's pool takes a claim of somebody.
func (f *field) kept(c *Coordinator, claim seedlog.CheckedClaim) bool {
	c.offer(source{key: claim.Value().Peer}, claim)
	return c.work.pool.links[claim.Link()] != nil
}
