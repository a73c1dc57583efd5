package worlds

import (
	"fmt"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/episode"
	"github.com/evoswarm/evoswarm/internal/noise"
	"github.com/evoswarm/evoswarm/internal/policy"
)

// SelfTest plays short episodes of Table[world] under all conditions, in the translation and in Go, and returns an
// error that wraps [ErrDiffers] at the first difference in bits. In a tab it takes 5 to 50 ms, in which the browser
// compiles what the episodes need, and a tenth of that later.
func SelfTest(world int) error {
	env, err := envs.Find(Table[world].ID)
	if err != nil {
		return err
	}
	for k, c := range cases(env) {
		if err := c.test(world, env); err != nil {
			return fmt.Errorf("%w: %s, case %d: %w", ErrDiffers, env.ID, k, err)
		}
	}
	return nil
}

// testCase is a candidate of the self-test.
type testCase struct {
	policy    policy.Spec
	theta     []float32 // empty: drawn
	episodes  int
	sums      bool
	condition func(s *episode.Setup)
	unlike    bool // no parameter of the environment has its default
}

// cases are few enough to be played before a tab computes: in lockstep and alone, narrow and wide layers, with every
// head and activation, each condition, and with other parameters of the environment.
func cases(env *envs.Spec) []testCase {
	head, bins := "argmax", policy.Spec{Kind: "mlp", Hidden: []uint64{6}, Activation: "relu", Head: "argmax"}
	if !env.Action.Discrete {
		head, bins.Head, bins.Bins = "clip", "bins", 5
	}
	episodes, limit := 4, int64(40)
	if env.StepNS > 2000 {
		episodes, limit = 2, 8
	}
	all := []testCase{
		{policy.Spec{Kind: "mlp", Hidden: []uint64{17, 24}, Activation: "tanh", Bias: true, Head: head}, nil, episodes, true, func(s *episode.Setup) {
			s.Limit, s.Hold, s.Bonus, s.Penalty = limit, 2, 0.125, 0.75
			s.Normalize, s.Clip, s.Lanes = true, 0.5, int32(min(episodes, 3))
			if !env.Action.Discrete {
				s.Jitter = 0.25
			}
		}, false},
	}
	if env.StepNS < 10_000 {
		all = append(all, testCase{bins, nil, 1, false, func(s *episode.Setup) { s.Limit = 2 * limit }, len(env.Params) > 0})
	}
	if env.ID == "LunarLander-v3" {
		all = append(all, testCase{policy.Spec{Kind: "linear", Bias: true, Head: "argmax"}, lands, 1, false, func(s *episode.Setup) { s.Limit = landed }, false})
	}
	return all
}

// Unlike returns the environment with no parameter at its default, for tests.
func Unlike(env *envs.Spec) *envs.Spec {
	params := envs.Params{}
	for i := range env.Params {
		p := &env.Params[i]
		if params[p.Name] = p.Low + float64(0.625*(p.High-p.Low)); p.Kind != envs.RealParam {
			params[p.Name] = p.Low + p.High - p.Default
		}
	}
	other, err := env.With(params)
	if err != nil {
		panic("worlds: " + err.Error()) // of what every parameter takes
	}
	return other
}

// lands is Gymnasium's controller without its clamps: after 140 steps both legs touch the ground, after 217 it
// rests. Inputs: position, velocity, angle, its velocity, touches; outputs: nothing, left, main, right engine.
var lands = []float32{
	0, 0.25, 0, -0.25,
	0, 0, -0.5, 0,
	0, 0.5, 0, -0.5,
	0, 0, -0.5, 0,
	0, -0.5, 0, 0.5,
	0, -1, 0, 1,
	9, 0, 0, 0,
	9, 0, 0, 0,
	0.05, 0, 0, 0,
}

// landed is a limit that leaves time to land and to come to rest.
const landed = 230

// test compares the outcome of Go with that of the translation.
func (c *testCase) test(world int, env *envs.Spec) error {
	if c.unlike {
		env = Unlike(env)
	}
	pol, err := policy.New(c.policy, env)
	if err != nil {
		return err
	}
	s := episode.Setup{
		Net: pol.Network(), ObsDim: int32(env.ObsDim), ActDim: int32(pol.ActDim()), Widest: int32(pol.Widest()),
		Lanes: episode.MaxLanes, Hold: 1,
	}
	c.condition(&s)
	theta, norm := c.theta, []float32(nil)
	if theta == nil {
		theta = make([]float32, pol.Dim())
		noise.FillNormal(theta, 1, 0)
	}
	if s.Normalize {
		norm = make([]float32, 2*env.ObsDim)
		noise.FillNormal(norm, 2, 0)
	}
	seeds := make([]uint64, c.episodes)
	for i := range seeds {
		seeds[i] = uint64(i)
	}
	bounds := append(append([]float64(nil), env.Action.Low...), env.Action.High...)
	var got, want outcome
	for _, o := range []*outcome{&got, &want} {
		o.returns = make([]float64, c.episodes)
		if c.sums {
			o.sums = make([]uint64, c.episodes*episode.SumsLen(env.ObsDim))
		}
	}
	var ok bool
	if got.steps, ok = play(&Table[world], &s, env.Values(), seeds, theta, norm, bounds, got.returns, got.sums); !ok {
		return errStopped
	}
	instances := make([]envs.Env, s.Lanes)
	for i := range min(int(s.Lanes), c.episodes) {
		instances[i] = env.New()
	}
	lanes, mem, work := make([]episode.Lane, s.Lanes), make([]float32, s.Values()), make([]float64, s.Reals())
	want.steps = episode.Play(&s, instances, lanes, seeds, theta, norm, mem, bounds, work, want.returns, want.sums)
	return got.compare(&want)
}

// outcome is what an evaluation gives.
type outcome struct {
	steps   int64
	returns []float64
	sums    []uint64
}

func (o *outcome) compare(want *outcome) error {
	if o.steps != want.steps {
		return fmt.Errorf("%d env-steps, want %d", o.steps, want.steps)
	}
	for i, w := range want.returns {
		if o.returns[i] != w {
			return fmt.Errorf("episode %d returned %v, want %v", i, o.returns[i], w)
		}
	}
	for i, w := range want.sums {
		if o.sums[i] != w {
			return fmt.Errorf("sum %d of observations is %d, want %d", i, o.sums[i], w)
		}
	}
	return nil
}
