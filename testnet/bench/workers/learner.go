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
	rules  *seedlog.Rules
	rng    *rand.Rand
	pool   *rollout.Pool
	newest model
	steps  uint64 // of all results in updates
	solved bool
	tested float64 // when it was tested last, in seconds
	told   func(test)
}

// model is a state and, where its candidates share episodes, those.
type model struct {
	*evolve.State
	episodes []uint64
}

// late is a result, and how many updates its state has.
type late struct {
	evolve.Result
	on uint64
}

// test is how the mean does in episodes of its own, next to what the newest update was made of.
type test struct {
	seconds, returns, candidates, length, age float64
	updates, steps                            uint64
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
	l := &learner{rules: rules, rng: rand.New(rand.NewPCG(seed, 1)), pool: rollout.NewPool(rules.Plan, 0)}
	l.next(rules.Initial())
	return l
}

// next makes a state the newest one.
func (l *learner) next(s *evolve.State) {
	m := model{State: s}
	if l.rules.Spec.Episodes.Shared {
		m.episodes = l.draw(l.rules.Spec.Episodes.Count)
	}
	l.newest = m
}

func (l *learner) draw(n uint64) []uint64 {
	seeds := make([]uint64, n)
	for i := range seeds {
		seeds[i] = l.rng.Uint64()
	}
	return seeds
}

// evaluate gives results of n candidates of a model.
func (l *learner) evaluate(m model, n int) []late {
	task := rollout.Task{State: m.State, Seeds: l.draw(uint64(n))}
	if m.episodes != nil {
		task.Episodes = [][]uint64{m.episodes}
	}
	for m.episodes == nil && len(task.Episodes) < n {
		task.Episodes = append(task.Episodes, l.draw(l.rules.Spec.Episodes.Count))
	}
	got, err := l.pool.Evaluate(task, nil)
	if err != nil {
		fatal(err)
	}
	results := make([]late, n)
	for i, r := range got {
		results[i] = late{evolve.Result{Seed: task.Seeds[i], Fitness: r.Fitness, Steps: r.Steps}, m.Gen}
	}
	return results
}

// update makes an update of those results that are not too old, if they are enough to rank.
func (l *learner) update(now float64, all []late) bool {
	var results []evolve.Result
	t := test{seconds: now}
	for _, r := range all {
		if age := l.newest.Gen - r.on; age <= l.rules.Spec.Generation.MaxStale {
			r.Group = uint32(age)
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
	l.next(l.rules.Plan.Apply(l.newest.State, results, l.draw(l.rules.ObserveEpisodes())))
	if now-l.tested >= testEvery {
		n := float64(len(results))
		t.candidates, t.length, t.age = t.candidates/n, t.length/n, t.age/n
		l.test(t)
	}
	return true
}

func (l *learner) test(t test) {
	l.tested, t.updates, t.steps = t.seconds, l.newest.Gen, l.steps
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
	l.pool.Returns(l.newest.State, l.draw(episodes), returns)
	for _, r := range returns {
		sum += r
	}
	return sum / float64(episodes)
}
