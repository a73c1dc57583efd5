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
	Ahead       uint64        // while Syncing: height of the entry whose state it works on meanwhile; 0: none
	AheadState  *evolve.State // that state; nil: none. Shared and read-only
	Base        uint64        // height that the chain begins at, as hubs gave it; 0: the genesis, or it was verified
	Folded      uint64        // with a Base: height up to which the run was folded from the genesis on
	End         seedlog.End   // what ended the run; Open: it continues
	Solved      uint64        // height of the state that passed the test and ended the run, which State is then; 0: none
	Testing     bool          // this peer has not seen yet whether that is true
	Ready       bool          // has heard somebody or leads: own work counts
	Paused      bool
	Reorgs      uint64 // how often entries were replaced since the start
	Reorg       Reorg  // the last time
	Untrusted   bool   // the run trusts other keys: what this peer computes does not count
}
