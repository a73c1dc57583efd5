package rollout_test

import (
	"sort"
	"testing"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

// TestPresets checks that every preset is a run that can be started.
func TestPresets(t *testing.T) {
	ids := rollout.PresetEnvs()
	if !sort.StringsAreSorted(ids) || len(ids) != 9 {
		t.Errorf("PresetEnvs = %v, want the five classic worlds and the four on Box2D, sorted", ids)
	}
	for _, id := range ids {
		for _, m := range evolve.Methods() {
			r := newRun(t, id, m.Name)
			p, signs := r.preset, uint64(1)
			if r.strategy.Antithetic() {
				signs = 2
			}
			if p.Strategy != m.Name || p.Evaluations == 0 || p.Evaluations%signs != 0 {
				t.Errorf("%s %s: %d evaluations", id, m.Name, p.Evaluations)
			}
			if p.EpisodesPerCandidate == 0 || p.ValidateEvery == 0 || p.ValidateEpisodes == 0 {
				t.Errorf("%s %s: %+v has a zero", id, m.Name, p)
			}
			if err := m.Check(p.Params); err != nil {
				t.Errorf("%s %s: %v", id, m.Name, err)
			}
		}
		p, ok := rollout.PresetFor(id, "")
		if !ok || p.Strategy != rollout.DefaultStrategy(id) {
			t.Errorf("%s: the default is %q with preset %q", id, rollout.DefaultStrategy(id), p.Strategy)
		}
	}
	if _, ok := rollout.PresetFor("CartPole-v1", "magic"); ok {
		t.Error("a preset for an unknown strategy")
	}
	if _, ok := rollout.PresetFor("Chess-v0", ""); ok {
		t.Error("a preset for an unknown world")
	}
}

func TestPresetsAreTheCallers(t *testing.T) {
	p, _ := rollout.PresetFor("CartPole-v1", "dises")
	p.Params["sigma"] = 99.0
	again, _ := rollout.PresetFor("CartPole-v1", "dises")
	if again.Params["sigma"] == 99.0 {
		t.Error("changing a preset changed the next one")
	}
	p, _ = rollout.PresetFor("Pendulum-v1", "")
	p.Policy.Hidden[0] = 99
	if again, _ = rollout.PresetFor("Pendulum-v1", ""); again.Policy.Hidden[0] == 99 {
		t.Error("changing a preset's policy changed the next one")
	}
}

// TestUntried checks that every strategy can start in a world without a preset.
func TestUntried(t *testing.T) {
	for _, id := range rollout.PresetEnvs() {
		env, err := envs.Find(id)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range evolve.Methods() {
			p := rollout.Untried(env.Action.Discrete, m.Name)
			_, err := rollout.NewPlan(rollout.Setup{
				EnvID: id, EnvRevision: env.Revision, Policy: p.Policy, Strategy: p.Strategy, StrategyRevision: m.Revision,
				Params: p.Params, Population: p.Evaluations,
				Episodes: rollout.Episodes{Count: p.EpisodesPerCandidate, Conditions: p.Conditions, Observations: p.Observations},
			})
			if err != nil || p.Strategy != m.Name || p.ValidateEvery == 0 || p.ValidateEpisodes == 0 {
				t.Errorf("%s %s: %+v gives %v", id, m.Name, p, err)
			}
		}
	}
	if p := rollout.Untried(true, "magic"); p.Evaluations == 0 || p.Policy.Kind == "" || p.EpisodesPerCandidate == 0 {
		t.Errorf("for an unknown strategy: %+v", p)
	}
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

// train runs the preset until it is solved or has taken limit env-steps, and returns
// the states' last one and whether it is solved: validate, then one test.
func train(t testing.TB, r run, seed, limit uint64) (s *evolve.State, steps uint64, solved bool) {
	plan := r.plan()
	plan.Episodes = rollout.Episodes{Count: r.preset.EpisodesPerCandidate, Conditions: r.preset.Conditions, Observations: r.preset.Observations}
	pool := rollout.NewPool(plan, 0)
	s = plan.Initial(mix(seed, 0))
	n := r.preset.Evaluations
	if r.strategy.Antithetic() {
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
			Episodes: [][]uint64{seedList(r.preset.EpisodesPerCandidate, seed, 2, s.Gen)}}
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
		if s.Gen%r.preset.ValidateEvery == 0 && mean(3, r.preset.ValidateEpisodes) >= r.env.SolvedReturn && mean(4, 100) >= r.env.SolvedReturn {
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

// TestPresetsSolve runs the presets that are meant to be reliable on tuning seeds.
func TestPresetsSolve(t *testing.T) {
	for _, test := range []struct {
		id    string
		limit uint64
	}{{"CartPole-v1", 200_000}, {"Acrobot-v1", 400_000}, {"MountainCarContinuous-v0", 600_000}} {
		for _, m := range evolve.Methods() {
			if m.Name == "random-search" {
				continue // the control, which need not succeed
			}
			for seed := uint64(1000); seed < 1005; seed++ {
				r := newRun(t, test.id, m.Name)
				if s, steps, solved := train(t, r, seed, test.limit); !solved {
					t.Errorf("%s %s seed %d: not solved in %d generations, %d env-steps", test.id, m.Name, seed, s.Gen, steps)
				}
			}
		}
	}
}

// TestDefaultsSolveLanders runs the landers' default presets on a tuning seed.
func TestDefaultsSolveLanders(t *testing.T) {
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
	for _, m := range evolve.Methods() {
		b.Run("CartPole-v1/"+m.Name, func(b *testing.B) {
			r := newRun(b, "CartPole-v1", m.Name)
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
