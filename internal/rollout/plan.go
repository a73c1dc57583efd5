package rollout

import (
	"errors"
	"fmt"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/policy"
)

// ErrRevision is wrapped where a world or a strategy of another revision is asked for
// than this build has.
var ErrRevision = errors.New("rollout: unknown revision")

// Plan is everything that the evaluations of a run depend on beside its state: the
// world, the policy, and the strategy that makes candidates. It does not change and may
// be shared.
type Plan struct {
	Env      *envs.Spec
	Policy   *policy.Policy
	Strategy evolve.Strategy
}

// NewPlan finds what s names. Errors are those of envs.Find, evolve.Find,
// evolve.Method.New and policy.New, or wrap ErrRevision.
func NewPlan(s Setup) (Plan, error) {
	env, err := envs.Find(s.EnvID)
	if err != nil {
		return Plan{}, err
	}
	if env.ID != s.EnvID || s.EnvRevision != 0 && s.EnvRevision != env.Revision {
		return Plan{}, fmt.Errorf("%w: %s revision %d; this build has %s revision %d", ErrRevision, s.EnvID, s.EnvRevision, env.ID, env.Revision)
	}
	if _, err := evolve.Find(s.Strategy); err != nil {
		return Plan{}, err
	}
	method, err := evolve.FindRevision(s.Strategy, s.StrategyRevision)
	if err != nil {
		return Plan{}, fmt.Errorf("%w: %w", ErrRevision, err)
	}
	pol, err := policy.New(s.Policy, env)
	if err != nil {
		return Plan{}, err
	}
	strategy, err := method.New(s.Params, evolve.Size{Dim: pol.Dim(), Population: int(s.Population)})
	if err != nil {
		return Plan{}, err
	}
	return Plan{Env: env, Policy: pol, Strategy: strategy}, nil
}

// Initial returns the state of generation 0 with the first parameters that seed names.
// Bit exact.
func (p Plan) Initial(seed uint64) *evolve.State {
	theta := make([]float32, p.Policy.Dim())
	p.Policy.Init(theta, seed)
	return p.Strategy.Init(theta)
}

// Shape returns the shape of the run's states.
func (p Plan) Shape() evolve.Shape { return p.Strategy.Shape() }

// Check returns an error that wraps ErrTask or evolve.ErrState unless t is within the
// limits and its state is one of this run. It reads the whole state.
func (p Plan) Check(t Task) error {
	if err := t.Check(); err != nil {
		return err
	}
	return p.Shape().Check(t.State)
}
