package coordinator

import (
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// Event is one thing that happened. Time passes with every event; a Passed event carries nothing else.
type Event interface{ event() }

// Passed says that time has passed.
type Passed struct{}

// Received is a message from another peer.
type Received struct {
	From    Peer   // who wrote it (authenticated by the transport or by the gossip's signature)
	Via     Peer   // who handed it over: From itself on a direct stream, a neighbor for gossip
	Source  string // names the block of addresses of Via; empty: not known
	Message Checked
}

// Invalid says that a message was refused by [Check]. Its sender is banned.
type Invalid struct {
	From Peer
	Err  error
}

// Evaluated is the answer to a Work. Failed work is asked for again.
type Evaluated struct {
	ID      uint64
	Results []rollout.CandidateResult
	Returns []float64 // of a Test, by episode; none: this peer cannot run it
	Failed  bool
}

// Promising says that the state of an entry did as well in held-out episodes as counts for solved.
type Promising struct{ Head seedlog.Link }

// Folded is the answer to a Fold, made by [Fold.Answer]. A failed fold is asked for again.
type Folded struct {
	ID       uint64
	Steps    []rollout.Folded    // one per entry; the last has its state
	Decisive [][]seedlog.Counter // by entry: the results that decided it
	Failed   bool
	carried  []byte // the last state, encoded, where a leader asked for it

	influence [][]float64 // by entry: how much its results move the model, where that was asked for
}

// Linked says that there is a direct connection to a peer.
type Linked struct {
	Peer Peer
	Tab  bool // browsers connect it: it is no hub, whatever it says
}

// Unlinked says that the last direct connection to a peer is gone.
type Unlinked struct{ Peer Peer }

// Recalled is the answer to a Recall: the newest good summary; nil: there is none.
type Recalled struct{ Summary *Summary }

// Packed is the answer to a Pack.
type Packed struct {
	on    *node
	data  []byte // the encoded state; nil: it cannot be
	parts []byte // digests of its parts
}

// Unpacked is the answer to an Unpack: the state; nil: Err says why it is of no use.
type Unpacked struct {
	Height uint64
	State  *evolve.State
	Err    error
	blocks []seedlog.RawBlock
}

// SetPaused stops or restarts own work. Re-runs that the protocol requires continue.
type SetPaused struct{ Paused bool }

// SetSlots changes how many chunks may be under evaluation at once.
type SetSlots struct{ Slots int }

// Retire says that this peer is about to stop: it hands over and says goodbye.
type Retire struct{}

func (Passed) event()    {}
func (Received) event()  {}
func (Invalid) event()   {}
func (Evaluated) event() {}
func (Folded) event()    {}
func (Linked) event()    {}
func (Unlinked) event()  {}
func (Recalled) event()  {}
func (Packed) event()    {}
func (Unpacked) event()  {}
func (Promising) event() {}
func (SetPaused) event() {}
func (SetSlots) event()  {}
func (Retire) event()    {}
