package coordinator

import (
	"cmp"
	"crypto/ed25519"
	"fmt"
	"slices"
	"testing"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// trueClaims are two true claims of each key on an entry, in an entry's order.
func (f *field) trueClaims(on seedlog.Link, state *evolve.State, keys []ed25519.PrivateKey) (claims []*seedlog.Claim) {
	for _, key := range keys {
		for chunk := range uint64(2) {
			task := f.rules.Task(state, on, seedlog.PeerOf(key), chunk)
			claims = append(claims, f.rules.Claim(on, key, chunk, f.evaluate(task, false)))
		}
	}
	slices.SortFunc(claims, func(a, b *seedlog.Claim) int {
		return cmp.Or(a.Peer.Compare(b.Peer), cmp.Compare(a.Chunk, b.Chunk))
	})
	return claims
}

// generation turns an entry with its claims and votes into what a segment carries.
func (f *field) generation(e *seedlog.Entry, key ed25519.PrivateKey, claims []*seedlog.Claim) Generation {
	var g Generation
	g.Entry, _ = e.Encode()
	g.Seal, _ = seedlog.NewSeal(e, key, nil).Encode()
	g.Claims = blocksOf(e, claims)
	return g
}

// blocksOf are the blocks that an entry names, as a segment carries them.
func blocksOf(e *seedlog.Entry, claims []*seedlog.Claim) (blocks [][]byte) {
	for _, batch := range e.Blocks() {
		blocks = append(blocks, batch.Bytes())
	}
	for _, c := range claims {
		data, _ := c.Encode()
		blocks = append(blocks, data)
	}
	return blocks
}

// branch is a chain of a stranger's own, which it offers to all and serves to those who ask.
type branch struct {
	f           *field
	key         ed25519.PrivateKey
	generations []Generation
	links       []seedlog.Link
	tip         seedlog.Parent
	state       *evolve.State
	weight      uint64
	asked       []inquiry
}

type inquiry struct {
	by   *member
	from int
}

// newBranch begins a branch on an entry whose state the stranger knows.
func (f *field) newBranch(key ed25519.PrivateKey, on seedlog.Parent, state *evolve.State, weight uint64) *branch {
	b := &branch{f: f, key: key, tip: on, state: state, weight: weight}
	f.spy = func(from *member, e Envelope) {
		m, ok := e.Message.(*Pull)
		if !ok || e.To != seedlog.PeerOf(key) {
			return
		}
		at := 0
		for _, link := range m.Locator {
			if i := slices.Index(b.links, link); i >= 0 {
				at = i + 1
				break
			}
		}
		b.asked = append(b.asked, inquiry{from, at})
	}
	return b
}

// grow appends an entry of a term, which edit, if there is one, changes before it is signed.
func (b *branch) grow(term uint64, claims []*seedlog.Claim, edit func(*seedlog.Entry)) {
	e, state := b.f.rules.NewEntry(b.state, b.tip, term, seedlog.PeerOf(b.key), claims)
	if edit != nil {
		edit(e)
	}
	g := b.f.generation(e, b.key, claims)
	link := seedlog.LinkOf(g.Entry)
	b.generations, b.links = append(b.generations, g), append(b.links, link)
	b.tip, b.state = seedlog.Parent{Link: link, Height: e.Height, Term: e.Term}, state
	b.weight += min(e.Steps, b.f.rules.Spec.Generation.WeightSteps)
}

// offer tells all of the branch and answers those who asked since.
func (b *branch) offer() {
	b.f.say(b.key, &Status{Hub: true, Term: b.tip.Term, Head: b.tip.Link, Height: b.tip.Height, Weight: b.weight})
	asked := b.asked
	b.asked = nil
	for _, q := range asked {
		end := min(q.from+64, len(b.generations))
		b.f.tell(b.key, q.by, &Segment{Generations: b.generations[q.from:end], Height: b.tip.Height})
	}
}

// adopted counts the natives that have an entry of the branch on their canonical chain.
func (b *branch) adopted() (n int) {
	for _, m := range b.f.peers {
		if m.coord == nil {
			continue
		}
		first := b.tip.Height + 1 - uint64(len(b.links))
		if at := m.coord.chain.canonAt(first); at != nil && at.link == b.links[0] {
			n++
		}
	}
	return n
}

// TestAttackByForgedChain offers a chain from the genesis that is heavier than the honest one, and cost less: some of
// its results are made up, but not the winners, which decide. On top of some are entries that are all true.
func TestAttackByForgedChain(t *testing.T) {
	calm := newField(t, 3, 0)
	calm.pass(700)
	before := calm.low()
	calm.pass(1200)
	want := calm.low() - before
	for _, a := range []struct{ lies, top int }{{5, 0}, {20, 0}, {95, 0}, {95, 55}} { // percent of entries; entries
		t.Run(fmt.Sprintf("%d of 100 entries made up below %d", a.lies, a.top), func(t *testing.T) {
			f := newField(t, 3, 8)
			f.pass(700)
			honest := f.peers[0].coord.chain.head
			b := f.newBranch(f.strangers[0], seedlog.Parent{Link: f.rules.Run}, f.rules.Initial(), 0)
			made, cost := 0, 0
			for b.weight < 2*honest.weight {
				made += a.lies
				claims := f.trueClaims(b.tip.Link, b.state, f.strangers)
				if made >= 100 {
					made -= 100
					cost++
					f.makeUp(claims)
				} else {
					cost += 4 * len(claims)
				}
				b.grow(1, claims, nil)
			}
			for range a.top {
				b.grow(1, f.trueClaims(b.tip.Link, b.state, f.strangers[:1]), nil)
			}
			before := f.low()
			adopted := 0
			f.each = func(tick int) {
				if tick%4 == 0 {
					b.offer()
				}
				adopted = max(adopted, b.adopted())
			}
			f.pass(1200)
			t.Logf("honest chain of %d entries and %d results, forged one of %d and %d; followed by %d natives at most", honest.height, honest.evaluations, len(b.links), cost, adopted)
			if adopted > 0 {
				t.Errorf("%d natives followed a forged chain", adopted)
			}
			got := f.low()
			f.holds(got-min(got, before), want)
		})
	}
}

// makeUp keeps the first result and puts others in place of the rest, with as many steps as there may be.
func (f *field) makeUp(claims []*seedlog.Claim) {
	for i, c := range claims {
		fitness, steps := slices.Clone(c.Fitness), slices.Clone(c.Steps)
		for j := range fitness {
			if i+j > 0 {
				fitness[j], steps[j] = -1, 500
			}
		}
		k := slices.IndexFunc(f.strangers, func(key ed25519.PrivateKey) bool { return seedlog.PeerOf(key) == c.Peer })
		claims[i] = seedlog.NewClaim(f.rules.Run, c.Parent, f.strangers[k], c.Chunk, fitness, steps)
	}
}
