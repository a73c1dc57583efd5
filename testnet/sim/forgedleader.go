package sim

import (
	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// forgedLeader says that it leads, and does all that a leader and a candidate may do, without a vote but those of its
// own keys.
type forgedLeader struct {
	stranger
	keys int
	on   seedlog.Link // the head on which it made its last entry
}

// Act implements Adversary.
func (f *forgedLeader) Act(a *Actor) {
	best := a.Best()
	if best.Head != f.on && a.Now()%20 == 0 {
		f.on = best.Head
		f.append(a, best)
	}
	f.deeds++
	for round := 0; a.left >= len(a.swarm.nodes); round++ {
		key, later := a.Below(f.keys), best.Term+uint64(a.Below(3))
		for _, v := range a.targets() {
			a.Send(key, v.Index, f.word(a, key, later, round, v))
		}
	}
}

// word is what it tells a peer in a round.
func (f *forgedLeader) word(a *Actor, key int, term uint64, round int, v View) coordinator.Message {
	switch round % 6 {
	case 0:
		return &coordinator.VoteRequest{Pre: round%4 == 0, Term: term + 1, Head: v.Head, Handover: []byte{}}
	case 1:
		return &coordinator.VoteReply{Pre: a.Below(2) == 0, Term: term + 1 + uint64(a.Below(1000)), Signature: []byte{}}
	case 2:
		vote := a.Vote(term+1, v.Peer, key)
		return &coordinator.VoteReply{Granted: true, Term: term + 1, Signature: vote.Signature}
	case 3:
		return &coordinator.Handover{Term: term + 1, Head: v.Head}
	}
	return &coordinator.Status{Hub: true, Leads: true, Term: term, Head: v.Head, Height: v.Height, Weight: v.Weight}
}

// append makes a true entry on the head, for a later term with the votes of its own keys, and announces it.
func (f *forgedLeader) append(a *Actor, best View) {
	var votes []seedlog.Vote
	var claims []*seedlog.Claim
	term := best.Term + 1
	for key := range min(f.keys, 8) {
		votes = append(votes, a.Vote(term, a.Peer(0), key))
		claims = append(claims, a.TrueClaims(best.Head, key, 2)...)
	}
	sortVotes(votes)
	branch := a.Branch(best.Head)
	branch.Grow(term, 0, claims, votes)
	a.Gossip(0, branch.Announce())
	for _, v := range a.targets() {
		a.Send(0, v.Index, branch.Announce())
	}
}
