package rollout

import (
	"github.com/evoswarm/evoswarm/internal/episode"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/policy"
)

// Actor applies a policy: it normalizes observations by the statistics of a state and folds virtual batch
// normalization into the parameters if the policy has it. One goroutine may use it at a time.
type Actor struct {
	policy  *policy.Policy
	scratch *policy.Scratch
	theta   []float32

	// For normalized observations: mean and scale, one after the other. Both are nil if observations are used as
	// they are.
	norm, seen []float32
	clip       float32

	// For virtual batch normalization. batch is nil without it.
	batch             *policy.Batch
	folded, reference []float32
}

// NewActor returns an actor without parameters: call Load before Act.
func NewActor(plan Plan) *Actor {
	a := &Actor{policy: plan.Policy, scratch: plan.Policy.Scratch(1)}
	if o := plan.Episodes.Observations; o != nil {
		n := plan.Env.ObsDim
		a.norm, a.seen = make([]float32, 2*n), make([]float32, n)
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
	if a.norm != nil {
		n := copy(a.norm, s.Slot(slotMean).Values)
		for i, std := range s.Slot(slotStd).Values {
			a.norm[n+i] = 0
			if std > 0 {
				a.norm[n+i] = 1 / std
			}
		}
	}
	if a.batch == nil {
		return
	}
	reference := s.Slot(slotReference).Values
	if a.norm != nil {
		a.normalize(a.reference, reference)
		reference = a.reference
	}
	a.policy.Fold(a.folded, theta, reference, a.batch)
	a.theta = a.folded
}

// Act writes the action for obs to act, as policy.Act does. It does not allocate. Bit exact.
func (a *Actor) Act(obs []float32, act []float64) {
	if a.norm != nil {
		a.normalize(a.seen, obs)
		obs = a.seen
	}
	a.policy.Act(a.theta, obs, a.scratch, act)
}

// normalize writes the rows of obs as the policy sees them to dst.
func (a *Actor) normalize(dst, obs []float32) {
	n := len(a.norm) / 2
	episode.Normalize(dst, obs, a.norm[:n], a.norm[n:], a.clip)
}
