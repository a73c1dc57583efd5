package rollout

import (
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/policy"
)

// Actor applies a policy: it normalizes observations by the statistics of a state and folds virtual batch
// normalization into the parameters if the policy has it. One goroutine may use it at a time.
type Actor struct {
	policy  *policy.Policy
	scratch *policy.Scratch
	theta   []float32

	// For normalized observations. scale is nil if observations are used as they are.
	mean, scale, seen []float32
	clip              float32

	// For virtual batch normalization. batch is nil without it.
	batch             *policy.Batch
	folded, reference []float32
}

// NewActor returns an actor without parameters: call Load before Act.
func NewActor(plan Plan) *Actor { return newActor(plan, 1) }

// newActor returns an actor for batches of up to rows observations.
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

// Load makes the actor use the parameters theta (length policy.Dim) with the statistics of s, a state of the
// plan's shape. s.Theta gives the mean policy. The actor may read theta until the next Load, but not s. Load
// does not allocate. Bit exact.
func (a *Actor) Load(s *evolve.State, theta []float32) {
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
		a.normalize(a.reference, reference)
		reference = a.reference
	}
	a.policy.Fold(a.folded, theta, reference, a.batch)
	a.theta = a.folded
}

// Act writes the action for obs to act, as policy.Act does. It does not allocate. Bit exact.
func (a *Actor) Act(obs []float32, act []float64) {
	a.policy.Act(a.theta, a.see(obs), a.scratch, act)
}

// actBatch is Act for rows of observations; noise is that of policy.ActBatch.
func (a *Actor) actBatch(obs []float32, rows int, act, noise []float64) {
	a.policy.ActBatch(a.theta, a.see(obs), rows, a.scratch, act, noise)
}

// see returns rows of observations as the policy sees them.
func (a *Actor) see(obs []float32) []float32 {
	if a.scale == nil {
		return obs
	}
	a.normalize(a.seen, obs)
	return a.seen[:len(obs)]
}

// normalize writes (obs - mean) * scale to dst, row by row, clamped to ±clip; NaN becomes -clip.
func (a *Actor) normalize(dst, obs []float32) {
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
