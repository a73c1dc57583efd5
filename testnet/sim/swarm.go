package sim

import (
	"fmt"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/noise"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// Swarm is a simulation under way.
type Swarm struct {
	opts    Options
	rules   *seedlog.Rules
	checker *seedlog.Checker
	rng     noise.Stream
	nodes   []*node
	byPeer  map[coordinator.Peer]*node
	actors  []*Actor
	library library
	now     coordinator.Tick
	queue   queue
	passing bool // the events of this tick are over
	net     network
	calm    bool // no loss, no duplicates
	err     error
	world   *world // nil: fitness is synthetic
	folds   folds
	clock   func() int64 // of this computer, in nanoseconds; nil: what steps take is not measured
	lies    *lieBook     // nil: nobody lies in a run that learns

	online online
	Report Report
}

// Report counts what happened.
type Report struct {
	Height    uint64           // of the lowest honest native at the end
	Leaders   int              // changes of leadership that nodes noted
	Reorgs    int              // of honest nodes
	Deepest   uint64           // entries that one of them replaced
	Bans      int              // by honest nodes
	Doubles   int              // messages of honest nodes that show that a key signed twice
	Messages  int              // that arrived
	Entries   int              // signed and sent by honest leaders
	Claims    int              // in these
	Steps     int              // of all coordinators
	Recovered coordinator.Tick // from the end of trouble until every honest native had a new entry
}

// event is something that happens at a tick: to a node, to an adversary, or by script.
type event struct {
	node  *node
	life  int
	event coordinator.Event
	mail  *parcel // of messages

	do func() // of scripts, and of what happens inside a node
}

// queue holds what will happen, by tick; within a tick in the order in which it was pushed.
type queue map[coordinator.Tick][]event

func (s *Swarm) push(at coordinator.Tick, e event) {
	if s.passing {
		at = max(at, s.now+1)
	}
	at = max(at, s.now)
	s.queue[at] = append(s.queue[at], e)
}

// at has a script run when the tick begins.
func (s *Swarm) at(at coordinator.Tick, do func()) { s.push(at, event{do: do}) }

func (s *Swarm) below(n int) int { return int(s.rng.Uint64() % uint64(n)) }

// chance is true in share of 1024 cases.
func (s *Swarm) chance(share int) bool { return share > 0 && s.below(1024) < share }

// fail stops the run.
func (s *Swarm) fail(format string, args ...any) {
	if s.err == nil {
		s.err = fmt.Errorf("tick %d: %w", s.now, fmt.Errorf(format, args...))
	}
}

// trace tells a reader what happens.
func (s *Swarm) trace(format string, args ...any) {
	if s.opts.Trace != nil {
		s.opts.Trace(fmt.Sprintf("%5d  ", s.now) + fmt.Sprintf(format, args...))
	}
}

// run lets time pass until end. A node that nothing happened to in a tick is told that time passed.
func (s *Swarm) run(end coordinator.Tick) error {
	for ; s.now < end && s.err == nil; s.now++ {
		if s.now%keepEvery == 0 {
			s.keepLinks()
		}
		s.act()
		for i := 0; i < len(s.queue[s.now]) && s.err == nil; i++ {
			s.happen(s.queue[s.now][i])
		}
		delete(s.queue, s.now)
		s.passing = true
		for _, n := range s.nodes {
			if n.coord != nil && n.stepped != s.now {
				s.step(n, coordinator.Passed{})
			}
		}
		s.sample()
		s.passing = false
	}
	return s.err
}

// happen carries out an event, unless the node has lost power since.
func (s *Swarm) happen(e event) {
	switch {
	case e.node != nil && (e.node.coord == nil || e.node.lives != e.life):
	case e.do != nil:
		e.do()
	case e.mail != nil:
		s.take(e.node, e.mail)
	default:
		s.step(e.node, e.event)
	}
}

// step runs one event of a node and carries out the actions. A node that is busy saving, or stopped, takes the event
// later.
func (s *Swarm) step(n *node, e coordinator.Event) {
	if n.coord == nil || s.err != nil {
		return
	}
	if n.occupied(s.now) || len(n.held) > 0 && !n.releasing {
		n.hold(e)
		return
	}
	insider := n.insider(s.now)
	if insider != nil {
		var ok bool
		if e, ok = insider.Event(n.owner, n.index, e); !ok {
			e = coordinator.Passed{}
		}
	}
	n.stepped = s.now
	s.Report.Steps++
	a := s.time(n, e)
	s.watch(n, e, &a)
	if s.err != nil {
		return
	}
	if n.burn(1) {
		n.disk.tear(&a, s.below(len(a.Blocks)+1))
		s.powerDown(n)
		return
	}
	s.save(n, a)
}

// time has a coordinator take a step, and measures that where there is a clock.
func (s *Swarm) time(n *node, e coordinator.Event) coordinator.Actions {
	if s.clock == nil {
		return n.coord.Step(n.clock(s.now), e)
	}
	begun := s.clock()
	a := n.coord.Step(n.clock(s.now), e)
	n.spent += s.clock() - begun
	return a
}

// save makes durable what must be, then has the rest done. Nothing else happens to a node meanwhile.
func (s *Swarm) save(n *node, a coordinator.Actions) {
	if a.State == nil && len(a.Blocks) == 0 && a.Head == nil {
		s.perform(n, a)
		return
	}
	if s.now < n.disk.failsUntil {
		s.trace("node %d cannot save", n.index)
		n.disk.stuck = &a
		s.push(n.disk.failsUntil, event{node: n, life: n.lives, do: func() {
			if n.disk.stuck == &a { // still: nothing else is taken meanwhile
				n.disk.stuck = nil
				s.save(n, a)
				s.release(n)
			}
		}})
		return
	}
	took := n.disk.sync
	if s.now < n.disk.lagsUntil {
		took += n.disk.lag
	}
	if took == 0 {
		s.saved(n, a)
		return
	}
	n.disk.pending = &a
	n.busy = s.now + took
	s.finish(n, n.busy, func() {
		n.disk.pending = nil
		s.saved(n, a)
		s.release(n)
	})
}

// finish does what remains of a save, later if the node was stopped meanwhile.
func (s *Swarm) finish(n *node, at coordinator.Tick, do func()) {
	s.push(at, event{node: n, life: n.lives, do: func() {
		if s.now < n.busy {
			s.finish(n, n.busy, do)
			return
		}
		do()
	}})
}

func (s *Swarm) saved(n *node, a coordinator.Actions) {
	s.library.add(a.Blocks)
	if err := n.disk.save(&a); err != nil {
		s.fail("node %d: %w", n.index, err)
		return
	}
	s.perform(n, a)
}

// release hands over what was held back while a node was busy.
func (s *Swarm) release(n *node) {
	n.releasing = true
	for len(n.held) > 0 && n.coord != nil && !n.occupied(s.now) {
		e := n.held[0]
		n.held = n.held[1:]
		s.step(n, e)
	}
	n.releasing = false
}

// perform does what is left of actions that are durable.
func (s *Swarm) perform(n *node, a coordinator.Actions) {
	if insider := n.insider(s.now); insider != nil {
		a.Send = insider.Send(n.owner, n.index, a.Send)
	}
	for _, envelope := range a.Send {
		if s.post(n, envelope); n.burn(1) {
			s.powerDown(n)
		}
		if n.coord == nil || s.err != nil {
			return
		}
	}
	if a.Recall != nil {
		summary, _ := coordinator.Summaries{Rules: s.rules, Archive: n.disk}.Newest(a.Recall.Height)
		s.push(s.now+1, event{node: n, life: n.lives, do: func() { s.step(n, coordinator.Recalled{Summary: summary}) }})
	}
	if p := a.Pack; p != nil {
		s.push(s.now+1, event{node: n, life: n.lives, do: func() { s.step(n, p.Do()) }})
	}
	if u := a.Unpack; u != nil {
		s.push(s.now+1, event{node: n, life: n.lives, do: func() { s.step(n, u.Do(s.rules)) }})
	}
	if a.Fold != nil {
		s.fold(n, a.Fold)
	}
	for _, w := range a.Work {
		s.evaluateLater(n, w)
	}
	for _, id := range a.Cancel {
		n.cancel(id)
	}
	for _, p := range a.Ban {
		s.cutOff(n, p)
	}
}
