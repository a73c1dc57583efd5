package bench

import (
	"fmt"
	"runtime"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/noise"
	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

// envTasks are steps of every world with actions drawn beforehand.
func envTasks() (tasks []*task, err error) {
	for _, spec := range envs.All() {
		tasks = append(tasks, envTask(spec))
	}
	return tasks, nil
}

// envTask steps from episode to episode, 64 steps in a run.
func envTask(spec *envs.Spec) *task {
	const stride = 64
	env, obs, seed, n, over := spec.New(), make([]float32, spec.ObsDim), uint64(0), 0, true
	dim := spec.Action.Dim
	acts, at := randomActions(spec, 4096), 0
	var rng noise.Stream
	return &task{name: spec.ID + " step", unit: "M steps/s", work: stride, run: func() {
		for range stride {
			if over || n == spec.MaxSteps {
				rng = envs.NewStream(seed)
				env.Reset(&rng, obs)
				seed, n = seed+1, 0
			}
			_, over = env.Step(&rng, acts[at:at+dim], obs)
			n++
			if at += dim; at == len(acts) {
				at = 0
			}
		}
	}}
}

// randomActions draws n actions, one after the other in a slice.
func randomActions(spec *envs.Spec, n int) []float64 {
	dim := spec.Action.Dim
	acts, draws := make([]float64, n*dim), noise.NewStream(1, noise.DomainAction)
	for at := 0; at < len(acts); at += dim {
		spec.Action.Sample(acts[at:at+dim], &draws)
	}
	return acts
}

// rolloutTasks are episodes with policies as large as people take for these worlds.
func rolloutTasks() (tasks []*task, err error) {
	for _, id := range []string{"CartPole-v1", "Acrobot-v1"} {
		for _, activation := range []string{"tanh", "relu"} {
			r, err := newBenchRollout(id, activation)
			if err != nil {
				return nil, err
			}
			tasks = append(tasks, r.tasks()...)
		}
	}
	return tasks, nil
}

// benchRollout is a few episodes, and what is needed to do their parts alone.
type benchRollout struct {
	name     string
	plan     rollout.Plan // its world ends after benchSteps
	whole    rollout.Plan
	state    *evolve.State // whose mean policy plays
	episodes []benchEpisode
	steps    float64 // of all episodes
}

// benchEpisode is what was observed before each step, and what was done.
type benchEpisode struct {
	seed uint64
	obs  []float32
	acts []float64
}

const (
	benchEpisodes = 16 // as many as a candidate's side by side
	benchSteps    = 50 // at most in an episode, so that slices stay short
)

// benchPlan is a plan with a policy of 64-64 units.
func benchPlan(id, activation string) (rollout.Plan, error) {
	spec, err := envs.Find(id)
	if err != nil {
		return rollout.Plan{}, err
	}
	head := "clip"
	if spec.Action.Discrete {
		head = "argmax"
	}
	method, err := evolve.Find("openai-es")
	if err != nil {
		return rollout.Plan{}, err
	}
	params, err := method.Complete(nil)
	if err != nil {
		return rollout.Plan{}, err
	}
	return rollout.NewPlan(rollout.Setup{EnvID: id, Strategy: method.Name, StrategyRevision: method.Revision, Params: params, Population: 64,
		Policy: policy.Spec{Kind: "mlp", Hidden: []uint64{64, 64}, Activation: activation, Bias: true, Head: head}})
}

func newBenchRollout(id, activation string) (*benchRollout, error) {
	plan, err := benchPlan(id, activation)
	if err != nil {
		return nil, err
	}
	r := &benchRollout{name: id + " 64-64 " + activation, plan: plan, whole: plan}
	short := *plan.Env
	short.MaxSteps = benchSteps
	r.plan.Env = &short
	r.state = r.lasting()
	for _, seed := range benchSeeds() {
		r.episodes = append(r.episodes, r.record(seed))
	}
	return r, nil
}

func benchSeeds() []uint64 {
	seeds := make([]uint64, benchEpisodes)
	for i := range seeds {
		seeds[i] = uint64(i)
	}
	return seeds
}

// lasting returns the state of a fresh policy whose episodes last longest, as those of trained ones do.
func (r *benchRollout) lasting() (best *evolve.State) {
	const tries = 300
	e, most := rollout.NewEvaluator(r.plan), uint64(0)
	for seed := range uint64(tries) {
		s := r.plan.Initial(seed)
		if steps := e.Run(s, s.Theta, benchSeeds()).Steps; steps > most {
			best, most = s, steps
		}
		if most == benchEpisodes*benchSteps {
			break
		}
	}
	return best
}

// record plays an episode.
func (r *benchRollout) record(seed uint64) benchEpisode {
	env, rng, episode := r.plan.Env.New(), envs.NewStream(seed), benchEpisode{seed: seed}
	obs, act, scratch := make([]float32, r.plan.Env.ObsDim), make([]float64, r.plan.Policy.ActDim()), r.plan.Policy.Scratch(1)
	env.Reset(&rng, obs)
	for range r.plan.Env.MaxSteps {
		r.plan.Policy.Act(r.state.Theta, obs, scratch, act)
		episode.obs, episode.acts = append(episode.obs, obs...), append(episode.acts, act...)
		_, over := env.Step(&rng, act, obs)
		r.steps++
		if over {
			break
		}
	}
	return episode
}

func (r *benchRollout) tasks() []*task {
	step := &task{name: r.name + ", bare step", unit: "ns", work: r.steps, run: r.stepping()}
	pass := &task{name: r.name + ", bare pass", unit: "ns", work: r.steps, run: r.passing()}
	limit := func() float64 { return 1e3 / (step.value() + pass.value()) }
	e, seeds := rollout.NewEvaluator(r.plan), benchSeeds()
	tasks := []*task{step, pass,
		{name: r.name + " rollouts", unit: "M steps/s", work: r.steps, limit: limit, run: func() {
			for i := range seeds {
				e.Run(r.state, r.state.Theta, seeds[i:i+1])
			}
		}},
		{name: fmt.Sprintf("%s rollouts, %d side by side", r.name, benchEpisodes), unit: "M steps/s", work: r.steps, limit: limit, run: func() {
			e.Run(r.state, r.state.Theta, seeds)
		}}}
	if n := runtime.GOMAXPROCS(0); n > 1 {
		one, many := r.generation(1), r.generation(n)
		tasks = append(tasks, one, many, against(r.name+" rollouts", many, one, n))
	}
	return tasks
}

// stepping does the episodes' steps without asking the policy.
func (r *benchRollout) stepping() func() {
	env, obs, dim := r.plan.Env.New(), make([]float32, r.plan.Env.ObsDim), r.plan.Policy.ActDim()
	return func() {
		for _, episode := range r.episodes {
			rng := envs.NewStream(episode.seed)
			env.Reset(&rng, obs)
			for at := 0; at < len(episode.acts); at += dim {
				env.Step(&rng, episode.acts[at:at+dim], obs)
			}
		}
	}
}

// passing asks the policy about what was observed, without the world. As in the world no pass begins before the one
// before has chosen: its action, times zero, is part of what is seen.
func (r *benchRollout) passing() func() {
	act, scratch := make([]float64, r.plan.Policy.ActDim()), r.plan.Policy.Scratch(1)
	obs := make([]float32, r.plan.Env.ObsDim)
	return func() {
		for _, episode := range r.episodes {
			for at := 0; at < len(episode.obs); at += len(obs) {
				copy(obs, episode.obs[at:])
				obs[0] += 0 * float32(act[0])
				r.plan.Policy.Act(r.state.Theta, obs, scratch, act)
			}
		}
	}
}

// generation evaluates 64 candidates on that many cores, each in an episode that the world ends when it ends; the value
// is the time of a candidate.
func (r *benchRollout) generation(workers int) *task {
	const pairs = 32
	pool := rollout.NewPool(r.whole, workers)
	work := rollout.Task{State: r.state, Episodes: [][]uint64{{1}}}
	for seed := range uint64(pairs) {
		work.Seeds = append(work.Seeds, seed)
	}
	return &task{unit: "ns", work: 2 * pairs, run: func() {
		if _, err := pool.EvaluateChecked(work, nil); err != nil {
			panic("bench: the generation: " + err.Error())
		}
	}}
}
