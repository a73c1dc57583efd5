package peer

import (
	"errors"
	"fmt"
	"time"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/mesh"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/internal/store"
)

// failedWork is how long a failed evaluation waits before it is asked for again.
const failedWork = time.Second

// driver is what only the loop touches.
type driver struct {
	coord    *coordinator.Coordinator
	snapshot coordinator.Snapshot
	dirty    bool           // the status may have changed
	work     map[uint64]int // evaluations under way: work id to their number
	slots    int            // chunks that the evaluator takes at once, as far as the coordinator knows
	meters   meters
	heldOut  heldOut
	pace     pace // of folds
	foldedAt time.Time
	roster   *Roster // the newest that was asked for; nil: none
	rosterAt time.Time
	deaf     bool   // whether the mesh brings no gossip about entries
	taken    uint64 // height of the newest state that was shown while that is so

	cutting bool // whether a part of the store is being copied

	stuck *stuck
}

// stuck is a store that cannot be written. Nothing leaves before it is saved, so this peer stops taking part.
type stuck struct {
	err     error
	actions coordinator.Actions // to be saved, then acted on
	held    []coordinator.Event // that must not be lost
	retryAt time.Time
}

// loop owns the coordinator until the peer stops.
func (p *Peer) loop() {
	ticker := time.NewTicker(p.cfg.Tick)
	defer ticker.Stop()
	var events <-chan mesh.Event
	if p.cfg.Mesh != nil {
		events = p.cfg.Mesh.Events()
	}
	p.driver.heldOut.due = !p.onCurve(p.driver.snapshot.Height) // of what the store held
	p.startEvaluation()
	for p.ctx.Err() == nil {
		select {
		case <-p.ctx.Done():
		case <-p.inbox.wake:
			for _, f := range p.inbox.take() {
				f()
			}
		case e, open := <-events:
			if !open {
				events = nil // the mesh was closed: continue alone
				continue
			}
			p.onMesh(e)
		case <-ticker.C:
			p.retry()
			p.offer()
			p.step(coordinator.Passed{})
			p.tidy()
			p.cut()
		}
		p.publish(false)
	}
	err := p.release()
	if p.driver.stuck != nil {
		err = errors.Join(p.driver.stuck.err, err)
	}
	p.mu.Lock()
	p.err = err
	for w := range p.watchers {
		close(w)
	}
	p.watchers = nil
	p.mu.Unlock()
	close(p.done)
}

// offer tells the coordinator how many chunks the evaluator takes at once, which changes as devices are measured.
func (p *Peer) offer() {
	if n := p.slots(); n != p.driver.slots && p.driver.stuck == nil {
		p.driver.slots = n
		p.step(coordinator.SetSlots{Slots: n})
	}
}

func (p *Peer) onMesh(e mesh.Event) {
	switch e := e.(type) {
	case mesh.Linked:
		p.step(coordinator.Linked{Peer: e.Peer, Tab: e.Tab})
	case mesh.Unlinked:
		p.step(coordinator.Unlinked{Peer: e.Peer})
	case mesh.Received:
		p.receive(e)
	}
}

func (p *Peer) now() coordinator.Tick {
	return coordinator.Tick(time.Since(p.started) / p.cfg.Tick)
}

// step tells the coordinator what happened and does what it asks for.
func (p *Peer) step(e coordinator.Event) {
	d := &p.driver
	if d.stuck != nil {
		switch e.(type) {
		case coordinator.Passed, coordinator.Received, coordinator.Invalid, coordinator.Retire: // time passes by itself, and others repeat what matters
		default:
			d.stuck.held = append(d.stuck.held, e)
		}
		return
	}
	if _, passed := e.(coordinator.Passed); !passed {
		d.dirty = true
	}
	p.act(d.coord.Step(p.now(), e))
	p.hearEntries()
}

// hearEntries has the mesh bring gossip about new entries as long as the coordinator needs that.
func (p *Peer) hearEntries() {
	d := &p.driver
	if deaf := !d.coord.HearsEntries(); deaf != d.deaf && p.cfg.Mesh != nil {
		d.deaf = deaf
		if err := p.cfg.Mesh.HearEntries(!deaf); err != nil {
			p.log.Error("gossip about entries", "err", err)
		}
	}
}

// act makes durable what must be, then does the rest.
func (p *Peer) act(a coordinator.Actions) {
	if err := p.save(a); err != nil {
		p.driver.stuck = &stuck{err: err, actions: a, retryAt: time.Now().Add(p.cfg.Retry)}
		p.driver.dirty = true
		p.log.Error("cannot persist state; leadership and work are suspended until the store recovers", "err", err)
		return
	}
	p.perform(a)
}

// perform does what is left of actions that are durable.
func (p *Peer) perform(a coordinator.Actions) {
	switch {
	case a.Front != nil:
		p.moved(a.Front)
	case a.Head != nil && !a.Head.Past:
		p.moved(a.Head)
	}
	for _, e := range a.Send {
		p.send(e)
	}
	if a.Fold != nil {
		p.fold(a.Fold)
	}
	for _, w := range a.Work {
		p.evaluate(w)
	}
	for _, id := range a.Cancel {
		delete(p.driver.work, id)
		p.cfg.Evaluator.Cancel(id)
	}
	for _, peer := range a.Ban {
		if p.cfg.Mesh != nil {
			p.cfg.Mesh.Ban(peer)
		}
	}
	if a.Summary != nil {
		p.sumUp(a.Summary)
	}
	if a.Recall != nil {
		p.readSummary(a.Recall.Height)
	}
	if s := a.Pack; s != nil {
		p.aside(func() coordinator.Event { return s.Do() })
	}
	if s := a.Unpack; s != nil {
		p.aside(func() coordinator.Event { return s.Do(p.rules) })
	}
	if t := a.Tested; t != nil {
		p.addPoint(Point{Height: t.Height, Head: t.Head.String(), Evaluations: t.Evaluations, Steps: t.Steps + p.rules.ObserveSteps(t.State), Return: t.Mean})
		p.driver.dirty = true
	}
	for _, n := range a.Notes {
		p.log.Info(n.Text, "kind", string(n.Kind), "peer", n.Peer.Short())
	}
}

// aside does work outside the loop, which gets its result.
func (p *Peer) aside(work func() coordinator.Event) {
	go func() {
		e := work()
		p.inbox.post(func() { p.step(e) })
	}()
}

// readSummary answers a Recall, outside the loop.
func (p *Peer) readSummary(most uint64) {
	go func() {
		s, notes := coordinator.Summaries{Rules: p.rules, Archive: &p.archive}.Newest(most)
		for _, text := range notes {
			p.log.Warn(text)
		}
		p.inbox.post(func() { p.step(coordinator.Recalled{Summary: s}) })
	}()
}

// sumUp keeps a summary, outside the loop: nothing waits for it, and a restart without it takes longer.
func (p *Peer) sumUp(s *coordinator.Summary) {
	if !p.summing.CompareAndSwap(false, true) {
		return
	}
	go func() {
		defer p.summing.Store(false)
		data, err := s.Encode()
		if err == nil {
			err = p.archive.get().SaveSummary(s.Height, data)
		}
		if err != nil {
			p.log.Warn("cannot keep a summary; the next start takes longer", "height", s.Height, "err", err)
		}
	}()
}

func (p *Peer) save(a coordinator.Actions) error {
	if a.State == nil && len(a.Blocks) == 0 && a.Head == nil {
		return nil
	}
	batch := store.Batch{Blocks: a.Blocks, State: a.State}
	if a.Head != nil {
		batch.Head = &store.HeadMove{Fork: a.Head.Fork, Entries: a.Head.Entries, Seals: a.Head.Seals}
	}
	return p.archive.get().Save(batch)
}

// retry reopens a failed store and resumes where it failed.
func (p *Peer) retry() {
	s := p.driver.stuck
	if s == nil || p.cfg.Reopen == nil || time.Now().Before(s.retryAt) {
		return
	}
	s.retryAt = time.Now().Add(p.cfg.Retry)
	if err := p.archive.get().Close(); err != nil {
		p.log.Debug("closing a failed store", "err", err)
	}
	reopened, err := p.cfg.Reopen()
	if err != nil {
		s.err = fmt.Errorf("reopening the store: %w", err)
		return
	}
	p.archive.set(reopened)
	if err := p.save(s.actions); err != nil {
		s.err = err
		return
	}
	p.log.Info("the store recovered; leadership and work resume")
	p.driver.stuck, p.driver.dirty = nil, true
	p.perform(s.actions)
	for _, e := range s.held {
		p.step(e)
	}
}

// send encodes a message and gives it to the mesh. What does not arrive is the coordinator's business to repeat.
func (p *Peer) send(e coordinator.Envelope) {
	m := p.cfg.Mesh
	if m == nil {
		return
	}
	var err error
	switch data := coordinator.EncodeMessage(e.Message); e.Scope {
	case coordinator.Direct:
		err = m.SendOver(e.Over, e.To, data)
	case coordinator.Gossip:
		err = m.Gossip(data)
	case coordinator.Hubs:
		err = m.SendHubs(data)
	}
	if err != nil {
		p.log.Debug("not sent", "message", fmt.Sprintf("%T", e.Message), "err", err)
	}
}

// evaluate starts a piece of work; its answer comes through the inbox.
func (p *Peer) evaluate(w coordinator.Work) {
	if len(w.Test) > 0 {
		p.test(w)
		return
	}
	evaluations := len(w.Task.Seeds)
	if !w.Task.HeldOut {
		evaluations *= p.rules.Signs()
	}
	p.driver.work[w.ID] = evaluations
	p.cfg.Evaluator.Evaluate(w.ID, w.Task, w.Urgent, func(results []rollout.CandidateResult, err error) {
		if err != nil {
			p.log.Error("evaluation failed", "err", err)
			time.AfterFunc(failedWork, func() {
				p.inbox.post(func() { p.evaluated(w.ID, coordinator.Evaluated{ID: w.ID, Failed: true}) })
			})
			return
		}
		p.inbox.post(func() { p.evaluated(w.ID, coordinator.Evaluated{ID: w.ID, Results: results}) })
	})
}

func (p *Peer) evaluated(id uint64, e coordinator.Evaluated) {
	n, wanted := p.driver.work[id]
	delete(p.driver.work, id)
	if wanted && !e.Failed {
		p.driver.meters.mine.add(time.Now(), uint64(n))
	}
	p.step(e)
}

// moved takes in a new head.
func (p *Peer) moved(m *coordinator.HeadMove) {
	p.mu.Lock()
	for len(p.curve) > 0 && p.curve[len(p.curve)-1].Height > m.Fork {
		p.curve = p.curve[:len(p.curve)-1]
	}
	p.mu.Unlock()
	p.driver.heldOut.lower(m.Fork)
	head := seedlog.Link{}
	if n := len(m.Entries); n > 0 {
		head = m.Entries[n-1]
	}
	height := m.Fork + uint64(len(m.Entries))
	if head.Defined() && height%p.rules.Spec.Checks.Every == 0 {
		p.driver.heldOut.due = true
	}
	p.startEvaluation()
}
