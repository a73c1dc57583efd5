package model

import (
	"fmt"
	"slices"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// checkProof: who disproves a true claim of a chain is cut off, if it has work in that chain or the claim is in it.
func (w *world) checkProof(p parcel, m *coordinator.FraudProof) {
	to := w.peers[p.to]
	claim, err := seedlog.DecodeClaim(m.Claim)
	if err != nil || w.faulty(slices.Index(w.ids[:], claim.Peer)) || !slices.Contains(to.disk.chain, claim.Parent) || to.cut[p.from] {
		return
	}
	for _, link := range to.disk.chain {
		e, err := seedlog.DecodeEntry(to.disk.blocks[link])
		if err != nil {
			w.fail("n%d has a damaged entry: %v", p.to+1, err)
			return
		}
		for _, logged := range e.Claims {
			by, err := seedlog.DecodeClaim(to.disk.blocks[logged])
			if logged == seedlog.LinkOf(m.Claim) || err == nil && by.Peer == w.ids[p.from] {
				w.fail("n%d keeps n%d, which disproved a true claim", p.to+1, p.from+1)
				return
			}
		}
	}
}

// watch holds the invariants against a step of a peer.
func (w *world) watch(i int, before coordinator.Snapshot, a coordinator.Actions) {
	if w.faulty(i) {
		return
	}
	p := w.peers[i]
	after := p.coord.Snapshot()
	noted := false
	for _, n := range a.Notes {
		switch n.Kind {
		case coordinator.NoteReorg:
			noted = true
		case coordinator.NoteFalse:
			noted = true
			for j := range peers {
				if n.Peer == w.ids[j] && !w.faulty(j) {
					w.fail("n%d finds a claim of the honest n%d false: %s", i+1, j+1, n.Text)
				}
			}
			if link, err := seedlog.ParseLink(linkPattern.FindString(n.Text)); err == nil {
				p.known = append(p.known, link)
				w.stats.False++
			}
		}
	}
	for _, b := range a.Ban {
		j := slices.Index(w.ids[:], b)
		p.cut[j] = true
		if !w.faulty(j) {
			w.fail("n%d cuts off the honest n%d: %v", i+1, j+1, a.Notes)
		}
	}
	if after.Weight < before.Weight && !noted {
		w.fail("the head of n%d fell from weight %d to %d without a note", i+1, before.Weight, after.Weight)
	}
	if after.Term > w.bounds.maxTerm() {
		w.fail("n%d is in term %d", i+1, after.Term)
	}
	for _, e := range a.Send {
		switch m := e.Message.(type) {
		case *coordinator.VoteReply:
			if m.Granted && !m.Pre {
				w.voted(vote{i, m.Term, e.To})
			}
		case *coordinator.VoteRequest:
			if !m.Pre {
				w.voted(vote{i, m.Term, w.ids[i]})
			}
		case *coordinator.Handover:
			w.voted(vote{i, m.Term, e.To}) // it carries one
		case *coordinator.DoubleVote:
			if j := slices.Index(w.ids[:], m.Voter); !w.faulty(j) {
				w.fail("n%d shows that the honest n%d voted twice in term %d", i+1, j+1, m.Term)
			}
		case *coordinator.Announce:
			w.signed(i, m)
		}
	}
	if a.Head != nil {
		w.stats.Moves++
		if a.Head.Fork < before.Height {
			w.stats.Reorgs++
		}
	}
	if (a.Head != nil || noted) && len(p.known) > 0 {
		w.checkKnown(i)
	}
}

// voted: one vote per term and voter over all lives.
func (w *world) voted(v vote) {
	w.stats.Votes++
	for _, u := range w.votes {
		if u.voter == v.voter && u.term == v.term && u.candidate != v.candidate {
			w.fail("n%d voted for two candidates in term %d", v.voter+1, v.term)
		}
	}
	if !slices.Contains(w.votes, v) {
		w.votes = append(w.votes, v)
	}
}

// signed: no two entries of one honest leader for one place.
func (w *world) signed(i int, m *coordinator.Announce) {
	e, err := seedlog.DecodeEntry(m.Entry)
	if err != nil || e.Leader != w.ids[i] {
		return
	}
	w.stats.Entries++
	s := sealed{i, e.Term, e.Height, seedlog.LinkOf(m.Entry)}
	for _, u := range w.seals {
		if u.leader == s.leader && u.term == s.term && u.height == s.height && u.link != s.link {
			w.fail("n%d signed two entries for height %d of term %d", i+1, s.height, s.term)
		}
	}
	if !slices.Contains(w.seals, s) {
		w.seals = append(w.seals, s)
	}
}

// checkKnown: no claim that a peer knows to be false is in its chain.
func (w *world) checkKnown(i int) {
	p := w.peers[i]
	for at, link := range p.disk.chain {
		e, err := seedlog.DecodeEntry(p.disk.blocks[link])
		if err != nil {
			w.fail("n%d: height %d: %v", i+1, at+1, err)
			return
		}
		for _, c := range e.Claims {
			if slices.Contains(p.known, c) {
				w.fail("n%d keeps a claim at height %d that it knows to be false", i+1, e.Height)
			}
		}
	}
}

// calm drops what is on its way, lets honest peers hear each other, and waits until they have one head above all that
// they had.
func (w *world) calm() error {
	n := w.next("calm")
	n.queue = nil
	highest := slices.Max(w.honestHeights())
	for i := range peers {
		n.near[i] = !n.faulty(i)
	}
	for range 60 * timing.Unheard {
		n.steps = 0
		for i := range peers {
			if n.near[i] {
				n.change(i).now++
				n.do(i, coordinator.Passed{})
			}
		}
		for queue := n.queue; len(queue) > 0; queue = n.queue {
			n.queue = nil
			for _, p := range queue {
				if n.near[p.from] && n.near[p.to] {
					n.deliver(p)
				}
			}
		}
		if n.err != nil {
			return n.err
		}
		if n.agreed() && slices.Min(n.honestHeights()) > highest {
			return nil
		}
	}
	return fmt.Errorf("%w: heights %v", errStuck, n.honestHeights())
}

func (w *world) agreed() bool {
	head := w.peers[0].coord.Snapshot().Head
	for i, p := range w.peers {
		if !w.faulty(i) && p.coord.Snapshot().Head != head {
			return false
		}
	}
	return true
}

func (w *world) honestHeights() (list []uint64) {
	for i, h := range w.heights() {
		if !w.faulty(i) {
			list = append(list, h)
		}
	}
	return list
}
