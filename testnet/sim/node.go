package sim

import (
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// node is one peer: a coordinator while it has power, its disk, its evaluator, and its place in the network.
type node struct {
	index  int
	key    ed25519.PrivateKey
	peer   coordinator.Peer
	kind   coordinator.Kind
	faulty bool             // inflates its own results, also when it leads, and checks nothing
	owner  *Actor           // the adversary that owns it; nil: none
	speed  coordinator.Tick // what an evaluation of its own takes longer than its capacity says
	rate   int              // evaluations per tick that it has capacity for; where it learns, nanoseconds of env-steps
	fold   coordinator.Tick // that folding an entry takes
	skew   coordinator.Tick // of its clock
	drift  int              // of its clock, in 1/1024

	offline  coordinator.Tick // until when nothing reaches it or leaves it
	flap     flap
	group    int // side of a partition
	place    [2]int
	hubs     []*node // links to hubs, by index
	leaves   []*node // links to leaves, by index
	visiting *node   // the hub that it explores
	begun    []*node // links to tabs that this one began
	fan      []*node // of hubs those that gossip is passed on to at once
	traffic  traffic
	spent    int64                      // nanoseconds of this computer that its coordinator took, where there is a clock
	up       int                        // from when its uplink is free, in 1/1024 ticks
	streams  map[*node]coordinator.Tick // when the last message to a node arrives: those of two nodes keep their order
	visits   map[*node]coordinator.Tick // nodes that it is connected with, since one of the two dialed the other, and when that was used last

	disk      *disk
	coord     *coordinator.Coordinator // nil: no power
	lives     int                      // power-ups so far; what is under way to an earlier life is lost
	stepped   coordinator.Tick         // when something happened last
	busy      coordinator.Tick         // until when it saves, or is stopped
	held      []coordinator.Event      // that wait for that
	releasing bool                     // whether they are being handed over
	fuse      int                      // actions until it loses power; 0: does not
	banned    map[coordinator.Peer]bool
	checks    checks
	work      evaluator
}

// flap is a link that is up and down by turns.
type flap struct{ on, off, from, until coordinator.Tick }

func (s *Swarm) newNode(i int, kind coordinator.Kind) *node {
	seed := sha256.Sum256(fmt.Appendf(nil, "evoswarm/sim/key %d %d", s.opts.Seed, i))
	key := ed25519.NewKeyFromSeed(seed[:])
	n := &node{index: i, key: key, peer: seedlog.PeerOf(key), kind: kind, disk: newDisk(), skew: coordinator.Tick(s.below(1 << 16))}
	n.place = [2]int{s.below(1024), s.below(1024)}
	n.drift = s.below(2*maxDrift+1) - maxDrift
	if s.opts.Fold > 0 {
		n.fold = coordinator.Tick(s.below(s.opts.Fold + 1))
	}
	if s.opts.Sync > 0 {
		n.disk.sync = coordinator.Tick(s.below(s.opts.Sync + 1))
	}
	switch {
	case s.opts.Learning != nil:
		n.rate = tickNS
		if speeds := s.opts.Learning.Speeds; len(speeds) > 0 && kind != coordinator.Tab {
			n.rate = int(tickNS * speeds[i%len(speeds)])
		}
	case s.opts.Rate > 0:
		n.rate = s.opts.Rate
	default:
		n.rate = 4 << s.below(4)
	}
	if kind == coordinator.Tab {
		n.rate = max(n.rate/4, 1)
	}
	return n
}

// maxDrift is how far clocks may run from the true time, in 1/1024.
const maxDrift = 8

// clock is what a node's monotonic clock says.
func (n *node) clock(now coordinator.Tick) coordinator.Tick {
	return n.skew + now + coordinator.Tick(int(now)*n.drift/1024)
}

// honest reports whether a node keeps the protocol.
func (n *node) honest() bool { return !n.faulty && n.owner == nil }

// insider is the adversary that owns a node, or nil if none does or its attack is over.
func (n *node) insider(now coordinator.Tick) Insider {
	if n.owner == nil || n.owner.attack.Until > 0 && now >= n.owner.attack.Until {
		return nil
	}
	return n.owner.adversary.(Insider)
}

// occupied reports whether a node is stopped, or saves.
func (n *node) occupied(now coordinator.Tick) bool {
	return now < n.busy || n.disk.stuck != nil || n.disk.pending != nil
}

// hold keeps an event for later. A peer whose disk is stuck drops what others repeat.
func (n *node) hold(e coordinator.Event) {
	switch e.(type) {
	case coordinator.Passed:
		return
	case coordinator.Received, coordinator.Invalid, coordinator.Retire:
		if n.disk.stuck != nil {
			return
		}
	}
	n.held = append(n.held, e)
}

// burn takes so many actions from a fuse, and reports whether it ended.
func (n *node) burn(actions int) bool {
	if n.fuse == 0 {
		return false
	}
	n.fuse -= min(actions, n.fuse)
	return n.fuse == 0
}

// powerUp starts the coordinator from what the disk holds.
func (s *Swarm) powerUp(n *node) error {
	decisive, audit := 2, 32
	if n.kind == coordinator.Tab || n.faulty {
		decisive, audit = 0, 0
	}
	timing := coordinator.LAN()
	if s.opts.WAN {
		timing = coordinator.WAN()
	}
	height := uint64(len(n.disk.chain))
	summary, _ := coordinator.Summaries{Rules: s.rules, Archive: n.disk}.Newest(height)
	base, err := coordinator.Summaries{Rules: s.rules, Archive: n.disk}.Base(n.disk.state)
	if err != nil {
		return fmt.Errorf("node %d: %w", n.index, err)
	}
	c, err := coordinator.New(coordinator.Config{
		Rules: s.rules, Key: n.key, Kind: n.kind, Hub: n.kind == coordinator.Native, Timing: timing, Archive: n.disk,
		Seed: s.rng.Uint64(), Slots: 2, Decisive: decisive, Audit: audit, Mandate: s.opts.Mandate, Download: uint64(s.opts.Download),
		State: n.disk.state, Height: height, Summary: summary, Base: base,
	})
	if err != nil {
		return fmt.Errorf("node %d: %w", n.index, err)
	}
	s.online.weights[n.index] = c.Snapshot().Weight // what was not saved is lost
	n.coord, n.banned, n.checks, n.work = c, make(map[coordinator.Peer]bool), checks{}, evaluator{tasks: make(map[uint64]*task)}
	n.busy, n.held, n.releasing, n.fuse, n.up, n.streams, n.visits = 0, nil, false, 0, 0, nil, nil
	n.disk.stuck, n.disk.pending = nil, nil
	n.lives++
	s.online.weights[n.index] = c.Snapshot().Weight // a head that was never saved is gone
	s.trace("node %d has power, at height %d", n.index, len(n.disk.chain))
	s.dialHubs(n)
	return nil
}

// powerDown takes the power away: what was not saved is lost, and what was being saved may be.
func (s *Swarm) powerDown(n *node) {
	if n.coord == nil {
		return
	}
	s.trace("node %d loses power", n.index)
	if a := n.disk.pending; a != nil {
		if s.below(2) == 0 {
			n.disk.tear(a, s.below(len(a.Blocks)+1))
		} else if err := n.disk.save(a); err != nil {
			s.fail("node %d: %w", n.index, err)
		}
		n.disk.pending = nil
	}
	n.coord = nil
	for _, other := range n.neighbors() {
		s.unlink(n, other)
	}
	for _, a := range s.actors {
		a.lost(n)
	}
}

// stop freezes a node for so many ticks, as a signal or a laptop's lid does: its clock runs, it does nothing.
func (s *Swarm) stop(n *node, ticks coordinator.Tick) {
	if n.coord == nil {
		return
	}
	s.trace("node %d is stopped for %d ticks", n.index, ticks)
	n.busy = max(n.busy, s.now+ticks)
	s.push(n.busy, event{node: n, life: n.lives, do: func() { s.release(n) }})
}
