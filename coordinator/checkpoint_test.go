package coordinator

import (
	"fmt"
	"slices"
	"testing"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// finals lists the heights that are final for the peers that have power; 0 for none.
func (f *field) finals() (heights []uint64) {
	for _, m := range f.peers {
		if m.coord == nil {
			continue
		}
		heights = append(heights, 0)
		if final := m.coord.checkpoints.final; final != nil {
			heights[len(heights)-1] = final.Height
			if n := m.coord.chain.canonAt(final.Height); n == nil || n.link != final.Entry {
				f.t.Errorf("%s: the final entry of height %d is not on its chain", m.name, final.Height)
			}
		}
	}
	return heights
}

// until lets time pass until all peers with power have reached a height.
func (f *field) until(height uint64) {
	f.t.Helper()
	for range 40 * height {
		if f.low() >= height {
			return
		}
		f.pass(1)
	}
	f.t.Fatalf("height %d is not reached: %d", height, f.low())
}

// tabsAlone is a swarm of tabs that are connected with each other.
func tabsAlone(t *testing.T, n int) *field {
	f := newField(t, 0, 0)
	for i := range n {
		f.add(fmt.Sprintf("n%d", i+1), Config{Kind: Tab, Timing: LAN(), Slots: 2})
	}
	for _, m := range f.peers {
		f.start(m)
	}
	return f
}

// TestSwarmsOfAnySizeContinue: swarms of one, two, three natives and of tabs alone grow on, and where two or more
// work, what lies far below becomes final for all of them alike. One alone makes nothing final.
func TestSwarmsOfAnySizeContinue(t *testing.T) {
	for _, test := range []struct {
		name  string
		field func(*testing.T) *field
		final bool
	}{
		{"one", func(t *testing.T) *field { return newField(t, 1, 0) }, false},
		{"two", func(t *testing.T) *field { return newField(t, 2, 0) }, true},
		{"three", func(t *testing.T) *field { return newField(t, 3, 0) }, true},
		{"three tabs", func(t *testing.T) *field { return tabsAlone(t, 3) }, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := test.field(t)
			f.until(vouchDepth + 3*vouchEvery)
			heights := f.finals()
			if got := slices.Min(heights); test.final && got < vouchEvery || !test.final && got > 0 {
				t.Errorf("final heights %v at height %d", heights, f.low())
			}
			f.friendly()
		})
	}
}

// TestFoundersLeave: those who made the first entries final are gone at once. The others continue; what they cannot
// make final any more competes by its work.
func TestFoundersLeave(t *testing.T) {
	f := newField(t, 3, 0)
	f.until(vouchDepth + 2*vouchEvery)
	for i := range 3 {
		f.start(f.add(fmt.Sprint("late ", i), production()))
	}
	f.pass(40)
	for _, m := range f.peers[:3] {
		f.powerDown(m)
	}
	at := f.low()
	f.pass(200)
	if f.low() < at+20 {
		t.Errorf("%d entries in 200 ticks after the founders left", f.low()-at)
	}
}

// TestNobodyFinalizesAlone: the origin has all the weight as long as it is alone, and still makes nothing final.
func TestNobodyFinalizesAlone(t *testing.T) {
	f := newField(t, 1, 0)
	f.until(vouchDepth + 3*vouchEvery)
	if got := f.finals()[0]; got != 0 {
		t.Errorf("height %d is final for one peer", got)
	}
}

// TestNoSideOfAPartitionFinalizes: of two halves neither makes anything final that is above their last common entry,
// and the halves meet again. Nobody signs two entries of one height, nor a lower one after a higher one.
func TestNoSideOfAPartitionFinalizes(t *testing.T) {
	f := newField(t, 4, 0)
	signed := make(map[Peer]*Vouch)
	f.spy = func(from *member, e Envelope) {
		m, ok := e.Message.(*Vouch)
		if !ok || m.Peer != from.peer {
			return
		}
		if before := signed[m.Peer]; before != nil && (m.Height < before.Height || m.Height == before.Height && m.Entry != before.Entry) {
			t.Fatalf("%s signs an entry of height %d after another of height %d", from.name, m.Height, before.Height)
		}
		signed[m.Peer] = m
	}
	f.until(vouchDepth + 2*vouchEvery)
	if slices.Min(f.finals()) == 0 {
		t.Fatal("nothing is final: not what the test needs")
	}
	for i, m := range f.peers {
		m.side = i < 2
	}
	f.split = true
	common := f.low()
	f.until(common + vouchDepth + 2*vouchEvery)
	if got := slices.Max(f.finals()); got > common+2 {
		t.Errorf("height %d is final for half of the peers, split at height %d", got, common)
	}
	f.split = false
	f.pass(200)
	for _, m := range f.peers {
		if m.coord.chain.canonAt(common+20) != nil && m.coord.chain.canonAt(common+20).link != f.peers[0].coord.chain.canonAt(common+20).link {
			t.Errorf("%s is on another branch", m.name)
		}
	}
	at := f.low()
	f.until(at + vouchDepth + 2*vouchEvery)
	if got := slices.Min(f.finals()); got <= common {
		t.Errorf("only height %d is final after the sides met", got)
	}
	f.friendly()
}

// startAt has a forger's branch leave a member's chain at a height.
func (v *forger) startAt(m *member, height uint64) {
	for h := uint64(1); h <= height; h++ {
		n := m.coord.chain.canonAt(h)
		claims, err := v.f.rules.KeptClaims(n.claims, m.disk.Block)
		if err != nil {
			v.f.t.Fatal(err)
		}
		v.state = v.f.rules.Apply(v.state, n.parent.link, values(claims))
		v.parent, v.weight = seedlog.Parent{Link: n.link, Height: h, Term: n.term}, n.weight
	}
}

// TestFinalStays: no branch that leaves the chain below a final entry is followed, however much true work is in it. One
// that left it before anything was final competes by its work, and so does that of a part of the swarm.
func TestFinalStays(t *testing.T) {
	for _, test := range []struct {
		name  string
		at    func(f *finality, began uint64) uint64
		shown int // which entry of the branch has claims of a peer with weight; 0: none
		want  bool
	}{
		{"between", func(f *finality, _ uint64) uint64 { return f.Height - 1 }, 0, false},
		{"with claims made before the parting", func(f *finality, _ uint64) uint64 { return f.Height - 1 }, 1, false},
		{"of a part of the swarm", func(f *finality, _ uint64) uint64 { return f.Height - 1 }, 2, true},
		{"at the head when finality began", func(f *finality, _ uint64) uint64 { return f.First }, 0, false},
		{"at the last", func(f *finality, _ uint64) uint64 { return f.Height }, 0, true},
		{"below that", func(f *finality, _ uint64) uint64 { return f.First - 1 }, 0, true},
		{"before anything was final", func(_ *finality, began uint64) uint64 { return began - 3 }, 0, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newField(t, 2, 0)
			m := f.peers[0]
			var began uint64 // height of the head when something was final first
			f.each = func(int) {
				if c := m.coord; began == 0 && c.checkpoints.final != nil {
					began = c.chain.head.height
				}
			}
			f.until(vouchDepth + 6*vouchEvery + 4) // nothing new becomes final soon
			final := m.coord.checkpoints.final
			if final == nil || final.First >= final.Height {
				t.Fatalf("final: %+v", final)
			}
			v := newForger(f)
			v.startAt(m, test.at(final, began))
			for v.weight < m.coord.chain.head.weight*3/2 {
				keys := crowd(6, 0)
				if len(v.chain)+1 == test.shown {
					keys = append(keys, f.peers[1].name)
				}
				v.grow(keys, honest)
			}
			f.each = v.act
			f.pass(60)
			first := v.links[0]
			n := m.coord.chain.nodes[first]
			if got := n != nil && m.coord.chain.canonical(n); got != test.want {
				t.Errorf("a branch from height %d, final from %d to %d: followed %t, want %t", test.at(final, began), final.First, final.Height, got, test.want)
			}
			f.friendly()
		})
	}
}

// TestFinalSurvivesARestart: a peer remembers what is final and how far it signed.
func TestFinalSurvivesARestart(t *testing.T) {
	f := newField(t, 2, 0)
	f.until(vouchDepth + 3*vouchEvery)
	m := f.peers[0]
	before, vouched := *m.coord.checkpoints.final, m.coord.hard.Vouched
	c, err := restored(m, m.disk)
	if err != nil {
		t.Fatal(err)
	}
	if got := c.checkpoints.final; got == nil || got.Entry != before.Entry || got.First != before.First || c.hard.Vouched != vouched || len(got.Vouches) < leastVouchers {
		t.Errorf("final %+v and signed up to %d, want %+v and %d", got, c.hard.Vouched, before, vouched)
	}
}

// TestStrangersVouchForNothing: who has no work in the chain is not even asked to be verified, takes no room, and makes
// nothing final; a signature that is not the signer's is an offense.
func TestStrangersVouchForNothing(t *testing.T) {
	f := newField(t, 1, 0)
	f.until(vouchDepth + 2*vouchEvery)
	c := f.peers[0].coord
	n := c.chain.canonAt(vouchEvery)
	var vouch *Vouch
	for i := range 500 {
		key := keyOf(fmt.Sprint("stranger ", i))
		vouch = &Vouch{Peer: seedlog.PeerOf(key), Height: n.height, Entry: n.link, Signature: seedlog.NewVouch(f.rules.Run, n.height, n.link, key)}
		checked, err := Check(seedlog.NewChecker(f.rules), vouch, nil)
		if err != nil || c.Expects(vouch.Peer, vouch) {
			t.Fatalf("error %v; expected %t", err, c.Expects(vouch.Peer, vouch))
		}
		f.step(f.peers[0], Received{From: vouch.Peer, Via: vouch.Peer, Message: checked})
	}
	if len(c.checkpoints.vouches) > 1 || c.checkpoints.final != nil {
		t.Errorf("%d signatures kept, final %+v", len(c.checkpoints.vouches), c.checkpoints.final)
	}
	vouch.Peer = c.self
	if _, err := Check(seedlog.NewChecker(f.rules), vouch, nil); err == nil {
		t.Error("another's signature passes")
	}
}

// TestCompanyIsCountedOnceATick: who hears too few of those who work to sign counts them again in the next tick, not at
// each message. In a crowd that took four fifths of a leader's time.
func TestCompanyIsCountedOnceATick(t *testing.T) {
	f := newField(t, 4, 0)
	f.pass(100)
	c := f.peers[0].coord
	for _, m := range f.peers {
		if w := m.coord.chain.weights(); w[m.peer] < w[c.self] {
			c = m.coord
		}
	}
	if !c.inCompany() {
		t.Fatal("a peer that hears all is alone")
	}
	heard := c.members.heard
	c.members.heard = nil
	if c.inCompany() {
		t.Fatal("a peer that hears nobody is in company")
	}
	c.members.heard = heard
	if c.inCompany() {
		t.Error("who works is counted again within a tick")
	}
	c.now++
	if !c.inCompany() {
		t.Error("who is heard again does not count in the next tick")
	}
}
