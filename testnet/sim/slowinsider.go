package sim

import (
	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

// slowInsider says everything a second and a half late.
type slowInsider struct {
	passive
	waiting []late
}

type late struct {
	at   coordinator.Tick
	node int
	e    coordinator.Envelope
}

// lateness is longer than a leader may be silent.
const lateness = 30

// Send implements Insider.
func (s *slowInsider) Send(a *Actor, n int, out []coordinator.Envelope) []coordinator.Envelope {
	for _, e := range out {
		s.deeds++
		s.waiting = append(s.waiting, late{a.Now() + lateness, n, e})
	}
	var due []coordinator.Envelope
	for len(s.waiting) > 0 && s.waiting[0].at <= a.Now() {
		due = append(due, s.waiting[0].e)
		s.waiting = s.waiting[1:]
	}
	return due
}

// hung hears and speaks, and none of its evaluations ever comes back.
type hung struct{ passive }

// Evaluate implements Insider.
func (h *hung) Evaluate(*Actor, int, coordinator.Work, []rollout.CandidateResult) []rollout.CandidateResult {
	h.deeds++
	return nil
}
