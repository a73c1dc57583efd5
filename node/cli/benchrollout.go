package cli

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
func envTasks() (tasks []*benchTask, err error) {
	for _, spec := range envs.All() {
		tasks = append(tasks, envTask(spec))
	}
	return tasks, nil
}

// envTask steps from episode to episode, 64 steps in a run.
func envTask(spec *envs.Spec) *benchTask {
	const stride = 64
	env, obs, seed, n, over := spec.New(), make([]float32, spec.ObsDim), uint64(0), 0, true
	dim := spec.Action.Dim
	acts, at := randomActions(spec, 4096), 0
	var rng noise.Stream
	return &benchTask{name: spec.ID + " step", unit: "M steps/s", work: stride, run: func() {
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

// randomActions draws n actions evenly.
func randomActions(spec *envs.Spec, n int) (acts []float64) {
	s, space := noise.NewStream(1, noise.DomainAction), &spec.Action
	for range n {
		if space.Discrete {
			acts = append(acts, float64(s.IntN(0, int64(space.N))))
			continue
		}
		for i := range space.Low {
			acts = append(acts, s.UniformIn(space.Low[i], space.High[i]))
		}
	}
	return acts
}

// rolloutTasks are episodes with policies as large as people take for these worlds.
func rolloutTasks() (tasks []*benchTask, err error) {
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

// benchRollout is an episode, and what is needed to do its parts alone.
type benchRollout struct {
	name  string
	plan  rollout.Plan
	state *evolve.State // whose mean policy plays it
	obs   []float32     // what is observed before each step
	acts  []float64     // what is done
	steps int
}

// benchEpisode is the seed of the episode.
const benchEpisode = 1

func newBenchRollout(id, activation string) (*benchRollout, error) {
	spec, err := envs.Find(id)
	if err != nil {
		return nil, err
	}
	head := "clip"
	if spec.Action.Discrete {
		head = "argmax"
	}
	method, err := evolve.Find("openai-es")
	if err != nil {
		return nil, err
	}
	params, err := method.Complete(nil)
	if err != nil {
		return nil, err
	}
	plan, err := rollout.NewPlan(rollout.Setup{EnvID: id, Strategy: method.Name, StrategyRevision: method.Revision, Params: params, Population: 64,
		Policy: policy.Spec{Kind: "mlp", Hidden: []uint64{64, 64}, Activation: activation, Bias: true, Head: head}})
	if err != nil {
		return nil, err
	}
	r := &benchRollout{name: id + " 64-64 " + activation, plan: plan}
	r.state = lasting(plan)
	r.record()
	return r, nil
}

// lasting returns the state of a fresh policy whose episode lasts longest, as those of trained ones do.
func lasting(plan rollout.Plan) (best *evolve.State) {
	const tries = 300
	e, most := rollout.NewEvaluator(plan), uint64(0)
	for seed := range uint64(tries) {
		s := plan.Initial(seed)
		if steps := e.Run(s, s.Theta, []uint64{benchEpisode}).Steps; steps > most {
			best, most = s, steps
		}
		if most == uint64(plan.Env.MaxSteps) {
			break
		}
	}
	return best
}

// record plays the episode and keeps what was seen and done.
func (r *benchRollout) record() {
	env, rng := r.plan.Env.New(), envs.NewStream(benchEpisode)
	obs, act, scratch := make([]float32, r.plan.Env.ObsDim), make([]float64, r.plan.Policy.ActDim()), r.plan.Policy.Scratch(1)
	env.Reset(&rng, obs)
	for over := false; !over && r.steps < r.plan.Env.MaxSteps; r.steps++ {
		r.plan.Policy.Act(r.state.Theta, obs, scratch, act)
		r.obs, r.acts = append(r.obs, obs...), append(r.acts, act...)
		_, over = env.Step(&rng, act, obs)
	}
}

func (r *benchRollout) tasks() []*benchTask {
	step := &benchTask{name: r.name + ", bare step", unit: "ns", work: float64(r.steps), run: r.stepping()}
	pass := &benchTask{name: r.name + ", bare pass", unit: "ns", work: float64(r.steps), run: r.passing()}
	limit := func() float64 { return 1e3 / (step.value() + pass.value()) }
	e := rollout.NewEvaluator(r.plan)
	episodes := func(n int) func() {
		seeds := make([]uint64, n)
		for i := range seeds {
			seeds[i] = benchEpisode
		}
		return func() { e.Run(r.state, r.state.Theta, seeds) }
	}
	const several = 8
	tasks := []*benchTask{step, pass,
		{name: r.name + " rollouts", unit: "M steps/s", work: float64(r.steps), limit: limit, run: episodes(1)},
		{name: fmt.Sprintf("%s rollouts, %d episodes a candidate", r.name, several), unit: "M steps/s", work: several * float64(r.steps), limit: limit, run: episodes(several)}}
	if n := runtime.GOMAXPROCS(0); n > 1 {
		one, many := r.generation(1), r.generation(n)
		tasks = append(tasks, one, many, against(r.name+" rollouts", many, one, n))
	}
	return tasks
}

// stepping does the episode's steps without asking the policy.
func (r *benchRollout) stepping() func() {
	env, obs, dim := r.plan.Env.New(), make([]float32, r.plan.Env.ObsDim), r.plan.Policy.ActDim()
	return func() {
		rng := envs.NewStream(benchEpisode)
		env.Reset(&rng, obs)
		for at := 0; at < len(r.acts); at += dim {
			env.Step(&rng, r.acts[at:at+dim], obs)
		}
	}
}

// passing asks the policy about what was observed, without the world. As in the world no pass begins before the one
// before has chosen: its action, times zero, is part of what is seen.
func (r *benchRollout) passing() func() {
	act, scratch := make([]float64, r.plan.Policy.ActDim()), r.plan.Policy.Scratch(1)
	obs := make([]float32, r.plan.Env.ObsDim)
	return func() {
		for at := 0; at < len(r.obs); at += len(obs) {
			copy(obs, r.obs[at:])
			obs[0] += 0 * float32(act[0])
			r.plan.Policy.Act(r.state.Theta, obs, scratch, act)
		}
	}
}

// generation evaluates 64 candidates on that many cores; the value is the time of one.
func (r *benchRollout) generation(workers int) *benchTask {
	const pairs = 32
	pool := rollout.NewPool(r.plan, workers)
	task := rollout.Task{State: r.state, Episodes: [][]uint64{{benchEpisode}}}
	for seed := range uint64(pairs) {
		task.Seeds = append(task.Seeds, seed)
	}
	return &benchTask{unit: "ns", work: 2 * pairs, run: func() {
		if _, err := pool.EvaluateChecked(task, nil); err != nil {
			panic("cli: the generation of bench: " + err.Error())
		}
	}}
}
