package sim

import (
	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// lateComer repeats what was true once: old entries, claims on old parents, the chain's own claims, the words of
// leaders whose term is over.
type lateComer struct {
	stranger
	keys int
	n    int
}

// Act implements Adversary.
func (l *lateComer) Act(a *Actor) {
	best := a.Best()
	if best.Height < 3 {
		return
	}
	for a.left >= len(a.swarm.nodes) {
		l.n++
		l.deeds++
		key := a.Below(l.keys)
		m := l.word(a, key, best, a.old(best, 1+a.Below(int(best.Height)-1)))
		for _, v := range a.targets() {
			a.Send(key, v.Index, m)
		}
	}
}

func (l *lateComer) word(a *Actor, key int, best View, old seedlog.Link) coordinator.Message {
	switch l.n % 5 {
	case 0: // an entry of the chain, with its seal
		node := a.swarm.nodes[best.Index]
		i := a.Below(len(node.disk.chain))
		entry, _ := a.Block(node.disk.chain[i])
		seal, _ := a.Block(node.disk.seals[i])
		return &coordinator.Announce{Entry: entry, Seal: seal}
	case 1: // a claim of another peer that is in the chain already
		if claim := a.claimAt(old); claim != nil {
			return &coordinator.Claims{Blocks: [][]byte{encoded(claim)}}
		}
		return new(coordinator.Leave)
	case 2: // true work that comes too late
		return &coordinator.Claims{Blocks: [][]byte{encoded(a.TrueClaims(old, key, 1)[0])}}
	case 3: // a side branch of one true entry, in a term that is over
		branch := a.Branch(old)
		branch.Grow(max(branch.Term(), 1), key, a.TrueClaims(old, key, 2), nil)
		return branch.Announce()
	}
	return &coordinator.Status{Hub: true, Leads: true, Term: best.Term - min(best.Term, uint64(a.Below(3))), Head: old, Height: best.Height - 1, Weight: best.Weight - 1}
}
