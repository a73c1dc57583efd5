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
func NewActor(plan Plan) *Actor {
	a := &Actor{policy: plan.Policy, scratch: plan.Policy.Scratch()}
	if o := plan.Episodes.Observations; o != nil {
		a.mean, a.scale, a.seen = vector(plan), vector(plan), vector(plan)
		a.clip = float32(o.Clip)
	}
	if plan.Policy.VBN() {
		a.batch = plan.Policy.Batch()
		a.folded = make([]float32, plan.Policy.Dim())
		a.reference = make([]float32, policy.ReferenceSize*plan.Env.ObsDim)
	}
	return a
}

func vector(plan Plan) []float32 { return make([]float32, plan.Env.ObsDim) }

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
		n := len(a.scale)
		for i := 0; i < len(reference); i += n {
			a.normalise(a.reference[i:i+n], reference[i:i+n])
		}
		reference = a.reference
	}
	a.policy.Fold(a.folded, theta, reference, a.batch)
	a.theta = a.folded
}

// Act writes the action for obs to act, as policy.Act does. It does not allocate. Bit
// exact.
func (a *Actor) Act(obs []float32, act []float64) {
	if a.scale != nil {
		a.normalise(a.seen, obs)
		obs = a.seen
	}
	a.policy.Act(a.theta, obs, a.scratch, act)
}

// ActNoisy is Act with noise added as policy.ActNoisy does.
func (a *Actor) ActNoisy(obs []float32, act, noise []float64) {
	if a.scale != nil {
		a.normalise(a.seen, obs)
		obs = a.seen
	}
	a.policy.ActNoisy(a.theta, obs, a.scratch, act, noise)
}

// normalise writes (obs - mean) * scale to dst, held to ±clip; NaN becomes -clip.
func (a *Actor) normalise(dst, obs []float32) {
	clip := a.clip
	for i, x := range obs {
		y := (x - a.mean[i]) * a.scale[i]
		if !(y > -clip) {
			y = -clip
		} else if y > clip {
			y = clip
		}
		dst[i] = y
	}
}
