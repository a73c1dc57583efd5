package rollout

import (
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/policy"
)

// Actor is a policy as it acts: its parameters, with virtual batch normalisation folded
// in where the policy has it, behind observations normalised as the state says. It is
// for one goroutine at a time.
type Actor struct {
	policy  *policy.Policy
	scratch *policy.Scratch
	theta   []float32

	// Of normalised observations; scale is nil where they stay as they are.
	mean, scale, seen []float32
	clip              float32

	// Of virtual batch normalisation; batch is nil without it.
	batch             *policy.Batch
	folded, reference []float32
}

// NewActor returns an actor without a part: Cast before Act.
func NewActor(plan Plan) *Actor { return newActor(plan, 1) }

// newActor returns an actor for up to that many observations at a time.
func newActor(plan Plan, rows int) *Actor {
	a := &Actor{policy: plan.Policy, scratch: plan.Policy.Scratch(rows)}
	if o := plan.Episodes.Observations; o != nil {
		n := plan.Env.ObsDim
		a.mean, a.scale, a.seen = make([]float32, n), make([]float32, n), make([]float32, rows*n)
		a.clip = float32(o.Clip)
	}
	if plan.Policy.VBN() {
		a.batch = plan.Policy.Batch()
		a.folded = make([]float32, plan.Policy.Dim())
		a.reference = make([]float32, policy.ReferenceSize*plan.Env.ObsDim)
	}
	return a
}

// Cast makes the actor act with theta (length policy.Dim) as a candidate of s, whose
// shape is the plan's; s.Theta is the mean policy. The actor may read theta until it is
// cast again, but not s. It does not allocate. Bit exact.
func (a *Actor) Cast(s *evolve.State, theta []float32) {
	a.theta = theta
	if a.scale != nil {
		copy(a.mean, s.Slot(slotMean).Values)
		for i, std := range s.Slot(slotStd).Values {
			a.scale[i] = 0
			if std > 0 {
				a.scale[i] = 1 / std
			}
		}
	}
	if a.batch == nil {
		return
	}
	reference := s.Slot(slotReference).Values
	if a.scale != nil {
		a.normalise(a.reference, reference)
		reference = a.reference
	}
	a.policy.Fold(a.folded, theta, reference, a.batch)
	a.theta = a.folded
}

// Act writes the action for obs to act, as policy.Act does. It does not allocate. Bit
// exact.
func (a *Actor) Act(obs []float32, act []float64) {
	a.policy.Act(a.theta, a.see(obs), a.scratch, act)
}

// actBatch is Act for rows of observations, with noise as policy.ActBatch has it.
func (a *Actor) actBatch(obs []float32, rows int, act, noise []float64) {
	a.policy.ActBatch(a.theta, a.see(obs), rows, a.scratch, act, noise)
}

// see returns rows of observations as the policy gets them.
func (a *Actor) see(obs []float32) []float32 {
	if a.scale == nil {
		return obs
	}
	a.normalise(a.seen, obs)
	return a.seen[:len(obs)]
}

// normalise writes (obs - mean) * scale, row by row, to dst, held to ±clip; NaN becomes
// -clip.
func (a *Actor) normalise(dst, obs []float32) {
	clip, n := a.clip, len(a.scale)
	for at := 0; at < len(obs); at += n {
		row := dst[at : at+n]
		for i, x := range obs[at : at+n] {
			y := (x - a.mean[i]) * a.scale[i]
			if !(y > -clip) {
				y = -clip
			} else if y > clip {
				y = clip
			}
			row[i] = y
		}
	}
}
