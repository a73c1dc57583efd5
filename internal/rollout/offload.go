package rollout

import (
	"github.com/evoswarm/evoswarm/internal/episode"
	"github.com/evoswarm/evoswarm/internal/evolve"
)

// Offload is a task as something else than an Evaluator computes it: a device. Its items are the candidates, one per
// seed and sign. Held-out tasks are none for devices.
type Offload struct {
	// Setup, Norm and Bounds are the arguments of episode.Play that all candidates share.
	Setup  episode.Setup
	Norm   []float32
	Bounds []float64

	plan  Plan
	task  Task
	actor *Actor
}

// Offload returns t, which must have passed Check, in the form for devices. It keeps a reference to t's parts.
func (p Plan) Offload(t Task) *Offload {
	actor := NewActor(p)
	actor.Load(t.State, t.State.Theta)
	return &Offload{Setup: p.training(p.setup(), t.State), Norm: actor.norm, Bounds: p.bounds(), plan: p, task: t, actor: actor}
}

// Items returns the number of candidates.
func (o *Offload) Items() int { return items(&o.task, o.plan.Strategy) }

// Episodes returns the seeds of the episodes of candidate k. All candidates have as many.
func (o *Offload) Episodes(k int) []uint64 {
	i, _ := item(o.plan.Strategy, k)
	return o.task.episodes(i)
}

// Around says how candidate k is computed from its center: center + scale*eps(seed). ok is false if the strategy
// does not perturb, or if its policy is folded into other parameters: then Theta has them.
func (o *Offload) Around(k int) (center []float32, seed uint64, scale float32, ok bool) {
	strategy, ok := o.plan.Strategy.(evolve.Isotropic)
	if !ok || o.plan.Policy.VBN() {
		return nil, 0, 0, false
	}
	i, sign := item(o.plan.Strategy, k)
	center, sigma := strategy.Around(o.task.State, o.task.Seeds[i])
	return center, o.task.Seeds[i], float32(sigma * sign), true
}

// Theta writes the parameters with which candidate k acts to dst, which has the length policy.Dim.
func (o *Offload) Theta(dst []float32, k int) {
	i, sign := item(o.plan.Strategy, k)
	o.plan.Strategy.Candidate(dst, o.task.State, o.task.Seeds[i], sign)
	o.actor.Load(o.task.State, dst)
	copy(dst, o.actor.theta)
}

// Join returns the results of the task from those of all candidates.
func (o *Offload) Join(outcomes []Outcome) []CandidateResult {
	return join(outcomes, signs(&o.task, o.plan.Strategy))
}
