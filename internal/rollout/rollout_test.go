package rollout_test

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/evoswarm/evoswarm/envs"
	_ "github.com/evoswarm/evoswarm/envs/all"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/noise"
	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/internal/presets"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

// run is what a preset makes of a world.
type run struct {
	env      *envs.Spec
	policy   *policy.Policy
	strategy evolve.Strategy
	preset   presets.Preset
}

func newRun(t testing.TB, envID, strategy string) run {
	t.Helper()
	env, err := envs.Find(envID)
	if err != nil {
		t.Fatal(err)
	}
	if strategy == "" {
		strategy = presets.DefaultStrategy(envID)
	}
	method, err := evolve.Find(strategy)
	if err != nil {
		t.Fatal(err)
	}
	p := presets.For(env, method)
	pol, err := policy.New(p.Policy, env)
	if err != nil {
		t.Fatal(err)
	}
	st, err := method.New(p.Params, evolve.Size{Dim: pol.Dim(), Population: int(p.Population)})
	if err != nil {
		t.Fatal(err)
	}
	return run{env, pol, st, p}
}

// plan returns what evaluators and pools are made of.
func (r run) plan() rollout.Plan {
	return rollout.Plan{Env: r.env, Policy: r.policy, Strategy: r.strategy}
}

// state returns a state some way from the initial one.
func (r run) state() *evolve.State {
	theta := make([]float32, r.policy.Dim())
	r.policy.Init(theta, 5)
	s := r.strategy.Init(theta)
	return r.strategy.Apply(s, []evolve.Result{{Seed: 99, Fitness: [2]int64{2, 1}}})
}

// task names n candidates with as many episodes each, shared or not.
func (r run) task(n, episodes int, shared bool) rollout.Task {
	t := rollout.Task{State: r.state()}
	for i := range n {
		t.Seeds = append(t.Seeds, uint64(1000+i))
		if i == 0 || !shared {
			var list []uint64
			for e := range episodes {
				list = append(list, uint64(5000+100*i+e))
			}
			t.Episodes = append(t.Episodes, list)
		}
	}
	return t
}

// dumb evaluates one policy the plain way, with new objects for every episode.
func dumb(r run, theta []float32, seeds []uint64) (returns []float64, steps uint64) {
	for _, seed := range seeds {
		env := r.env.New()
		rng := noise.NewStream(seed, noise.DomainEpisode)
		obs, act := make([]float32, r.env.ObsDim), make([]float64, r.env.Action.Dim)
		env.Reset(&rng, obs)
		ret, terminated := 0.0, false
		for n := 0; n < r.env.MaxSteps && !terminated; n++ {
			var reward float64
			r.policy.Act(theta, obs, r.policy.Scratch(1), act)
			reward, terminated = env.Step(&rng, act, obs)
			ret += reward
			steps++
		}
		returns = append(returns, ret)
	}
	return returns, steps
}

func TestEvaluatorTwin(t *testing.T) {
	for _, id := range presets.Envs() {
		r := newRun(t, id, "")
		s := r.state()
		seeds := []uint64{3, 1, 4, 1}
		want, wantSteps := dumb(r, s.Theta, seeds)
		e := rollout.NewEvaluator(r.plan())
		e.Run(s, s.Theta, []uint64{8}) // must leave nothing behind
		got := make([]float64, len(seeds))
		if steps := e.Returns(s, seeds, got); steps != wantSteps || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: Returns gives %v in %d steps, want %v in %d", id, got, steps, want, wantSteps)
		}
		sum := 0.0
		for _, x := range want {
			sum += x
		}
		outcome := rollout.Outcome{Fitness: rollout.ToFitness(sum / 4), Steps: wantSteps}
		if got := e.Run(s, s.Theta, seeds); got != outcome {
			t.Errorf("%s: Run gives %+v, want %+v", id, got, outcome)
		}
	}
}

func TestEvaluatorDoesNotAllocate(t *testing.T) {
	for _, id := range presets.Envs() {
		r := newRun(t, id, "")
		e := rollout.NewEvaluator(r.plan())
		theta, seeds := r.state().Theta, []uint64{1, 2}
		if n := testing.AllocsPerRun(10, func() { e.Run(&evolve.State{Theta: theta}, theta, seeds) }); n != 0 {
			t.Errorf("%s: Run allocates %v times, want none", id, n)
		}
	}
}

// TestNaNPolicy: whatever parameters hold, fitness is a number or InvalidFitness.
func TestNaNPolicy(t *testing.T) {
	for _, id := range presets.Envs() {
		r := newRun(t, id, "")
		theta := make([]float32, r.policy.Dim())
		for i := range theta {
			theta[i] = float32(math.NaN())
		}
		out := rollout.NewEvaluator(r.plan()).Run(&evolve.State{Theta: theta}, theta, []uint64{1})
		if out.Steps == 0 || out.Steps > uint64(r.env.MaxSteps) {
			t.Errorf("%s: %d steps, want 1 to %d", id, out.Steps, r.env.MaxSteps)
		}
	}
}

func TestPoolTwin(t *testing.T) {
	for _, name := range []string{"dises", "openai-es"} {
		for _, shared := range []bool{true, false} {
			r := newRun(t, "CartPole-v1", name)
			task := r.task(9, 2, shared)
			var want []rollout.CandidateResult
			theta := make([]float32, r.policy.Dim())
			e := rollout.NewEvaluator(r.plan())
			for i, seed := range task.Seeds {
				episodes := task.Episodes[0]
				if !shared {
					episodes = task.Episodes[i]
				}
				r.strategy.Candidate(theta, task.State, seed, 1)
				out := e.Run(&evolve.State{Theta: theta}, theta, episodes)
				res := rollout.CandidateResult{Fitness: [2]int64{out.Fitness}, Steps: out.Steps}
				if r.strategy.Antithetic() {
					r.strategy.Candidate(theta, task.State, seed, -1)
					out = e.Run(&evolve.State{Theta: theta}, theta, episodes)
					res.Fitness[1] = out.Fitness
					res.Steps += out.Steps
				}
				want = append(want, res)
			}
			for _, workers := range []int{0, 1, 2, 3, 64} {
				pool := rollout.NewPool(r.plan(), workers)
				for range 2 {
					got, err := pool.Evaluate(task, nil)
					if err != nil {
						t.Fatal(err)
					}
					if !reflect.DeepEqual(got, want) {
						t.Errorf("%s, shared %t, %d workers: got %v, want %v", name, shared, workers, got, want)
					}
				}
			}
		}
	}
}

func TestPoolReturns(t *testing.T) {
	r := newRun(t, "CartPole-v1", "")
	theta := r.state().Theta
	seeds := make([]uint64, 17)
	for i := range seeds {
		seeds[i] = uint64(i * i)
	}
	want := make([]float64, len(seeds))
	wantSteps := rollout.NewEvaluator(r.plan()).Returns(&evolve.State{Theta: theta}, seeds, want)
	for _, workers := range []int{1, 2, 5, 40} {
		got := make([]float64, len(seeds))
		pool := rollout.NewPool(r.plan(), workers)
		if steps := pool.Returns(&evolve.State{Theta: theta}, seeds, got); steps != wantSteps || !reflect.DeepEqual(got, want) {
			t.Errorf("%d workers: %v in %d steps, want %v in %d", workers, got, steps, want, wantSteps)
		}
	}
}

func TestPoolCancel(t *testing.T) {
	r := newRun(t, "CartPole-v1", "")
	pool := rollout.NewPool(r.plan(), 3)
	task := r.task(50, 1, true)
	var calls atomic.Int64
	_, err := pool.Evaluate(task, func() bool { return calls.Add(1) > 5 })
	if !errors.Is(err, rollout.ErrCanceled) {
		t.Errorf("error %v, want ErrCanceled", err)
	}
	if n := calls.Load(); n > 5+3 {
		t.Errorf("asked %d times, want at most once per goroutine after the fifth", n)
	}
	if res, err := pool.Evaluate(task, func() bool { return false }); err != nil || len(res) != 50 {
		t.Errorf("after a cancelled task: %d results, error %v, want 50 and none", len(res), err)
	}
}

func TestPoolConcurrentUse(t *testing.T) {
	r := newRun(t, "CartPole-v1", "openai-es")
	pool := rollout.NewPool(r.plan(), 2)
	task := r.task(6, 1, true)
	want, err := pool.Evaluate(task, nil)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 4)
	for range cap(done) {
		go func() {
			got, err := pool.Evaluate(task, nil)
			if err == nil && !reflect.DeepEqual(got, want) {
				err = fmt.Errorf("got %v, want %v", got, want)
			}
			done <- err
		}()
	}
	for range cap(done) {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

func TestBadTasks(t *testing.T) {
	r := newRun(t, "CartPole-v1", "")
	pool := rollout.NewPool(r.plan(), 1)
	for name, change := range map[string]func(*rollout.Task){
		"no state":         func(t *rollout.Task) { t.State = nil },
		"no seeds":         func(t *rollout.Task) { t.Seeds = nil },
		"too many seeds":   func(t *rollout.Task) { t.Seeds = make([]uint64, rollout.MaxCandidates+1) },
		"no list":          func(t *rollout.Task) { t.Episodes = nil },
		"lists missing":    func(t *rollout.Task) { t.Episodes = t.Episodes[:2] },
		"no episodes":      func(t *rollout.Task) { t.Episodes = [][]uint64{{}} },
		"unequal lists":    func(t *rollout.Task) { t.Episodes[1] = t.Episodes[1][:1] },
		"too many in list": func(t *rollout.Task) { t.Episodes = [][]uint64{make([]uint64, rollout.MaxEpisodes+1)} },
	} {
		task := r.task(3, 2, false)
		change(&task)
		if _, err := pool.Evaluate(task, nil); !errors.Is(err, rollout.ErrTask) {
			t.Errorf("%s: Evaluate gives %v, want ErrTask", name, err)
		}
		if _, err := rollout.MarshalTask(task); !errors.Is(err, rollout.ErrTask) {
			t.Errorf("%s: MarshalTask gives %v, want ErrTask", name, err)
		}
	}
	task := r.task(3, 2, false)
	task.State.Theta = task.State.Theta[1:]
	if _, err := pool.Evaluate(task, nil); !errors.Is(err, evolve.ErrState) {
		t.Errorf("theta too short: Evaluate gives %v, want ErrState", err)
	}
}

// walker reports whether the world's episodes take seconds under an emulator.
func walker(id string) bool {
	return strings.HasPrefix(id, "BipedalWalker") || strings.HasSuffix(id, "-v5")
}

// mix makes seeds of numbers, as splitmix64 does.
func mix(xs ...uint64) uint64 {
	h := uint64(0)
	for _, x := range xs {
		h += x + 0x9e3779b97f4a7c15
		h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
		h = (h ^ h>>27) * 0x94d049bb133111eb
		h ^= h >> 31
	}
	return h
}

func seedList(n uint64, tags ...uint64) []uint64 {
	seeds := make([]uint64, n)
	for i := range seeds {
		seeds[i] = mix(append(tags, uint64(i))...)
	}
	return seeds
}
