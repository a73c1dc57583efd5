package coordinator

import (
	"fmt"
	"slices"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// Nobody waits for claims. A new entry is followed once its claims are here and were folded, which takes seconds where
// many peers fetch them at once. Its state is short in most runs, so a leader sends that to everybody, and those who
// follow it work on that meanwhile, as a newcomer does on the states of hubs. What a follower votes for, keeps and
// serves is still its own chain; a leader that keeps the claims to itself is given up as one that does not progress.

const (
	// maxCarried is how long a state may be, in bytes, that is sent to everybody with each entry.
	maxCarried = 8 << 10
	// advanceWithin is how far above its chain a follower begins to work on states of the leader: who lacks more may
	// not know who leads. advanceMost is how far that may come to be.
	advanceWithin, advanceMost = 4, 32
)

// carried is the state of an entry as it came from the leader.
type carried struct {
	entry         seedlog.Link
	state         *evolve.State
	theta, digest [32]byte
}

// carried is the state after the fold, encoded to be sent to everybody; empty: nobody asked for it, or it is too long.
func (f *Fold) carried(s *evolve.State) []byte {
	if !f.carry || s == nil || s.EncodedLen() > maxCarried {
		return nil
	}
	data, err := s.MarshalBinary()
	if err != nil {
		return nil // no state of a run is refused
	}
	return data
}

// read decodes the state, and hashes it.
func (m *Advance) read() (*carried, error) {
	s := new(evolve.State)
	if err := s.UnmarshalBinary(m.State); err != nil {
		return nil, fmt.Errorf("invalid state: %w", err)
	}
	return &carried{m.Entry, s, s.ThetaDigest(), s.Digest()}, nil
}

// onAdvance takes the state of an entry of the leader that this peer follows. Either may come first.
func (c *Coordinator) onAdvance(from Peer, state *carried) {
	if from == c.election.leader && !c.light.on {
		c.ahead.carried = state
		c.advance()
	}
}

// advance has this peer work on the state of the newest entry of the leader that it follows, if both are here and the
// chain is not.
func (c *Coordinator) advance() {
	a, leader := &c.ahead, c.election.leader
	if a.carried == nil || !a.announced.Link().Defined() || a.carried.entry != a.announced.Link() {
		return
	}
	e, state := a.announced.Value(), a.carried
	a.carried = nil
	switch {
	case !a.led && (c.joining() || e.Height > c.chain.head.height+advanceWithin):
		return
	case c.chain.maxStale == 0 || leader == (Peer{}) || e.Leader != leader || e.Term != c.election.mandate.term || c.election.role != Follower,
		e.Height <= c.chain.head.height || e.Height > c.chain.head.height+advanceMost || a.led && a.on != nil && e.Height <= a.on.height,
		[32]byte(e.Theta) != state.theta || [32]byte(e.State) != state.digest || c.rules.Plan.Shape().Check(state.state) != nil,
		c.rules.Ended(seedlog.Parent{Height: e.Height, Solved: e.Solved}) != seedlog.Open:
		return
	}
	a.led, a.from, a.chunk, a.load = true, leader, 0, nil
	a.on = &node{link: a.announced.Link(), height: e.Height, term: e.Term, leader: leader, duration: e.Duration, stage: trusted, state: state.state, afloat: true}
	a.claims = slices.DeleteFunc(a.claims, func(claim claimAhead) bool { return claim.height+c.chain.maxStale < a.on.height })
	a.recent = append(slices.DeleteFunc(a.recent, func(n *node) bool { return !a.inTime(n, c.chain.maxStale) }), a.on)
	c.cancelStale()
}

// workable is an entry whose state this peer has, on its chain or from the leader that it follows; nil: it has not.
func (c *Coordinator) workable(link seedlog.Link) *node {
	if n := c.chain.nodes[link]; n != nil && n.state != nil {
		return n
	}
	if i := slices.IndexFunc(c.ahead.recent, func(n *node) bool { return n.link == link }); i >= 0 {
		return c.ahead.recent[i]
	}
	return nil
}

// advanced reports whether this peer is to work on a state that the leader sent.
func (c *Coordinator) advanced() bool {
	a := &c.ahead
	if !a.led {
		return false
	}
	if a.from == c.election.leader && c.election.role == Follower && a.on.height <= c.chain.head.height+advanceMost && c.ended() == seedlog.Open {
		return true
	}
	c.arrive()
	return false
}

// land moves own work on states that were taken over to the chain, as far as that has come.
func (c *Coordinator) land() {
	a := &c.ahead
	if a.on == nil && len(a.claims) == 0 {
		return
	}
	for _, j := range c.work.jobs { //lint:sorted each one on its own
		if n := c.chain.nodes[j.parent.link]; j.kind == jobOwn && j.parent.afloat && n != nil && c.chain.canonical(n) {
			j.parent = n
		}
	}
	keep := a.claims[:0]
	for _, claim := range a.claims {
		switch n := c.chain.nodes[claim.Value().Parent]; {
		case claim.height+c.chain.maxStale < c.chain.head.height: // it has no place any more
		case n != nil && c.chain.canonical(n):
			c.offer(source{key: c.self}, claim.CheckedClaim)
		default:
			keep = append(keep, claim)
		}
	}
	a.claims = keep
	if a.led && a.on.height <= c.chain.head.height {
		a.led, a.on, a.from = false, nil, Peer{}
	}
}
