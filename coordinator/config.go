package coordinator

import (
	"crypto/ed25519"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// Tick counts protocol time. What a tick lasts is the driver's choice; the profiles below are written for 50 ms.
type Tick uint64

// Peer is a peer's Ed25519 public key.
type Peer = seedlog.Peer

// Kind says what a peer is good for.
type Kind uint64

const (
	// Native is a process on a computer: it checks, keeps, votes and leads.
	Native Kind = iota
	// Tab is a browser tab: it evaluates; it votes and leads only where no native is left.
	Tab
)

// Timing holds the protocol's durations, all in ticks.
type Timing struct {
	Heartbeat  Tick // between two status messages of one peer
	Election   Tick // silence of the leader after which the first in rank campaigns
	Rank       Tick // added per rank, so that votes rarely split
	Unheard    Tick // silence after which a peer no longer counts for a quorum
	Patience   Tick // after a start or a restart: how long to listen before campaigning, unless the run is new and ours
	Generation Tick // least time between two entries of a leader, where the spec does not say it
	Pull       Tick // how long to wait for an answer before asking somebody else
}

// LAN replaces a dead leader in under 2 s (ticks of 50 ms).
func LAN() Timing {
	return Timing{Heartbeat: 4, Election: 12, Rank: 4, Unheard: 20, Patience: 40, Generation: 5, Pull: 20}
}

// WAN replaces a dead leader in under 15 s (ticks of 50 ms).
func WAN() Timing {
	return Timing{Heartbeat: 20, Election: 80, Rank: 20, Unheard: 160, Patience: 200, Generation: 5, Pull: 100}
}

// tickMS is what a tick of the profiles lasts, in milliseconds.
const tickMS = 50

// lasts is how long the generation above the head lasts at least.
func (c *Coordinator) lasts() Tick { return c.lastsAfter(c.chain.head) }

// lastsAfter is how long the generation above an entry lasts at least.
func (c *Coordinator) lastsAfter(n *node) Tick {
	ms := c.rules.Duration(seedlog.Parent{Duration: n.duration})
	if ms == 0 {
		return c.cfg.Timing.Generation
	}
	return max(Tick(ms/tickMS), 1)
}

// Archive looks up what Actions asked to keep, and what was there at the start. What was saved is found from the next
// Step on.
type Archive interface {
	// Block returns a block.
	Block(seedlog.Link) ([]byte, bool)
	// First is the height of the lowest canonical entry that is kept: 1, unless older ones were dropped.
	First() uint64
	// At returns the canonical entry of a height from First on and its seal, as Actions.Head moved them.
	At(height uint64) (entry, seal seedlog.Link, ok bool)
	// Height returns the height of a canonical entry.
	Height(entry seedlog.Link) (height uint64, ok bool)
	// Summary returns the newest of the summaries kept, by Actions.Summary, whose height is at most the one given, as
	// Summary.Encode made it. It may be of another branch, or damaged.
	Summary(most uint64) (height uint64, data []byte, ok bool)
}

// Config is what a coordinator is made of.
type Config struct {
	Rules   *seedlog.Rules
	Key     ed25519.PrivateKey
	Kind    Kind
	Hub     bool // whether others can dial this peer; leaves give their claims to hubs instead of announcing them
	Timing  Timing
	Archive Archive

	// Seed is local and secret: it draws timeouts and audits.
	Seed uint64
	// Slots is how many chunks may be under evaluation at once, own work and re-runs each. At least 1.
	Slots int
	// Decisive is how many results of an entry are re-run before following it; 0 for tabs, which compute
	// nothing themselves.
	Decisive int
	// Audit is how many of 1024 claims of an entry are re-run after following it. 1024 re-runs every claim.
	Audit int
	// Download is how many bytes a second a tab that is no hub spends on the run at most where hubs give it states, so
	// that it need not have all claims; 0 means 16 KiB.
	Download uint64
	// Mandate is how many entries a leader may append before it hands over; 0 means 20.
	Mandate uint64
	// Paused starts without own work.
	Paused bool

	// State is what Actions.State asked to keep last; empty on a first start.
	State []byte
	// Height is that of the newest canonical entry in Archive.
	Height uint64
	// Summary is where to begin, as [Summaries] read it; nil: at the genesis, which takes time with the length of the
	// chain.
	Summary *Summary
	// Base is where a chain begins that does not at the genesis, as [Summaries.Base] read it from State; nil: it does.
	Base *KeptBase
}
