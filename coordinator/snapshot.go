package coordinator

import (
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// Role is what a peer is in its term.
type Role uint8

// The roles of Raft.
const (
	Follower Role = iota
	Candidate
	Leader
)

// Credit is what the canonical chain holds of one peer.
type Credit struct {
	Evaluations uint64
	Steps       uint64
}

// Snapshot is what a person may want to know of a coordinator. It is a copy, but State is shared and read-only.
type Snapshot struct {
	Self        Peer
	Run         seedlog.Link
	Head        seedlog.Link
	Height      uint64
	Weight      uint64
	Term        uint64
	Role        Role
	Leader      Peer // zero: none known
	Peers       int  // others that are heard, leaves of hubs included
	Evaluations uint64
	Steps       uint64
	Mine        Credit
	Own         Ledger
	Credits     int           // peers with credit in the chain
	Best        int64         // highest fitness of the newest entry
	Mean        int64         // mean fitness of the newest entry
	State       *evolve.State // of the head, or of the newest entry below it that is folded already
	StateHeight uint64        // height of State
	Syncing     bool          // catching up: fetching a heavier chain, or folding one
	Behind      uint64        // while Syncing: entries still to fold
	BehindOf    uint64        // while Syncing: how many there were
	Light       bool          // it follows the run by the states of hubs, without claims: its own chain stays where it is
	Ahead       uint64        // while Syncing or Light: height of the entry whose state it works on meanwhile; 0: none
	AheadState  *evolve.State // that state; nil: none. Shared and read-only
	AheadHead   seedlog.Link  // while Light: that entry
	Base        uint64        // height that the chain begins at, as hubs gave it; 0: the genesis, or it was verified
	Folded      uint64        // with a Base: height up to which the run was folded from the genesis on
	Lost        bool          // with a Base: nobody that is heard gives what lies below any more
	First       uint64        // lowest height whose entry this peer has with all entries above
	End         seedlog.End   // what ended the run; Open: it continues
	Solved      uint64        // height of the state that passed the test and ended the run, which State is then; 0: none
	Testing     bool          // this peer has not seen yet whether that is true
	Ready       bool          // has heard somebody or leads: own work counts
	Paused      bool
	Reorgs      uint64        // how often entries were replaced since the start
	Reorg       Reorg         // the last time
	BestState   seedlog.Best  // the best state by held-out episodes, as the chain says; zero: none
	BestModel   *evolve.State // that state; nil: it is not in memory. Shared and read-only
	Untrusted   bool          // the run trusts other keys: what this peer computes does not count
}

// Snapshot describes the coordinator's present state.
func (c *Coordinator) Snapshot() Snapshot {
	s := Snapshot{
		Self: c.self, Run: c.rules.Run, Head: c.chain.head.link, Height: c.chain.head.height, Weight: c.chain.head.weight,
		Term: c.term(), Role: c.election.role, Leader: c.election.leader, Evaluations: c.chain.head.evaluations, Steps: c.chain.head.steps,
		Mine: c.chain.credits[c.self], Own: c.work.ledger.Ledger, Credits: len(c.chain.credits), Best: c.chain.head.best, Mean: c.chain.head.mean,
		Syncing: c.joining() && !c.light.on, Light: c.light.on, Paused: c.work.paused, Ready: c.election.leader != Peer{},
		End: c.ended(), Solved: c.chain.head.solved, Untrusted: !c.trusts(c.self), Reorgs: c.chain.reorgs, Reorg: c.chain.reorg, First: c.gone() + 1,
		BestState: c.chain.head.marks.Best, BestModel: c.bestModel(),
	}
	shown := c.chain.newest()
	if on := c.chain.canonAt(s.Solved); s.Solved > 0 && on != nil && on.state != nil {
		shown = on
	}
	s.State, s.StateHeight, s.Testing = shown.state, shown.height, c.testing()
	if s.Syncing {
		s.Behind, s.BehindOf = c.progress()
	}
	if s.Syncing || s.Light {
		if c.ahead.on != nil {
			s.Ahead, s.AheadState = c.ahead.on.height, c.ahead.on.state
		}
		above := c.ahead.credit(c.chain.head.height)
		s.Mine.Evaluations, s.Mine.Steps = s.Mine.Evaluations+above.Evaluations, s.Mine.Steps+above.Steps
	}
	if on := c.ahead.on; s.Light && on != nil {
		s.AheadHead, s.Evaluations, s.Steps, s.Ready = on.link, c.ahead.evaluations, c.ahead.steps, true
	}
	if s.Light && c.light.end != seedlog.Open {
		s.End, s.Solved = c.light.end, c.light.solved
	}
	if b := c.based; b != nil && b.past != nil {
		p := &b.past.chain
		s.Base, s.Folded, s.Lost = b.height, p.head.height, b.lost
		s.Mine.Evaluations, s.Mine.Steps = s.Mine.Evaluations+p.credits[c.self].Evaluations, s.Mine.Steps+p.credits[c.self].Steps
	}
	s.Peers = c.countPeers()
	return s
}
