package coordinator

import (
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// Actions is what the driver has to do, in the order of the fields. State, Blocks and Head must be durable (fsynced;
// in a tab, committed with strict durability) BEFORE anything in Send leaves, so that a crash loses nothing that others
// have seen. Summary may be kept later, or not at all.
type Actions struct {
	State  []byte             // hard state to keep instead of the last; nil: unchanged
	Blocks []seedlog.RawBlock // blocks to keep permanently
	Head   *HeadMove          // the canonical chain of the archive changed; nil: unchanged
	Front  *HeadMove          // the chain changed that this peer goes by, of which the archive has blocks only; nil: unchanged
	Send   []Envelope         // messages, in order
	Fold   *Fold              // generations to fold; nil: none
	Work   []Work             // evaluations to start; urgent ones first
	Cancel []uint64           // work and folds whose answer no longer matters
	Ban    []Peer             // peers to cut off
	Notes  []Note             // messages for a person
	Tested *Tested            // the test of a state that this peer ran; nil: none

	Summary *Summary // for the archive, to restart from; nil: none
	Recall  *Recall  // a summary to read; nil: none
	Pack    *Pack    // a state to encode for others; nil: none
	Unpack  *Unpack  // a state of another peer to read; nil: none
}

// HeadMove says how the canonical chain changed: entries above Fork are replaced by Entries.
type HeadMove struct {
	Fork    uint64         // height of the last common entry
	Entries []seedlog.Link // of heights Fork+1, Fork+2, ...
	Seals   []seedlog.Link // of Entries, in the same order
	State   *evolve.State  // of the new head; nil: not folded yet. Read-only
	Past    bool           // this peer goes by another chain, which begins above: see Actions.Front
}

// Scope says whom a message is for.
type Scope uint8

const (
	// Direct messages go to one peer over a stream.
	Direct Scope = iota
	// Gossip messages go to everybody.
	Gossip
	// Hubs messages go over streams to every hub that this leaf is linked to.
	Hubs
)

// Envelope is a message on its way.
type Envelope struct {
	Scope   Scope
	To      Peer // for Direct
	Over    Peer // for Direct: the hub that carries it where there is no link; zero: the one that is known
	Message Message
}

// Work asks for evaluations; the answer is an Evaluated event with the same ID.
type Work struct {
	ID     uint64
	Task   rollout.Task
	Test   []uint64 // seeds of episodes for the mean policy of Task.State, in place of Task; nil: none
	Urgent bool     // a re-run that others wait for
}

// Tested is what the test of the state after a canonical entry gave.
type Tested struct {
	Head               seedlog.Link
	Height             uint64
	Evaluations, Steps uint64        // of the run's claims up to there
	State              *evolve.State // read-only
	Mean               float64       // return
}

// NoteKind classifies a Note.
type NoteKind string

// The kinds of notes.
const (
	NoteLeader NoteKind = "leader" // the leader changed
	NoteReorg  NoteKind = "reorg"  // the canonical chain changed below its tip
	NoteFalse  NoteKind = "false"  // a claim was found false
	NoteBan    NoteKind = "ban"    // a peer was cut off
	NoteBad    NoteKind = "bad"    // a peer sent something invalid
	NoteSync   NoteKind = "sync"   // catching up
	NoteFold   NoteKind = "fold"   // folding failed here
	NoteSolved NoteKind = "solved" // a state passed the test
)

// Note tells a person what happened.
type Note struct {
	Kind NoteKind
	Peer Peer
	Text string
}

func (a *Actions) send(scope Scope, to Peer, m Message) {
	a.Send = append(a.Send, Envelope{Scope: scope, To: to, Message: m})
}

// sendOver sends a message to one peer, over a hub if that is not zero.
func (a *Actions) sendOver(hub, to Peer, m Message) {
	a.Send = append(a.Send, Envelope{Scope: Direct, To: to, Over: hub, Message: m})
}

func (a *Actions) note(kind NoteKind, peer Peer, text string) {
	a.Notes = append(a.Notes, Note{kind, peer, text})
}
