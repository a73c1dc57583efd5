package peer

import (
	"github.com/evoswarm/evoswarm/coordinator"
)

// look is the running look at the mean policy on held-out episodes, if any.
type look struct {
	due     bool // one is wanted
	running bool
	height  uint64
	void    bool // the chain changed below it
}

// lower says that the chain changed above fork.
func (l *look) lower(fork uint64) {
	if l.running && l.height > fork {
		l.void = true
	}
}

// startLook looks at the head if that is due and no look is running.
func (p *Peer) startLook() {
	l := &p.driver.look
	validator, ok := p.cfg.Evaluator.(Validator)
	if !ok || l.running || !l.due {
		return
	}
	s := p.driver.coord.Snapshot()
	if s.StateHeight != s.Height || s.Paused {
		return // the head is not folded yet, or its owner wants no work done
	}
	*l = look{running: true, height: s.Height}
	validator.Validate(s.State, p.rules.ValidateSeeds(s.Head), func(returns []float64, err error) {
		p.inbox.post(func() { p.looked(s, returns, err) })
	})
}

func (p *Peer) looked(s coordinator.Snapshot, returns []float64, err error) {
	l := &p.driver.look
	l.running = false
	p.driver.dirty = true
	if err != nil {
		p.log.Error("looking at the mean policy failed", "err", err)
	} else if !l.void {
		sum := 0.0
		for _, r := range returns {
			sum += r
		}
		p.addPoint(Point{Height: s.Height, Head: s.Head.String(), Evaluations: s.Evaluations, Steps: p.steps(s), Return: sum / float64(len(returns))})
	}
	p.startLook()
}

// steps counts the env-steps of the run's training: those of the claims, and what normalizes observations took.
func (p *Peer) steps(s coordinator.Snapshot) uint64 { return s.Steps + p.rules.ObserveSteps(s.State) }
