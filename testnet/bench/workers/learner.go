package main

import (
	"fmt"
	"math/rand/v2"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// learner holds the model, and computes candidates of it.
type learner struct {
	rules   *seedlog.Rules
	rng     *rand.Rand
	pool    *rollout.Pool
	state   *evolve.State
	updates uint32
	steps   uint64 // of all results in updates
	solved  bool
	tested  float64 // when it was tested last, in seconds
	told    func(test)
}

// late is a result, and how many updates its state has.
type late struct {
	evolve.Result
	on uint32
}

// test is how the mean does in episodes of its own, next to what the newest update was made of.
type test struct {
	seconds, returns, candidates, length, age float64
	updates                                   uint32
	steps                                     uint64
}

func (t test) String() string {
	return fmt.Sprintf("%.1f | %d | %.2f | %.0f | %.0f | %.0f | %.1f", t.seconds, t.updates, float64(t.steps)/1e6, t.returns, t.candidates, t.length, t.age)
}

// fewest is how many results an update has at least.
const fewest = 8

const (
	testEvery    = 2   // seconds
	testEpisodes = 16  // at first
	goalEpisodes = 100 // of a mean that is good in those
)

func newLearner(rules *seedlog.Rules, seed uint64) *learner {
	return &learner{rules: rules, rng: rand.New(rand.NewPCG(seed, 1)), pool: rollout.NewPool(rules.Plan, 0), state: rules.Initial()}
}

func (l *learner) draw(n uint64) []uint64 {
	seeds := make([]uint64, n)
	for i := range seeds {
		seeds[i] = l.rng.Uint64()
	}
	return seeds
}

// evaluate gives results of n candidates of a state.
func (l *learner) evaluate(state *evolve.State, n int) []evolve.Result {
	task := rollout.Task{State: state, Seeds: l.draw(uint64(n))}
	for range n {
		task.Episodes = append(task.Episodes, l.draw(max(l.rules.Spec.Episodes.Count, 1)))
	}
	got, err := l.pool.Evaluate(task, nil)
	if err != nil {
		fatal(err)
	}
	results := make([]evolve.Result, n)
	for i, r := range got {
		results[i] = evolve.Result{Seed: task.Seeds[i], Fitness: r.Fitness, Steps: r.Steps}
	}
	return results
}

// update makes an update of those results that are not too old, if they are enough to rank.
func (l *learner) update(now float64, all []late) bool {
	var results []evolve.Result
	t := test{seconds: now}
	for _, r := range all {
		if age := l.updates - r.on; uint64(age) <= l.rules.Spec.Generation.MaxStale {
			r.Group = age
			results = append(results, r.Result)
			l.steps += r.Steps
			t.candidates += rollout.FromFitness(r.Fitness[0])
			t.length += float64(r.Steps)
			t.age += float64(age)
		}
	}
	if len(results) < fewest {
		return false
	}
	l.state = l.rules.Plan.Apply(l.state, results, l.draw(l.rules.ObserveEpisodes()))
	l.updates++
	if now-l.tested >= testEvery {
		n := float64(len(results))
		t.candidates, t.length, t.age = t.candidates/n, t.length/n, t.age/n
		l.test(t)
	}
	return true
}

func (l *learner) test(t test) {
	l.tested, t.updates, t.steps = t.seconds, l.updates, l.steps
	goal := l.rules.Env.SolvedReturn
	if t.returns = l.held(testEpisodes); t.returns >= goal {
		t.returns = l.held(goalEpisodes)
		l.solved = t.returns >= goal
	}
	l.told(t)
}

// held is the mean return of the mean's policy.
func (l *learner) held(episodes uint64) float64 {
	returns, sum := make([]float64, episodes), 0.0
	l.pool.Returns(l.state, l.draw(episodes), returns)
	for _, r := range returns {
		sum += r
	}
	return sum / float64(episodes)
}
