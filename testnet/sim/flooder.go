package sim

import (
	"encoding/binary"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// flooder sends messages of every type, as many as its address lets through: claims that never count and false ones,
// inventories and questions without end, proofs against whom it likes, garbage in the form of blocks.
type flooder struct {
	stranger
	keys int
	n    uint64
}

// Act implements Adversary.
func (f *flooder) Act(a *Actor) {
	best := a.Best()
	for a.left >= len(a.swarm.nodes) {
		f.n++
		f.deeds++
		key := a.Below(f.keys)
		m := f.word(a, key, best)
		for _, v := range a.targets() {
			a.Send(key, v.Index, m)
		}
	}
}

func (f *flooder) word(a *Actor, key int, best View) coordinator.Message {
	kind := f.n % 10 // a key that is cut off for one type of message still has nine others
	if f.keys > 1 {
		kind = uint64(key % 10)
	}
	fresh := func(i int) seedlog.Link {
		return seedlog.LinkOf(binary.LittleEndian.AppendUint64(nil, f.n<<16+uint64(i)))
	}
	switch kind {
	case 0: // chunks that are no first
		return &coordinator.Claims{Blocks: [][]byte{encoded(a.ForgedClaim(best.Head, key, 1, 9))}}
	case 1: // false claims of keys made for the purpose
		return &coordinator.Claims{Blocks: [][]byte{encoded(a.ForgedClaim(best.Head, int(f.n)%(16*f.keys), 0, 500))}}
	case 2:
		m := &coordinator.Inventory{Parent: best.Head}
		for i := range 64 {
			m.Items = append(m.Items, coordinator.InventoryItem{Claim: fresh(i), Best: 1 << 50})
		}
		return m
	case 3:
		m := new(coordinator.Want)
		for i := range 64 {
			m.Claims = append(m.Claims, fresh(i))
		}
		return m
	case 4, 5:
		return &coordinator.Pull{Locator: []seedlog.Link{a.Rules().Run}}
	case 6: // a proof against a claim of its own, on an old parent
		parent := a.old(best, 1+a.Below(200))
		claim := a.ForgedClaim(parent, int(f.n)%(16*f.keys), 0, 9)
		return a.Proof(claim, 0, []int64{7, 7}[:a.Rules().Signs()], 9, key)
	case 7: // a proof against an honest claim
		if claim := a.claimAt(best.Head); claim != nil {
			counter := a.Rules().First(claim)
			fitness, steps := a.Rules().At(claim, counter)
			fitness = append([]int64{fitness[0] + 1}, fitness[1:]...)
			return a.Proof(claim, counter, fitness, steps, key)
		}
		return new(coordinator.Leave)
	case 8:
		return &coordinator.Segment{Height: 1 << 40}
	}
	return &coordinator.Status{Hub: true, Term: best.Term, Head: fresh(0), Height: best.Height + 1, Weight: best.Weight + 1}
}

func encoded(c *seedlog.Claim) []byte {
	data, _ := c.Encode()
	return data
}

// old is the entry so many below a peer's head.
func (a *Actor) old(v View, below int) seedlog.Link {
	chain := a.swarm.nodes[v.Index].disk.chain
	if i := len(chain) - 1 - below; i >= 0 {
		return chain[i]
	}
	return a.Rules().Run
}

// claimAt is the first claim of an entry.
func (a *Actor) claimAt(link seedlog.Link) *seedlog.Claim {
	data, _ := a.Block(link)
	e, err := seedlog.ReadEntry(data, a.Block)
	if err != nil {
		return nil
	}
	data, _ = a.Block(e.Claims[0])
	claim, err := seedlog.DecodeClaim(data)
	if err != nil {
		return nil
	}
	return claim
}
