package coordinator

import (
	"cmp"
	"slices"
)

// Roster says who takes part in a run, as one peer knows it. It is a copy.
type Roster struct {
	Members []Member // those with the most work in the newest entries first, then by key
	Others  int      // members that are left out
	Entries uint64   // how many of the newest entries Member.Lately counts
	Reorg   Reorg    // the last one
	Reorgs  uint64
}

// Member is a peer that is heard, or has work in the newest entries.
type Member struct {
	Peer   Peer
	Here   bool   // is heard; what follows up to Height is as it says
	Kind   Kind   // of a peer that is not heard: not known
	Hub    bool   // can be dialed
	Height uint64 // of its head
	Leads  bool
	Lately Credit // what the newest entries hold of it
	Credit Credit // what the chain holds of it
}

// Reorg is a change of the canonical chain below its tip.
type Reorg struct {
	Height uint64 // of the newest entry that stayed
	Gone   uint64 // entries above it that were replaced
	Come   uint64 // those that replaced them
}

// Roster lists at most so many members, this peer and the leader among them.
func (c *Coordinator) Roster(most int) Roster {
	r := Roster{Reorg: c.chain.reorg, Reorgs: c.chain.reorgs}
	members := map[Peer]*Member{c.self: {Here: true, Kind: c.cfg.Kind, Hub: c.cfg.Hub, Height: c.chain.head.height}}
	for _, h := range c.members.heard {
		if c.lately(h) {
			members[h.peer] = &Member{Here: true, Kind: h.Kind, Hub: h.Hub, Height: h.Height}
		}
	}
	of := func(p Peer) *Member {
		if members[p] == nil {
			members[p] = new(Member)
		}
		return members[p]
	}
	for n := c.chain.head; n.parent != nil && !n.forgotten && r.Entries < votingEntries; n, r.Entries = n.parent, r.Entries+1 {
		for _, credit := range n.credits {
			m := of(credit.peer)
			m.Lately.Evaluations += credit.Evaluations
			m.Lately.Steps += credit.Steps
		}
	}
	if c.election.leader != (Peer{}) {
		of(c.election.leader).Leads = true
	}
	for p, m := range members { //lint:sorted below
		m.Peer, m.Credit = p, c.chain.credits[p]
		r.Members = append(r.Members, *m)
	}
	slices.SortFunc(r.Members, func(a, b Member) int {
		return cmp.Or(cmp.Compare(b.Lately.Evaluations, a.Lately.Evaluations), a.Peer.Compare(b.Peer))
	})
	for i := len(r.Members) - 1; i >= 0 && len(r.Members) > max(most, 2); i-- {
		if m := r.Members[i]; m.Peer != c.self && !m.Leads {
			r.Members = slices.Delete(r.Members, i, i+1)
			r.Others++
		}
	}
	return r
}
