package sim

import (
	"fmt"
	"math"
	"slices"

	"github.com/evoswarm/evoswarm/coordinator"
)

// What a test may do to a swarm. Peers are named by index: natives first, then tabs.

// Run lets so many ticks pass. It returns the first broken invariant.
func (s *Swarm) Run(ticks coordinator.Tick) error { return s.run(s.now + ticks) }

// Until lets time pass until done, or for so many ticks at most. It returns how long it took.
func (s *Swarm) Until(ticks coordinator.Tick, done func() bool) (coordinator.Tick, error) {
	begun := s.now
	for !done() {
		if s.now-begun >= ticks {
			return s.now - begun, fmt.Errorf("%d ticks were not enough; heights %v", ticks, s.heights())
		}
		if err := s.run(s.now + 1); err != nil {
			return s.now - begun, err
		}
	}
	return s.now - begun, nil
}

// Now is the present tick.
func (s *Swarm) Now() coordinator.Tick { return s.now }

// Actor is the i-th adversary.
func (s *Swarm) Actor(i int) *Actor { return s.actors[i] }

// Kill takes the power from peers.
func (s *Swarm) Kill(peers ...int) {
	for _, i := range peers {
		s.powerDown(s.nodes[i])
	}
}

// KillAfter takes the power from a peer after so many more actions: each save and each message that it sends is one. If
// power goes at a save, a part of it is on disk.
func (s *Swarm) KillAfter(peer, actions int) { s.nodes[peer].fuse = max(actions, 1) }

// Start gives power to peers that have none.
func (s *Swarm) Start(peers ...int) {
	for _, i := range peers {
		if n := s.nodes[i]; n.coord == nil && s.err == nil {
			if err := s.powerUp(n); err != nil {
				s.fail("%w", err)
			}
		}
	}
}

// Stop freezes a peer for so many ticks: its clock runs, it does nothing.
func (s *Swarm) Stop(peer int, ticks coordinator.Tick) { s.stop(s.nodes[peer], ticks) }

// Split parts the peers: those of each group from all others. Who is in no group is in the first.
func (s *Swarm) Split(groups ...[]int) {
	for _, n := range s.nodes {
		n.group = 0
	}
	for g, list := range groups {
		for _, i := range list {
			s.nodes[i].group = g
		}
	}
	s.net.split = true
	s.trace("the network is split: %v", groups)
}

// Join heals the network between two groups of a partition.
func (s *Swarm) Join(a, b int) {
	for _, n := range s.nodes {
		if n.group == b {
			n.group = a
		}
	}
	s.trace("groups %d and %d meet", a, b)
}

// Heal ends partitions, one-way and flapping links.
func (s *Swarm) Heal() {
	s.net.split = false
	for i, n := range s.nodes {
		n.flap = flap{}
		clear(s.net.cut[i])
	}
	s.trace("the network is healed")
}

// Cut has nothing that some peers send reach some others. The other direction works.
func (s *Swarm) Cut(from, to []int) {
	for _, a := range from {
		for _, b := range to {
			s.net.cut[a][b] = a != b
		}
	}
	s.trace("what %v send does not reach %v", from, to)
}

// Flap has a peer's connections work for on ticks and fail for off ticks by turns, for so many ticks in all.
func (s *Swarm) Flap(peer int, on, off, ticks coordinator.Tick) {
	s.nodes[peer].flap = flap{on: on, off: off, from: s.now, until: s.now + ticks}
	s.trace("node %d flaps", peer)
}

// Loss has so many of 1024 messages be lost, and arrive twice.
func (s *Swarm) Loss(lost, twice int) { s.net.loss, s.net.duplicate = lost, twice }

// Delay has a hop take from least to most ticks.
func (s *Swarm) Delay(least, most int) { s.net.delayLeast, s.net.delayRange = least, most-least+1 }

// FailDisk has a peer's disk refuse to save for so many ticks: it is full, or read-only.
func (s *Swarm) FailDisk(peer int, ticks coordinator.Tick) {
	s.nodes[peer].disk.failsUntil = s.now + ticks
	s.trace("the disk of node %d fails", peer)
}

// LagDisk has each save of a peer take so much longer, for so many ticks.
func (s *Swarm) LagDisk(peer int, longer, ticks coordinator.Tick) {
	s.nodes[peer].disk.lag, s.nodes[peer].disk.lagsUntil = longer, s.now+ticks
	s.trace("the disk of node %d lags", peer)
}

// Rate changes how many evaluations a peer does in a tick.
func (s *Swarm) Rate(peer, evaluations int) { s.nodes[peer].rate = evaluations }

// Leader is the powered peer that leads the latest term; -1: none does.
func (s *Swarm) Leader() int {
	best, term := -1, uint64(0)
	for _, n := range s.nodes {
		if n.coord == nil {
			continue
		}
		if v := n.coord.Snapshot(); v.Role == coordinator.Leader && (best < 0 || v.Term > term) {
			best, term = n.index, v.Term
		}
	}
	return best
}

// Snapshot is what a powered peer says of itself.
func (s *Swarm) Snapshot(peer int) coordinator.Snapshot { return s.nodes[peer].coord.Snapshot() }

// Up reports whether a peer has power.
func (s *Swarm) Up(peer int) bool { return s.nodes[peer].coord != nil }

// Lowest and Highest are the heights of the honest natives that have power.
func (s *Swarm) Lowest() uint64 { return slices.Min(append(s.heights(), 1<<62)) % (1 << 62) }

// Highest is the height of the highest honest native that has power.
func (s *Swarm) Highest() uint64 { return slices.Max(append(s.heights(), 0)) }

// Sent counts what a peer sent in messages of a type, by its number on the wire: messages and bytes, gossip that it
// passed on included. Type 0 counts all.
func (s *Swarm) Sent(peer int, kind byte) (messages, bytes uint64) {
	t := &s.nodes[peer].traffic
	return total(t.sent, kind), total(t.out, kind)
}

// Got counts what reached a peer.
func (s *Swarm) Got(peer int, kind byte) (messages, bytes uint64) {
	t := &s.nodes[peer].traffic
	return total(t.got, kind), total(t.in, kind)
}

func total(list [32]uint64, kind byte) (sum uint64) {
	if kind > 0 {
		return list[kind]
	}
	for _, n := range list {
		sum += n
	}
	return sum
}

// Calm ends all trouble but that of adversaries: everybody has power, the network and disks work, nothing is lost.
func (s *Swarm) Calm() {
	s.calm = true
	s.Heal()
	for _, n := range s.nodes {
		n.disk.failsUntil, n.disk.lagsUntil, n.fuse, n.offline = min(n.disk.failsUntil, s.now), min(n.disk.lagsUntil, s.now), 0, 0
		if n.disk.stuck != nil {
			a := *n.disk.stuck
			n.disk.stuck = nil
			s.save(n, a)
			s.release(n)
		}
		s.Start(n.index)
	}
	s.net.delayLeast, s.net.delayRange = s.opts.DelayMin, s.opts.DelayMax-s.opts.DelayMin+1
}

// Settle is calm for so many ticks, and for as long as the swarm may need to heal if it does; then it checks that the
// swarm agrees, has lost nothing and grows.
func (s *Swarm) Settle(ticks coordinator.Tick) error {
	s.Calm()
	honest := s.honest()
	healed, begun := make([]uint64, len(honest)), s.now
	for i, n := range honest {
		healed[i] = n.coord.Snapshot().Height
	}
	s.Report.Recovered = math.MaxInt64
	limit := s.healingTime()
	for end := begun + ticks; s.now < end; {
		if err := s.run(min(s.now+5, end)); err != nil {
			return err
		}
		if s.Report.Recovered == math.MaxInt64 && s.grown(healed) {
			s.Report.Recovered = s.now - begun
		}
		if s.now == end && (s.Report.Recovered == math.MaxInt64 || s.checkSameHead() != nil) {
			end = max(end, min(end+5, begun+limit))
		}
	}
	if s.err != nil {
		return s.err
	}
	if s.Report.Recovered > max(limit, ticks) {
		return fmt.Errorf("I5: %d ticks after all was healed not every node has a new entry; at most %d are promised", s.now-begun, limit)
	}
	return s.check(healed)
}

// closes is how many ticks at least pass between entries in a local network.
const closes = 5

// healingTime is how long after all is healed a swarm may need until every honest native is on one chain and has a new
// entry: in a local network 10 s, as long as the slowest takes to fold the whole chain, if it was off, and as long as
// it takes to re-run it twice: it may have gone another way, and meanwhile the chain grows.
func (s *Swarm) healingTime() coordinator.Tick {
	limit := coordinator.Tick(200)
	if s.opts.WAN {
		limit = 1200
	}
	rate, evaluations := math.MaxInt, uint64(0)
	for _, n := range s.honest() {
		rate, evaluations = min(rate, n.rate), max(evaluations, n.coord.Snapshot().Evaluations)
	}
	folds := coordinator.Tick(int(s.Highest()) * s.opts.Fold * closes / max(closes-s.opts.Fold, 1))
	return limit + folds + coordinator.Tick(2*int(evaluations)*s.rules.Signs()/rate)
}

func (s *Swarm) grown(since []uint64) bool {
	for i, n := range s.honest() {
		if n.coord.Snapshot().Height <= since[i] {
			return false
		}
	}
	return true
}

// plan spreads the faults that a scenario's options name over its time. Each begins at a time of its own and ends
// within it.
func (s *Swarm) plan() {
	o := &s.opts
	natives := make([]int, 0, o.Natives)
	for _, n := range s.nodes {
		if n.hub() {
			natives = append(natives, n.index)
		}
	}
	any := func() int { return s.below(len(s.nodes)) }
	native := func() int { return natives[s.below(len(natives))] }
	for range o.Partitions {
		s.between(func() { s.divide() }, func() { s.net.split = false; s.trace("the partition is over") })
	}
	for range o.Crashes {
		var down []int
		s.between(func() { down = s.crash() }, func() { s.Start(down...) })
	}
	for range o.OneWay {
		a, b := native(), any()
		s.between(func() {
			if s.below(2) == 0 {
				s.Cut([]int{a}, natives)
			} else {
				s.Cut([]int{a}, []int{b})
			}
		}, func() { clear(s.net.cut[a]) })
	}
	for range o.Flaps {
		a, on, off := any(), coordinator.Tick(1+s.below(40)), coordinator.Tick(1+s.below(40))
		s.between(func() { s.Flap(a, on, off, o.Ticks/4) }, func() {})
	}
	for range o.Disks {
		a, lag, fails := any(), coordinator.Tick(1+s.below(30)), s.below(2) == 0
		s.between(func() {
			if fails {
				s.FailDisk(a, o.Ticks/4)
			} else {
				s.LagDisk(a, lag, o.Ticks/4)
			}
		}, func() {})
	}
	for range o.Stops {
		a, ticks := any(), coordinator.Tick(1+s.below(200))
		s.between(func() { s.Stop(a, ticks) }, func() {})
	}
	if o.Churn > 0 {
		for _, n := range s.nodes {
			s.session(n)
		}
	}
	for i := range min(o.Joins, len(natives)-1) { // the last natives come later, all at once
		n := s.nodes[natives[len(natives)-1-i]]
		s.powerDown(n)
		s.at(s.now+o.Ticks/2, func() { s.Start(n.index) })
	}
}

// between has a fault begin and end at some time of the trouble.
func (s *Swarm) between(begin, end func()) {
	length := max(int(s.opts.Ticks), 4)
	from := s.below(length * 3 / 4)
	s.at(s.now+coordinator.Tick(from), begin)
	s.at(s.now+coordinator.Tick(from+1+s.below(length/4)), end)
}

// session has a node come and go while there is trouble. How long it stays has a heavy tail: half of the sessions are
// shorter than twice the least, one in a hundred is a hundred times as long.
func (s *Swarm) session(n *node) {
	stay := coordinator.Tick(s.opts.Churn * 1024 / (1 + s.below(1024)))
	away := coordinator.Tick(1 + s.below(s.opts.Churn))
	if s.now+stay+away >= s.opts.Ticks {
		return
	}
	s.at(s.now+stay, func() { s.Kill(n.index) })
	s.at(s.now+stay+away, func() {
		s.Start(n.index)
		s.session(n)
	})
}

// crash takes the power from some nodes, of the leader first if the scenario says so. Some lose it in the middle of a
// step.
func (s *Swarm) crash() []int {
	var down []int
	victim := s.below(len(s.nodes))
	if leader := s.Leader(); s.opts.KillLeader && leader >= 0 {
		victim = leader
	}
	for range 1 + s.below(max(s.opts.Down, 1)) {
		down = append(down, victim)
		if s.below(2) == 0 {
			s.KillAfter(victim, 1+s.below(8))
		} else {
			s.Kill(victim)
		}
		victim = s.below(len(s.nodes))
	}
	return down
}

// divide splits the swarm at random, in two or three parts, of which two may meet before all do.
func (s *Swarm) divide() {
	parts := 2 + s.below(2)
	groups := make([][]int, parts)
	for _, n := range s.nodes {
		g := s.below(parts)
		groups[g] = append(groups[g], n.index)
	}
	s.Split(groups...)
	if parts > 2 && s.below(2) == 0 {
		s.at(s.now+coordinator.Tick(1+s.below(max(int(s.opts.Ticks)/8, 1))), func() { s.Join(1, 2) })
	}
}
