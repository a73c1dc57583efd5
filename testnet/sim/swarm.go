package sim

import (
	"container/heap"
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
	now     coordinator.Tick
	queue   queue
	seq     uint64
	side    []bool // by native: which half of a partition it is in
	split   bool
	calm    bool
	err     error

	acknowledged map[seedlog.Link]bool // entries that honest leaders sent out
	Report       Report
}

// Report counts what happened.
type Report struct {
	Height   uint64 // of the lowest honest native at the end
	Leaders  int    // changes of leadership that nodes noted
	Reorgs   int
	Bans     int
	Messages int
	Entries  int // signed and sent by honest leaders
}

// event is something that happens to a node at a time.
type event struct {
	at    coordinator.Tick
	seq   uint64
	node  int
	life  int
	event coordinator.Event
}

type queue []event

func (q queue) Len() int { return len(q) }
func (q queue) Less(i, j int) bool {
	return q[i].at < q[j].at || (q[i].at == q[j].at && q[i].seq < q[j].seq)
}
func (q queue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)   { *q = append(*q, x.(event)) }
func (q *queue) Pop() any {
	last := len(*q) - 1
	e := (*q)[last]
	*q = (*q)[:last]
	return e
}

func (s *Swarm) below(n int) int { return int(s.rng.Uint64() % uint64(n)) }

// chance is true in share of 1024 cases.
func (s *Swarm) chance(share int) bool { return s.below(1024) < share }

// linked reports whether two nodes hold a connection when nothing is broken.
func (s *Swarm) linked(a, b *node) bool {
	switch {
	case a.kind == coordinator.Tab && b.kind == coordinator.Tab:
		return false
	case a.kind == coordinator.Tab:
		return a.hub == b.index
	case b.kind == coordinator.Tab:
		return b.hub == a.index
	}
	return true
}

// reachable reports whether the partition of the moment lets a message through. A tab is where its hub is.
func (s *Swarm) reachable(a, b *node) bool {
	if s.now < max(a.offline, b.offline) {
		return false
	}
	return !s.split || s.side[s.place(a)] == s.side[s.place(b)]
}

func (s *Swarm) place(n *node) int {
	if n.kind == coordinator.Tab {
		return n.hub
	}
	return n.index
}

// step runs one event of a node and carries out the actions.
func (s *Swarm) step(n *node, e coordinator.Event) {
	if n.coord == nil || s.err != nil {
		return
	}
	a := n.coord.Step(s.now, e)
	if err := n.disk.save(a); err != nil {
		s.err = fmt.Errorf("tick %d, node %d: %w", s.now, n.index, err)
		return
	}
	for _, note := range a.Notes {
		switch note.Kind {
		case coordinator.NoteLeader:
			s.Report.Leaders++
		case coordinator.NoteReorg:
			s.Report.Reorgs++
		case coordinator.NoteBan:
			s.Report.Bans++
			s.checkBan(n, note)
		}
	}
	for _, envelope := range a.Send {
		s.post(n, envelope)
	}
	for _, id := range a.Cancel {
		delete(n.work, id)
	}
	for _, w := range a.Work {
		n.work[w.ID] = true
		s.push(event{at: s.now + n.speed, node: n.index, life: n.lives,
			event: coordinator.Evaluated{ID: w.ID, Results: s.evaluate(w.Task, n.faulty && !w.Urgent)}})
	}
	if f := a.Fold; f != nil {
		task, err := f.Task(s.rules, n.disk, nil)
		if err != nil {
			s.err = fmt.Errorf("tick %d, node %d: %w", s.now, n.index, err)
			return
		}
		n.work[f.ID] = true
		s.push(event{at: s.now + n.fold*coordinator.Tick(len(f.Entries)), node: n.index, life: n.lives,
			event: f.Answer(s.rules, s.rules.Plan.Fold(task))})
	}
}

// checkBan fails the run when an honest node cuts off another honest one.
func (s *Swarm) checkBan(by *node, note coordinator.Note) {
	for _, n := range s.nodes {
		if n.peer == note.Peer && !n.faulty && !by.faulty && s.err == nil {
			s.err = fmt.Errorf("tick %d: node %d cut off the honest node %d: %s", s.now, by.index, n.index, note.Text)
		}
	}
}

// post sends a message to those whom it is for.
func (s *Swarm) post(from *node, envelope coordinator.Envelope) {
	if m, ok := envelope.Message.(*coordinator.Announce); ok && !from.faulty {
		s.acknowledged[seedlog.LinkOf(m.Entry)] = true
		s.Report.Entries++
	}
	data := coordinator.EncodeMessage(envelope.Message)
	checked, err := s.read(data)
	if err != nil {
		s.err = fmt.Errorf("tick %d: node %d sent %T: %w", s.now, from.index, envelope.Message, err)
		return
	}
	for _, to := range s.nodes {
		switch {
		case to == from || to.coord == nil || !s.reachable(from, to):
		case envelope.Scope == coordinator.Direct && to.peer == envelope.To:
			s.deliver(from, from, to, checked)
		case envelope.Scope == coordinator.Hubs && s.linked(from, to):
			s.deliver(from, from, to, checked)
		case envelope.Scope == coordinator.Gossip:
			via := from
			if to.kind == coordinator.Tab {
				if via = s.nodes[to.hub]; via.coord == nil {
					continue
				}
			}
			s.deliver(from, via, to, checked)
		}
	}
}

// read checks a message as its receivers do, but once for all of them.
func (s *Swarm) read(data []byte) (coordinator.Checked, error) {
	message, err := coordinator.DecodeMessage(data)
	if err != nil {
		return coordinator.Checked{}, err
	}
	return coordinator.Check(s.checker, message, nil)
}

func (s *Swarm) deliver(from, via, to *node, message coordinator.Checked) {
	times := 1
	if !s.calm {
		if s.chance(s.opts.Loss) {
			return
		}
		if s.chance(s.opts.Duplicate) {
			times = 2
		}
	}
	for range times {
		s.Report.Messages++
		delay := s.opts.DelayMin + s.below(s.opts.DelayMax-s.opts.DelayMin+1)
		s.push(event{at: s.now + coordinator.Tick(delay), node: to.index, life: to.lives,
			event: coordinator.Received{From: from.peer, Via: via.peer, Message: message}})
	}
}

// workID is what an answer answers.
func workID(e coordinator.Event) (id uint64, ok bool) {
	switch e := e.(type) {
	case coordinator.Evaluated:
		return e.ID, true
	case coordinator.Folded:
		return e.ID, true
	}
	return 0, false
}

func (s *Swarm) push(e event) {
	s.seq++
	e.seq = s.seq
	heap.Push(&s.queue, e)
}

// run lets time pass until end.
func (s *Swarm) run(end coordinator.Tick) error {
	for ; s.now < end && s.err == nil; s.now++ {
		for _, n := range s.nodes {
			s.step(n, coordinator.Passed{})
		}
		for len(s.queue) > 0 && s.queue[0].at <= s.now {
			e := heap.Pop(&s.queue).(event)
			n := s.nodes[e.node]
			if n.lives != e.life || n.coord == nil {
				continue
			}
			if id, ok := workID(e.event); ok {
				if !n.work[id] {
					continue // canceled
				}
				delete(n.work, id)
			}
			s.step(n, e.event)
		}
	}
	return s.err
}
