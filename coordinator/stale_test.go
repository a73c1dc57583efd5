package coordinator

import (
	"testing"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// equalSpec is the spec of a run of format 2 whose claims are so large that 16 candidates a tick make one.
func equalSpec(t testing.TB, stale uint64) *seedlog.Spec {
	spec := *newRules(t, true).Spec
	spec.Generation = seedlog.Generation{Evaluations: 64, Open: true, Chunk: 16, Quota: 64, WeightSteps: 1 << 20}
	return nextFormat(t, &spec, stale)
}

// TestEqualPeersLogAll: what four equal peers compute is logged, not what their leader can re-run.
func TestEqualPeersLogAll(t *testing.T) {
	const warm, ticks, rate = 100, 200, 16
	peers, logged := runSpeeds(t, equalSpec(t, 4), warm, ticks, []float64{rate, rate, rate, rate}, nil)
	total := uint64(0)
	for _, p := range peers {
		t.Logf("%s: %d evaluations logged", p.name, logged[p.peer])
		total += logged[p.peer]
	}
	if total*100 < 93*4*ticks*rate {
		t.Errorf("%d evaluations logged, %d could have been", total, 4*ticks*rate)
	}
}

// TestLateClaimsCount: a peer that needs longer for a claim than a generation lasts has its work logged all the same.
func TestLateClaimsCount(t *testing.T) {
	const warm, ticks = 400, 300 // warm: until its claims are seldom drawn
	peers, logged := runSpeeds(t, equalSpec(t, 4), warm, ticks, []float64{32, 32, 2}, nil)
	slow := peers[2]
	could := uint64(ticks * slow.rate)
	t.Logf("%d of %d evaluations of the slow peer are logged", logged[slow.peer], could)
	if logged[slow.peer]*100 < 70*could { // when it leads it checks, too
		t.Errorf("%d evaluations of the slow peer are logged, it could do %d", logged[slow.peer], could)
	}
}

// TestStalePool: the pool takes what has a place in the next entry and nothing else, and drops what lost its place.
func TestStalePool(t *testing.T) {
	f := newNextField(t, 2, 3, 2)
	misplaced := func(when string) {
		t.Helper()
		for _, m := range f.peers {
			c := m.coord
			seen := make(map[poolKey]bool)
			for p := range c.work.pool.all {
				head, v := c.chain.head, p.claim.Value()
				_, logged, ok := below{head}.Logged(v.Parent, v.Peer)
				if !ok || head.height-p.on.height > 2 || p.on.link != v.Parent || v.Chunk < logged || seen[p.key()] || c.work.pool.links[p.claim.Link()] != p {
					t.Fatalf("%s: the pool of %s at height %d has chunk %d on height %d, of which %d are logged", when, m.name, head.height, v.Chunk, p.on.height, logged)
				}
				seen[p.key()] = true
			}
		}
	}
	for range 100 {
		f.pass(1)
		misplaced("in peace")
	}
	c := f.peers[0].coord
	head := c.chain.head
	if head.height < 10 {
		t.Fatalf("height %d", head.height)
	}
	known, other := f.peers[1].key, f.strangers[0]
	var on *node
	var logged uint64
	for back := 1; back <= 2 && logged == 0; back++ {
		on = head.below(back)
		logged, _ = c.place(&seedlog.Claim{Parent: on.link, Peer: f.peers[1].peer, Chunk: 1000})
	}
	if logged == 0 {
		t.Fatalf("no chunk of %s on the last entries is logged", f.peers[1].name)
	}
	orphan := *head
	orphan.link = seedlog.LinkOf([]byte("orphan"))
	c.chain.nodes[orphan.link] = &orphan
	for _, test := range []struct {
		name  string
		claim seedlog.CheckedClaim
		takes bool
	}{
		{"on an unknown entry", f.junkClaim(known, seedlog.LinkOf([]byte("x")), 0), false},
		{"too old", f.junkClaim(other, head.below(3).link, 0), false},
		{"on an orphan", f.junkClaim(other, orphan.link, 0), false},
		{"logged already", f.junkClaim(known, on.link, logged-1), false},
		{"a stranger's second without the first", f.junkClaim(other, head.below(2).link, 1), false},
		{"a stranger's first", f.junkClaim(other, head.below(2).link, 0), true},
		{"and its second", f.junkClaim(other, head.below(2).link, 1), true},
		{"a later one of a known key", f.junkClaim(known, on.link, logged+40), true},
		{"the same again", f.junkClaim(known, on.link, logged+40), true},
	} {
		size := c.work.pool.known.Len() + c.work.pool.fresh.Len()
		held := c.work.pool.links[test.claim.Link()] != nil
		c.offer(source{key: test.claim.Value().Peer}, test.claim)
		grown := c.work.pool.known.Len() + c.work.pool.fresh.Len() - size
		if takes := c.work.pool.links[test.claim.Link()] != nil; takes != test.takes || grown > 0 == (held || !test.takes) {
			t.Errorf("%s: taken %t, want %t; the pool grows by %d", test.name, takes, test.takes, grown)
		}
	}
	delete(c.chain.nodes, orphan.link)
	misplaced("after offers")
}

// TestRestartWithStaleClaims: a peer restarts from a summary, though claims of the lowest entries that it reads lie on
// entries below those.
func TestRestartWithStaleClaims(t *testing.T) {
	f := newNextField(t, 4, 2, 0)
	f.capacity = 1
	m := f.peers[1]
	for m.coord.chain.head.height < firstInterval+summaryDepth+20 {
		f.pass(20)
		if f.now > 20_000 {
			t.Fatalf("height %d after %d ticks", m.coord.chain.head.height, f.now)
		}
	}
	stale := 0
	for _, n := range m.coord.chain.canon {
		for _, credit := range n.credits {
			if len(credit.chunks) > 1 {
				stale++
			}
		}
	}
	if stale < 100 {
		t.Fatalf("%d entries with stale claims, want more", stale)
	}
	height := m.coord.chain.head.height
	f.powerDown(m)
	if err := f.powerUp(m); err != nil {
		t.Fatal(err)
	}
	if c := m.coord.chain; c.head.height != height || c.root.height == 0 {
		t.Fatalf("height %d from %d on, it was %d", c.head.height, c.root.height, height)
	}
	f.pass(200)
	if low := f.low(); low < height+20 {
		t.Errorf("height %d, 200 ticks after a restart at %d", low, height)
	}
}

// TestShortBranchesCostNothing: where all who follow an entry re-run of it by lot, a branch that replaces a few
// entries, as elections leave them, has nobody re-run more than that. In large swarms it would be each native for each.
func TestShortBranchesCostNothing(t *testing.T) {
	f := newSeededField(t, 4, 4, 4) // in which nobody falls behind by more than that
	f.pass(150)
	drawn := make(map[*job]bool)
	f.held = func(m *member, j *job) bool {
		if j.kind == jobDecisive && m.coord.near(j.node) && !j.node.descends(m.coord.chain.head) {
			drawn[j] = true
		}
		return false
	}
	moved := uint64(0)
	for range 12 {
		alone := f.leader()
		for _, m := range f.peers {
			m.side = m == alone
		}
		f.split = true
		f.pass(12)
		f.split = false
		f.pass(60)
	}
	for _, m := range f.peers {
		moved += m.coord.Roster(1).Reorgs
	}
	if moved == 0 {
		t.Fatal("nobody replaced entries: not what the test needs")
	}
	if len(drawn) > 0 {
		t.Errorf("%d results re-run for %d short branches", len(drawn), moved)
	}
}
