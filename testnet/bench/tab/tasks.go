package main

import (
	"fmt"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/kernel"
	"github.com/evoswarm/evoswarm/internal/noise"
	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

// tasks are all rows.
func tasks() ([]*task, error) {
	var peak kernel.Kernel
	for _, k := range kernel.All() {
		if k.Name == kernel.Active() {
			peak = k
		}
	}
	eps := make([]float32, 1<<14)
	all := []*task{
		{name: "multiply-add", unit: "GMAC/s", run: func(repeat int) float64 { return float64(peak.MultiplyAdd(1000*repeat)) / 1e9 }},
		layers("layers 24-64-64-4", nil, 1, 24, 64, 64, 4),
		layers("layers 24-64-64-4 tanh", kernel.Tanh, 1, 24, 64, 64, 4),
		layers("layers 24-64-64-4 tanh x 16", kernel.Tanh, 16, 24, 64, 64, 4),
		layers("layers 4-64-64-2 tanh", kernel.Tanh, 1, 4, 64, 64, 2),
		layers("layers 4-16-2 tanh", kernel.Tanh, 1, 4, 16, 2),
		layers("layers 376-256-256-17 tanh", kernel.Tanh, 1, 376, 256, 256, 17),
		layers("layers 376-256-256-17 tanh x 16", kernel.Tanh, 16, 376, 256, 256, 17),
		{name: "noise", unit: "Gsamples/s", run: func(repeat int) float64 {
			for range repeat {
				kernel.Normal(eps[:1024], 7, 0)
			}
			return float64(1024*repeat) / 1e9
		}},
		{name: "update", unit: "Gsamples/s", run: func(repeat int) float64 {
			for i := range repeat {
				kernel.Accumulate(eps[:1024], 0.001, uint64(i), 1024)
			}
			return float64(1024*repeat) / 1e9
		}},
	}
	large := policy.Spec{Kind: "mlp", Hidden: []uint64{64, 64}, Activation: "tanh", Bias: true, Head: "argmax"}
	clip := policy.Spec{Kind: "linear", Head: "clip"}
	for _, w := range []struct {
		id, name string
		policy   policy.Spec
	}{
		{"CartPole-v1", "64-64 tanh", large},
		{"Acrobot-v1", "64-64 tanh", large},
		{"LunarLander-v3", "linear", policy.Spec{Kind: "linear", Bias: true, Head: "argmax"}},
		{"BipedalWalker-v3", "linear", clip},
		{"InvertedPendulum-v5", "linear", clip},
		{"InvertedDoublePendulum-v5", "linear", clip},
		{"Reacher-v5", "linear", clip},
		{"Swimmer-v5", "linear", clip},
		{"Hopper-v5", "linear", clip},
		{"HalfCheetah-v5", "linear", clip},
		{"Walker2d-v5", "linear", clip},
		{"Ant-v5", "linear", clip},
		{"Humanoid-v5", "linear", clip},
	} {
		bare, err := steps(w.id)
		if err != nil {
			return nil, err
		}
		whole, err := rollouts(w.id, w.policy, w.name)
		if err != nil {
			return nil, err
		}
		all = append(all, bare, whole)
	}
	return all, nil
}

// layers passes n observations through layers; each pass waits for the previous one.
func layers(name string, activate func(y []float32), rows int, sizes ...int) *task {
	var w, b, h [][]float32
	pairs := 0
	for l, out := range sizes[1:] {
		weights := make([]float32, sizes[l]*out)
		noise.FillNormal(weights, uint64(l), 0)
		for i := range weights {
			weights[i] *= 0.1
		}
		w, b, h = append(w, weights), append(b, make([]float32, out)), append(h, make([]float32, rows*out))
		pairs += rows * len(weights)
	}
	x := make([]float32, rows*sizes[0])
	noise.FillNormal(x, 9, 0)
	return &task{name: name, unit: "GMAC/s", run: func(repeat int) float64 {
		for range repeat {
			in := x
			for l := range h {
				if rows == 1 {
					kernel.Dense(h[l], w[l], b[l], in)
				} else {
					kernel.DenseBatch(h[l], w[l], b[l], in, rows)
				}
				if activate != nil && l < len(h)-1 {
					activate(h[l])
				}
				in = h[l]
			}
			x[0] = in[0]
		}
		return float64(pairs*repeat) / 1e9
	}}
}

// steps steps an environment with random actions, resets included.
func steps(id string) (*task, error) {
	spec, err := envs.Find(id)
	if err != nil {
		return nil, err
	}
	world, obs := spec.New(), make([]float32, spec.ObsDim)
	seed, done, taken := uint64(0), true, 0
	var rng noise.Stream
	actions, draws := make([][]float64, 1024), noise.NewStream(1, noise.DomainAction)
	for i := range actions {
		actions[i] = make([]float64, spec.Action.Dim)
		spec.Action.Sample(actions[i], &draws)
	}
	return &task{name: "steps " + id, unit: "M/s", run: func(repeat int) float64 {
		for range 100 * repeat {
			if done || taken == spec.MaxSteps {
				seed++
				rng = noise.NewStream(seed, noise.DomainEpisode)
				world.Reset(&rng, obs)
				taken = 0
			}
			_, done = world.Step(&rng, actions[taken%len(actions)], obs)
			taken++
		}
		return float64(100*repeat) / 1e6
	}}, nil
}

// rollouts is what a worker does: tasks as bytes, results as bytes, of a policy that survives in CartPole and does
// next to nothing elsewhere.
func rollouts(id string, p policy.Spec, name string) (*task, error) {
	const candidates = 4
	method, err := evolve.Find("openai-es")
	if err != nil {
		return nil, err
	}
	params, err := method.Complete(evolve.Params{"sigma": 1e-4})
	if err != nil {
		return nil, err
	}
	setup := rollout.Setup{EnvID: id, Strategy: method.Name, Params: params, Population: 8, Policy: p}
	plan, err := rollout.NewPlan(setup)
	if err != nil {
		return nil, err
	}
	worker, err := rollout.NewWorker(setup)
	if err != nil {
		return nil, err
	}
	state := plan.Initial(1)
	if id == "CartPole-v1" {
		stand(state.Theta, plan.Policy)
	}
	data, err := state.MarshalBinary()
	if err != nil {
		return nil, err
	}
	if err := worker.SetState(data); err != nil {
		return nil, err
	}
	seed := uint64(0)
	return &task{name: "rollouts " + id + " " + name, unit: "Msteps/s", run: func(repeat int) float64 {
		taken := uint64(0)
		for range repeat {
			seeds := make([]uint64, candidates)
			for i := range seeds {
				seed++
				seeds[i] = seed
			}
			taken += evaluate(worker, rollout.Task{State: state, Seeds: seeds, Episodes: [][]uint64{{seed}}})
		}
		return float64(taken) / 1e6
	}}, nil
}

// evaluate returns the number of env-steps.
func evaluate(w *rollout.Worker, t rollout.Task) (steps uint64) {
	data, err := rollout.MarshalTask(t)
	if err == nil {
		data, err = w.Evaluate(data)
	}
	var results []rollout.CandidateResult
	if err == nil {
		results, err = rollout.UnmarshalResults(data, len(t.Seeds))
	}
	if err != nil {
		panic(fmt.Sprintf("tab: %v", err)) // the task is ours
	}
	for _, r := range results {
		steps += r.Steps
	}
	return steps
}

// stand writes parameters that keep CartPole's pole up: one path through unit 0 of every layer carries angle + angular
// velocity to the output for right, and left wins the tie. The other units feed nothing.
func stand(theta []float32, p *policy.Policy) {
	first := true
	for _, l := range p.Layout() {
		if l.Rows == 1 {
			continue // a bias
		}
		w := theta[l.Offset : l.Offset+l.Rows*l.Cols]
		last := l.Cols == p.Outputs()
		for i := range l.Rows {
			if last {
				clear(w[i*l.Cols : (i+1)*l.Cols])
			}
			w[i*l.Cols] = 0
		}
		to := 0
		if last {
			to = 1
		}
		if first {
			w[2*l.Cols+to], w[3*l.Cols+to] = 1, 1
		} else {
			w[to] = 1
		}
		first = false
	}
}
