package peer

import (
	"time"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// heldOutShare bounds the held-out evaluations that go before candidates: they take a leader one in so many parts of
// its time.
const heldOutShare = 9

// heldOut is the held-out evaluation of the mean policy that is running or due, if any.
type heldOut struct {
	due     bool // one is wanted
	running bool
	height  uint64
	void    bool      // the chain changed below it
	begun   time.Time // if it goes before candidates
	next    time.Time // none begins before that goes before candidates
}

// lower says that the chain changed above fork.
func (h *heldOut) lower(fork uint64) {
	if h.running && h.height > fork {
		h.void = true
	}
}

// startEvaluation starts a held-out evaluation of the head if one is due and none is running. A leader's goes before
// candidates, since it may end the run; what others learn from theirs can wait.
func (p *Peer) startEvaluation() {
	h := &p.driver.heldOut
	validator, ok := p.cfg.Evaluator.(Validator)
	if !ok || h.running || !h.due {
		return
	}
	s := shown(p.driver.coord.Snapshot())
	if s.StateHeight != s.Height || s.Paused {
		return // the head is not folded yet, or its owner wants no work done
	}
	leads, now := s.Role == coordinator.Leader, time.Now()
	if leads && now.Before(h.next) {
		return
	}
	*h = heldOut{running: true, height: s.Height, next: h.next}
	if leads {
		h.begun = now
	}
	validator.Validate(s.State, p.rules.ValidateSeeds(s.Head), leads, func(returns []float64, err error) {
		p.inbox.post(func() { p.evaluatedMean(s, returns, err) })
	})
}

// evaluatedMean takes the answer to a held-out evaluation.
func (p *Peer) evaluatedMean(s coordinator.Snapshot, returns []float64, err error) {
	h := &p.driver.heldOut
	h.running = false
	if !h.begun.IsZero() {
		now := time.Now()
		h.next = now.Add((heldOutShare - 1) * now.Sub(h.begun))
	}
	p.driver.dirty = true
	if err != nil {
		p.log.Error("held-out evaluation failed", "err", err)
	} else if !h.void {
		mean := seedlog.Mean(returns)
		if mean >= p.rules.Env.SolvedReturn {
			p.step(coordinator.Promising{Head: s.Head})
		}
		p.addPoint(Point{Height: s.Height, Head: s.Head.String(), Evaluations: s.Evaluations, Steps: p.steps(s), Return: mean})
	}
	p.startEvaluation()
}

// test runs a test; its answer comes through the inbox. Without a Validator this peer believes others.
func (p *Peer) test(w coordinator.Work) {
	validator, ok := p.cfg.Evaluator.(Validator)
	if !ok {
		p.inbox.post(func() { p.step(coordinator.Evaluated{ID: w.ID}) })
		return
	}
	validator.Validate(w.Task.State, w.Test, w.Urgent, func(returns []float64, err error) {
		if err != nil {
			p.log.Error("the test of a policy failed", "err", err)
			time.AfterFunc(failedWork, func() { p.inbox.post(func() { p.step(coordinator.Evaluated{ID: w.ID, Failed: true}) }) })
			return
		}
		p.inbox.post(func() { p.step(coordinator.Evaluated{ID: w.ID, Returns: returns}) })
	})
}

// steps counts the env-steps of the run's training: those of the claims, and what the observation statistics took.
func (p *Peer) steps(s coordinator.Snapshot) uint64 { return s.Steps + p.rules.ObserveSteps(s.State) }
