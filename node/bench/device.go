package bench

import (
	"fmt"
	"time"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/gpu"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

const (
	// firstPopulation is the population at which drivers compile what they compile late.
	firstPopulation = 128
	// unitCandidates are the candidates for each processor of a device at which measuring starts: with fewer, a GPU
	// waits for its memory. They are doubled until an evaluation takes long enough, up to what a task holds.
	unitCandidates = 256
	// passCandidates are those of a forward pass.
	passCandidates = 4096
)

// deviceTasks are what devices do, next to one core of this computer. An evaluation takes about each.
func deviceTasks(each time.Duration) (tasks []*task, err error) {
	devices, missing := gpu.Devices()
	used := 0
	for _, info := range devices {
		if info.Err != nil {
			err = fmt.Errorf("%s: %w", info.Name, info.Err)
			continue
		}
		rows, failure := tasksOn(info, each)
		if failure != nil {
			err = fmt.Errorf("%s: %w", info.Name, failure)
			continue
		}
		used++
		tasks = append(tasks, rows...)
	}
	switch {
	case used > 0:
		return tasks, nil
	case err != nil:
		return nil, err
	}
	return nil, missing
}

// known is a row whose value is measured already.
func known(name, unit string, value float64) *task {
	return &task{name: name, unit: unit, derive: func() float64 { return value }}
}

// tasksOn measures a device.
func tasksOn(info gpu.Info, each time.Duration) (tasks []*task, err error) {
	begin := time.Now()
	small, err := benchPlan("CartPole-v1", "tanh")
	if err != nil {
		return nil, err
	}
	d, err := gpu.Open(info, small)
	if err != nil {
		return nil, err
	}
	state := lastingState(small)
	if _, err := d.Evaluate(population(state, 1), nil); err != nil {
		d.Close()
		return nil, err
	}
	tasks = append(tasks, known(name(info)+" start to first evaluation", "ms", time.Since(begin).Seconds()*1e3))
	d.Close()
	rows, err := layersOn(info)
	if err != nil {
		return nil, err
	}
	tasks = append(tasks, rows...)
	for _, id := range []string{"CartPole-v1", "LunarLander-v3", "BipedalWalker-v3"} {
		rows, err := rolloutsOn(info, id, each)
		if err != nil {
			return nil, err
		}
		tasks = append(tasks, rows...)
	}
	return tasks, nil
}

// name is short: evonode device list says which device it is.
func name(info gpu.Info) string { return fmt.Sprintf("device %d", info.Number) }

// layersOn measures noise and the forward pass of policies of 24-64-64-4 units.
func layersOn(info gpu.Info) ([]*task, error) {
	plan, err := benchPlan("BipedalWalker-v3", "tanh")
	if err != nil {
		return nil, err
	}
	d, err := gpu.Open(info, plan)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	t := population(plan.Initial(1), passCandidates/2)
	pairs, bytes, err := gpu.Limits(info)
	if err != nil {
		return nil, err
	}
	took, samples, err := d.Noise(t)
	if err != nil {
		return nil, err
	}
	noise := known(name(info)+" perturb", "ns", float64(took.Nanoseconds())/float64(samples))
	took, err = d.Passes(t)
	if err != nil {
		return nil, err
	}
	// A parameter is a product and a sum, or a bias; and four bytes to read.
	weights := float64(2 * len(t.Seeds) * len(t.State.Theta))
	layers := known(fmt.Sprintf("%s layers 24-64-64-4 tanh of %d candidates", name(info), passCandidates), "GMAC/s", weights/float64(took.Nanoseconds()))
	layers.limit = func() float64 { return min(pairs, bytes/4) / 1e9 }
	return []*task{noise, layers,
		known(name(info)+" multiply-add in registers", "GMAC/s", pairs/1e9), known(name(info)+" memory read", "GB/s", bytes/1e9)}, nil
}

// rolloutsOn measures whole evaluations of a population, each candidate in one episode, and the same on a core.
func rolloutsOn(info gpu.Info, id string, each time.Duration) ([]*task, error) {
	plan, err := benchPlan(id, "tanh")
	if err != nil {
		return nil, err
	}
	d, err := gpu.Open(info, plan)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	state := lastingState(plan)
	what, rate, n := name(info)+" "+id+" 64-64 tanh", 0.0, firstPopulation/2
	if _, err := d.Evaluate(population(state, n), nil); err != nil { // drivers compile once more at the first launch
		return nil, err
	}
	n = min(max(n, info.Units*unitCandidates/2), rollout.MaxCandidates/2)
	for {
		begin := time.Now()
		results, err := d.Evaluate(population(state, n), nil)
		if err != nil {
			return nil, err
		}
		took := time.Since(begin)
		rate = max(rate, stepsOf(results)/took.Seconds())
		if took > each/2 || 2*n > rollout.MaxCandidates {
			break
		}
		n *= 2
	}
	pool, one := rollout.NewPool(plan, 1), population(state, 16)
	best := 0.0
	for end := time.Now().Add(each / 2); best == 0 || time.Now().Before(end); {
		begin := time.Now()
		results, err := pool.EvaluateChecked(one, nil)
		if err != nil {
			return nil, err
		}
		best = max(best, stepsOf(results)/time.Since(begin).Seconds())
	}
	return []*task{
		known(fmt.Sprintf("%s rollouts, %d candidates", what, 2*n), "M steps/s", rate/1e6),
		known(what+" rollouts against 1 core", "times", rate/best),
	}, nil
}

// lastingState returns the state of a fresh policy whose episodes last longest of a few, as those of trained ones do.
func lastingState(plan rollout.Plan) *evolve.State {
	short := *plan.Env
	short.MaxSteps = benchSteps
	plan.Env = &short
	r := benchRollout{plan: plan}
	return r.lasting()
}

// population is a task of that many pairs of candidates, each in one episode, which is another one for each pair.
func population(s *evolve.State, pairs int) rollout.Task {
	t := rollout.Task{State: s}
	for i := range uint64(pairs) {
		t.Seeds = append(t.Seeds, i)
		t.Episodes = append(t.Episodes, []uint64{i})
	}
	return t
}

func stepsOf(results []rollout.CandidateResult) (steps float64) {
	for _, r := range results {
		steps += float64(r.Steps)
	}
	return steps
}
