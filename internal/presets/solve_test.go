package presets_test

import (
	"testing"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/golden"
	"github.com/evoswarm/evoswarm/internal/presets"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

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

// train runs the preset until it is solved or has taken limit env-steps, and returns
// the states' last one and whether it is solved: validate, then one test.
func train(t testing.TB, r run, seed, limit uint64) (s *evolve.State, steps uint64, solved bool) {
	plan := r.plan(t)
	pool := rollout.NewPool(plan, 0)
	s = plan.Initial(mix(seed, 0))
	n := r.preset.Population
	if plan.Strategy.Antithetic() {
		n /= 2
	}
	mean := func(tag uint64, n uint64) float64 {
		returns := make([]float64, n)
		pool.Returns(s, seedList(n, seed, tag, s.Gen), returns)
		sum := 0.0
		for _, x := range returns {
			sum += x
		}
		return sum / float64(n)
	}
	for steps < limit {
		task := rollout.Task{State: s, Seeds: seedList(n, seed, 1, s.Gen),
			Episodes: [][]uint64{seedList(r.preset.Episodes, seed, 2, s.Gen)}}
		got, err := pool.Evaluate(task, nil)
		if err != nil {
			t.Fatal(err)
		}
		results := make([]evolve.Result, n)
		for i, c := range got {
			results[i] = evolve.Result{Seed: task.Seeds[i], Fitness: c.Fitness, Steps: c.Steps}
			steps += c.Steps
		}
		s = plan.Apply(s, results, seedList(plan.ObserveEpisodes(), seed, 5, s.Gen))
		if s.Gen%r.preset.EvalEvery == 0 && mean(3, r.preset.EvalEpisodes) >= r.env.SolvedReturn && mean(4, 100) >= r.env.SolvedReturn {
			return s, steps, true
		}
	}
	return s, steps, false
}

func seedList(n uint64, tags ...uint64) []uint64 {
	seeds := make([]uint64, n)
	for i := range seeds {
		seeds[i] = mix(append(tags, uint64(i))...)
	}
	return seeds
}

// TestGoldenTraining holds the state after generations of training on CartPole.
func TestGoldenTraining(t *testing.T) { onEachEngine(t, goldenTraining) }

func goldenTraining(t *testing.T) {
	for _, strategy := range presets.Strategies("CartPole-v1") {
		s, _, _ := train(t, newRun(t, "CartPole-v1", strategy), 2000, 3000)
		sum := s.Digest()
		golden.Check(t, "training/"+strategy, sum[:])
	}
}

// TestPresetsSolve runs presets that never failed in trials again, on tuning seeds.
func TestPresetsSolve(t *testing.T) {
	for _, test := range []struct {
		id    string
		limit uint64
	}{{"CartPole-v1", 200_000}, {"Acrobot-v1", 400_000}, {"MountainCarContinuous-v0", 600_000}} {
		for _, strategy := range presets.Strategies(test.id) {
			r := newRun(t, test.id, strategy)
			if trials := r.preset.Trials; trials.Solved < trials.Runs {
				continue
			}
			for seed := uint64(1000); seed < 1005; seed++ {
				if s, steps, solved := train(t, r, seed, test.limit); !solved {
					t.Errorf("%s %s seed %d: not solved in %d generations, %d env-steps", test.id, strategy, seed, s.Gen, steps)
				}
			}
		}
	}
}

// TestDefaultsSolveLanders runs the landers' default presets on a tuning seed.
func TestDefaultsSolveLanders(t *testing.T) {
	if testing.Short() {
		t.Skip("trains for half a minute")
	}
	for _, test := range []struct {
		id    string
		limit uint64
	}{{"LunarLanderContinuous-v3", 600_000}, {"LunarLander-v3", 1_500_000}} {
		r := newRun(t, test.id, "")
		if s, steps, solved := train(t, r, 1000, test.limit); !solved {
			t.Errorf("%s: not solved in %d generations, %d env-steps", test.id, s.Gen, steps)
		}
	}
}

// TestDefaultWalks runs the walker's default preset on a tuning seed until it walks well:
// who stands gets -30, who falls at once -100. To solve it takes minutes.
func TestDefaultWalks(t *testing.T) {
	if testing.Short() {
		t.Skip("trains for half a minute")
	}
	r := newRun(t, "BipedalWalker-v3", "")
	walks := *r.env
	walks.SolvedReturn = 200
	r.env = &walks
	if s, steps, ok := train(t, r, 1000, 2_000_000); !ok {
		t.Errorf("does not walk after %d generations, %d env-steps", s.Gen, steps)
	}
}

// BenchmarkTrain is a run from seed to solved, held-out episodes included.
func BenchmarkTrain(b *testing.B) {
	for _, strategy := range presets.Strategies("CartPole-v1") {
		b.Run("CartPole-v1/"+strategy, func(b *testing.B) {
			r := newRun(b, "CartPole-v1", strategy)
			var steps, seed uint64 = 0, 1000
			for b.Loop() {
				_, n, _ := train(b, r, seed, 1_000_000)
				steps += n
				seed++
			}
			b.ReportMetric(float64(steps)/float64(b.N), "train-steps/op")
		})
	}
}
