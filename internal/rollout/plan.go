package rollout

import (
	"errors"
	"fmt"
	"strings"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/policy"
)

// ErrRevision is wrapped by errors about an environment or a strategy of a revision that this build does not have.
var ErrRevision = errors.New("rollout: unknown revision")

// Plan is everything that the evaluations of a run depend on, apart from its state: the environment, the
// policy, the strategy that generates candidates, and how their episodes are run. It is immutable and safe
// for concurrent use.
type Plan struct {
	Env      *envs.Spec
	Policy   *policy.Policy
	Strategy evolve.Strategy
	Episodes Episodes

	cap capGrowth
}

// NewPlan makes the plan that s describes. Errors are those of envs.Find, envs.Spec.With, evolve.Find,
// evolve.Method.New and policy.New, or wrap ErrRevision or ErrEpisodes.
func NewPlan(s Setup) (Plan, error) {
	env, err := envs.Find(s.EnvID)
	if err != nil {
		return Plan{}, err
	}
	if env.ID != s.EnvID || s.EnvRevision != 0 && s.EnvRevision != env.Revision {
		return Plan{}, fmt.Errorf("%w: %s revision %d; this build has %s revision %d", ErrRevision, s.EnvID, s.EnvRevision, env.ID, env.Revision)
	}
	if env, err = env.With(s.EnvParams); err != nil {
		return Plan{}, err
	}
	if _, err := evolve.Find(s.Strategy); err != nil {
		return Plan{}, err
	}
	method, err := evolve.FindRevision(s.Strategy, s.StrategyRevision)
	if err != nil {
		return Plan{}, fmt.Errorf("%w: %w", ErrRevision, err)
	}
	if err := s.Episodes.check(env); err != nil {
		return Plan{}, err
	}
	pol, err := policy.New(s.Policy, env)
	if err != nil {
		return Plan{}, err
	}
	strategy, err := method.New(s.Params, evolve.Size{Dim: pol.Dim(), Population: int(s.Population), Growth: int(s.Growth), Pooled: s.Pooled})
	if err != nil {
		return Plan{}, err
	}
	p := Plan{Env: env, Policy: pol, Strategy: strategy, Episodes: s.Episodes}
	if s.CapGrowth && s.Episodes.Cap != 0 {
		p.cap = capGrowth{s.Population, s.Growth}
	}
	return p, nil
}

// Initial returns the state of generation 0: seed determines its parameters and the episodes of the random
// policy that give its observation statistics and reference batch. Bit exact.
func (p Plan) Initial(seed uint64) *evolve.State {
	theta := make([]float32, p.Policy.Dim())
	p.Policy.Init(theta, seed)
	s := p.Strategy.Init(theta)
	if slots := p.slots(); len(slots) > 0 {
		s.Slots = append(s.Slots, evolve.Shape{Slots: slots}.State(nil).Slots...)
		p.begin(s, seed)
	}
	return s
}

// observedPrefix begins the names of the slots that the policy needs for acting.
const observedPrefix = "obs/"

// Weights returns the shape of the weights that a run can start from: parameters and the slots that the
// policy needs for acting.
func (p Plan) Weights() evolve.Shape {
	shape := evolve.Shape{Dim: p.Policy.Dim()}
	for _, slot := range p.slots() {
		if strings.HasPrefix(slot.Name, observedPrefix) && slot.Name != slotSteps {
			shape.Slots = append(shape.Slots, slot)
		}
	}
	return shape
}

// From returns the state of generation 0 of a run that starts from weights, which must have the shape
// Weights: the state that Initial returns, with the parameters and slots of weights. It shares no memory with
// them. Bit exact.
func (p Plan) From(weights *evolve.State, seed uint64) *evolve.State {
	first := p.Initial(seed)
	s := p.Strategy.Init(append([]float32(nil), weights.Theta...))
	s.Slots = append(s.Slots, first.Slots[len(p.Strategy.Shape().Slots):]...)
	for i := range weights.Slots {
		*s.Slot(weights.Slots[i].Name) = weights.Slots[i].Clone()
	}
	return s
}

// Shape returns the shape of the run's states: the strategy's shape, followed by the slots for observation
// statistics and episode lengths.
func (p Plan) Shape() evolve.Shape {
	shape := p.Strategy.Shape()
	if slots := p.slots(); len(slots) > 0 {
		shape.Slots = append(append([]evolve.SlotShape(nil), shape.Slots...), slots...)
	}
	return shape
}

// ObserveEpisodes returns the number of episodes of the mean policy that Apply runs for running statistics.
func (p Plan) ObserveEpisodes() uint64 {
	if o := p.Episodes.Observations; o != nil {
		return o.Episodes
	}
	return 0
}

// Apply returns the state after a generation with these results on s, as evolve.Strategy.Apply does, and
// updates the slots of the plan: the mean episode length, and running statistics from episodes of the mean
// policy of s, one for each of the ObserveEpisodes seeds. It runs on all cores. Bit exact.
func (p Plan) Apply(s *evolve.State, results []evolve.Result, seeds []uint64) *evolve.State {
	next := p.Strategy.Apply(s, results)
	next.Settle(s)
	if p.ObserveEpisodes() > 0 {
		p.observe(s, next, seeds)
	}
	if p.Episodes.Cap != 0 {
		p.lengthen(next, results)
	}
	return next
}

// UnmarshalState returns the state that b encodes (evolve.State.MarshalBinary), which must have the plan's
// shape. Errors wrap evolve.ErrState. It keeps no reference to b.
func (p Plan) UnmarshalState(b []byte) (*evolve.State, error) {
	s := new(evolve.State)
	if err := s.UnmarshalBinary(b); err != nil {
		return nil, err
	}
	return s, p.Shape().Check(s)
}

// Check returns an error that wraps ErrTask or evolve.ErrState unless t is within the limits and its state
// has the plan's shape. It reads the whole state.
func (p Plan) Check(t Task) error {
	if err := t.Check(); err != nil {
		return err
	}
	return p.Shape().Check(t.State)
}
