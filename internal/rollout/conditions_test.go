package rollout_test

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/golden"
	"github.com/evoswarm/evoswarm/internal/noise"
	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/internal/presets"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

// everything is a setup with all that can be asked of episodes. Discrete actions take no noise.
func everything(t testing.TB, envID, strategy, kind string) rollout.Setup {
	t.Helper()
	method, err := evolve.Find(strategy)
	if err != nil {
		t.Fatal(err)
	}
	params, err := method.Complete(nil)
	if err != nil {
		t.Fatal(err)
	}
	s := rollout.Setup{
		EnvID: envID, Strategy: method.Name, StrategyRevision: method.Revision, Params: params, Population: 32, Growth: 3, Pooled: true,
		Policy: policy.Spec{Kind: "mlp", Hidden: []uint64{6, 5}, Activation: "tanh", Bias: true, Head: "argmax", VBN: true},
		Episodes: rollout.Episodes{Count: 2,
			Conditions:   rollout.Conditions{Bonus: 0.25, Penalty: 0.5, Skip: 3, Cap: 2, Horizon: 40, Growth: 1.75},
			Observations: &rollout.Observations{Kind: kind, Clip: 5},
		},
	}
	if kind == rollout.Frozen {
		s.Episodes.Observations.Steps = 500
	} else {
		s.Episodes.Observations.Episodes = 3
	}
	env, err := envs.Find(envID)
	if err != nil {
		t.Fatal(err)
	}
	if !env.Action.Discrete {
		s.Policy.Head, s.Episodes.ActionNoise = "clip", 0.3
	}
	return s
}

func mustPlan(t testing.TB, s rollout.Setup) rollout.Plan {
	t.Helper()
	plan, err := rollout.NewPlan(s)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// advance runs generations of n seeds on pool and returns the last state.
func advance(t testing.TB, plan rollout.Plan, pool *rollout.Pool, s *evolve.State, generations int) *evolve.State {
	t.Helper()
	n := uint64(32)
	if plan.Strategy.Antithetic() {
		n = 16
	}
	for range generations {
		task := rollout.Task{State: s, Seeds: seedList(n, 1, s.Gen), Episodes: [][]uint64{seedList(2, 2, s.Gen)}}
		got, err := pool.Evaluate(task, nil)
		if err != nil {
			t.Fatal(err)
		}
		results := make([]evolve.Result, n)
		for i, c := range got {
			results[i] = evolve.Result{Seed: task.Seeds[i], Fitness: c.Fitness, Steps: c.Steps}
		}
		s = plan.Apply(s, results, seedList(plan.ObserveEpisodes(), 3, s.Gen))
	}
	return s
}

// twin evaluates a candidate the plain way, from what the documents say of every condition.
func twin(plan rollout.Plan, s *evolve.State, theta []float32, seeds []uint64, training bool) (returns []float64, steps []uint64) {
	mean, std := s.Slot("obs/mean").Values, s.Slot("obs/std").Values
	clip := float32(plan.Episodes.Observations.Clip)
	normal := func(obs []float32) []float32 {
		out := make([]float32, len(obs))
		for i, x := range obs {
			if std[i] > 0 {
				out[i] = min(max((x-mean[i])*(1/std[i]), -clip), clip)
			}
		}
		return out
	}
	var reference []float32
	raw := s.Slot("obs/reference").Values
	for i := 0; i < len(raw); i += plan.Env.ObsDim {
		reference = append(reference, normal(raw[i:i+plan.Env.ObsDim])...)
	}
	folded := make([]float32, plan.Policy.Dim())
	plan.Policy.Fold(folded, theta, reference, plan.Policy.Batch())
	limit := plan.Env.MaxSteps
	if training {
		limit = min(limit, 40+int(1.75*float64(s.Gen)))
	}
	if length := s.Slot("episode/length").Words[0]; training && length > 0 {
		limit = min(limit, int(math.Ceil(plan.Episodes.Cap*float64(length)/65536)))
	}
	for _, seed := range seeds {
		env, rng, draws := plan.Env.New(), noise.NewStream(seed, noise.DomainEpisode), noise.NewStream(seed, noise.DomainAction)
		obs, act := make([]float32, plan.Env.ObsDim), make([]float64, plan.Policy.ActDim())
		env.Reset(&rng, obs)
		ret, n, over := 0.0, 0, false
		for ; n < limit && !over; n++ {
			if n%3 == 0 {
				eps := make([]float64, len(act))
				if training && plan.Episodes.ActionNoise != 0 {
					for i := range eps {
						eps[i] = plan.Episodes.ActionNoise * float64(draws.Normal())
					}
				}
				plan.Policy.ActBatch(folded, normal(obs), 1, plan.Policy.Scratch(1), act, eps)
			}
			var reward float64
			reward, over = env.Step(&rng, act, obs)
			if training {
				reward = max(reward, -0.5) - 0.25
			}
			ret += reward
		}
		returns, steps = append(returns, ret), append(steps, uint64(n))
	}
	return returns, steps
}

func TestConditionsTwin(t *testing.T) {
	for _, id := range presets.Envs() {
		for _, kind := range []string{rollout.Frozen, rollout.Running} {
			plan := mustPlan(t, everything(t, id, "openai-es", kind))
			pool := rollout.NewPool(plan, 0)
			for _, s := range []*evolve.State{plan.Initial(5), advance(t, plan, pool, plan.Initial(5), 2)} {
				theta := make([]float32, plan.Policy.Dim())
				plan.Strategy.Candidate(theta, s, 77, -1)
				seeds := []uint64{3, 1, 4}
				e := rollout.NewEvaluator(plan)
				out := e.Run(s, theta, seeds)
				returns, steps := twin(plan, s, theta, seeds, true)
				want := rollout.Outcome{Fitness: rollout.ToFitness((returns[0] + returns[1] + returns[2]) / 3), Steps: steps[0] + steps[1] + steps[2]}
				if out != want {
					t.Errorf("%s %s generation %d: Run gives %+v, want %+v", id, kind, s.Gen, out, want)
				}
				got := make([]float64, 3)
				n := e.Returns(s, seeds, got)
				returns, steps = twin(plan, s, s.Theta, seeds, false)
				if !reflect.DeepEqual(got, returns) || n != steps[0]+steps[1]+steps[2] {
					t.Errorf("%s %s generation %d: Returns gives %v in %d steps, want %v in %v", id, kind, s.Gen, got, n, returns, steps)
				}
				if n := testing.AllocsPerRun(10, func() { e.Run(s, theta, seeds) }); n != 0 {
					t.Errorf("%s %s: Run allocates %v times, want none", id, kind, n)
				}
			}
		}
	}
}

// TestConditionsAnyWorkers holds results and states to those of one worker, and of a worker behind bytes.
func TestConditionsAnyWorkers(t *testing.T) {
	for _, id := range []string{"CartPole-v1", "Pendulum-v1"} {
		setup := everything(t, id, "openai-es", rollout.Running)
		plan := mustPlan(t, setup)
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
		want := advance(t, plan, rollout.NewPool(plan, 1), plan.Initial(5), 3)
		task := rollout.Task{State: want, Seeds: []uint64{1, 2, 3, 4, 5}, Episodes: [][]uint64{{8, 9}}}
		results, err := rollout.NewPool(plan, 1).Evaluate(task, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, workers := range []int{2, 7} {
			runtime.GOMAXPROCS(workers)
			pool := rollout.NewPool(plan, workers)
			if got := advance(t, plan, pool, plan.Initial(5), 3); got.Digest() != want.Digest() {
				t.Errorf("%s: %d workers give another state", id, workers)
			}
			if got, err := pool.Evaluate(task, nil); err != nil || !reflect.DeepEqual(got, results) {
				t.Errorf("%s: %d workers give %v, %v, want %v", id, workers, got, err, results)
			}
		}
		if got := overBytes(t, setup, task); !reflect.DeepEqual(got, results) {
			t.Errorf("%s: a worker behind bytes gives %v, want %v", id, got, results)
		}
	}
}

// overBytes runs a task on a Worker.
func overBytes(t testing.TB, setup rollout.Setup, task rollout.Task) []rollout.CandidateResult {
	t.Helper()
	must := func(b []byte, err error) []byte {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	again, err := rollout.UnmarshalSetup(must(rollout.MarshalSetup(setup)))
	if err != nil || !reflect.DeepEqual(again, setup) {
		t.Fatalf("setup became %+v, %v, want %+v", again, err, setup)
	}
	w, err := rollout.NewWorker(again)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.SetState(must(task.State.MarshalBinary())); err != nil {
		t.Fatal(err)
	}
	results, err := rollout.UnmarshalResults(must(w.Evaluate(must(rollout.MarshalTask(task)))), len(task.Seeds))
	if err != nil {
		t.Fatal(err)
	}
	return results
}

// TestEveryStrategyCarriesTheSlots trains with every strategy under all conditions.
func TestEveryStrategyCarriesTheSlots(t *testing.T) {
	for _, m := range evolve.Methods() {
		plan := mustPlan(t, everything(t, "CartPole-v1", m.Name, rollout.Running))
		s := advance(t, plan, rollout.NewPool(plan, 0), plan.Initial(1), 2)
		if err := plan.Shape().Check(s); err != nil {
			t.Errorf("%s: %v", m.Name, err)
			continue
		}
		b, err := s.MarshalBinary()
		if err != nil {
			t.Errorf("%s: %v", m.Name, err)
			continue
		}
		if again, err := plan.UnmarshalState(b); err != nil || again.Digest() != s.Digest() {
			t.Errorf("%s: the state does not survive its encoding: %v", m.Name, err)
		}
		if plan.ObserveSteps(s) <= plan.ObserveSteps(plan.Initial(1)) || s.Slot("episode/length").Words[0] == 0 {
			t.Errorf("%s: the slots did not move on", m.Name)
		}
	}
}

// TestStatisticsAreOfTheEpisodes holds the statistics to those of the observations that a plain run of the same
// episodes meets.
func TestStatisticsAreOfTheEpisodes(t *testing.T) {
	setup := everything(t, "CartPole-v1", "dises", rollout.Running)
	setup.Policy.VBN = false
	plan := mustPlan(t, setup)
	s := plan.Initial(5)
	if s.Slot("obs/std").Values[0] != 1 || plan.ObserveSteps(s) != 0 {
		t.Errorf("running statistics begin with std %v after %d steps, want 1 after none", s.Slot("obs/std").Values, plan.ObserveSteps(s))
	}
	seeds := []uint64{11, 12, 13}
	next := plan.Apply(s, []evolve.Result{{Seed: 1, Fitness: [2]int64{1, 1}, Steps: 20}}, seeds)
	var seen [][]float32
	var steps uint64
	for _, seed := range seeds {
		env, rng := plan.Env.New(), noise.NewStream(seed, noise.DomainEpisode)
		obs, act := make([]float32, 4), make([]float64, 1)
		env.Reset(&rng, obs)
		for n, over := 0, false; n < plan.Env.MaxSteps && !over; n++ {
			if n%3 == 0 {
				seen = append(seen, append([]float32(nil), obs...))
				a := rollout.NewActor(plan)
				a.Load(s, s.Theta)
				a.Act(obs, act)
			}
			_, over = env.Step(&rng, act, obs)
			steps++
		}
	}
	if got := next.Slot("obs/sums").Words[0]; got != uint64(len(seen)) || plan.ObserveSteps(next) != steps {
		t.Errorf("%d observations in %d steps, want %d in %d", got, plan.ObserveSteps(next), len(seen), steps)
	}
	for i := range 4 {
		mean, std := 0.0, 0.0
		for _, o := range seen {
			mean += float64(o[i]) / float64(len(seen))
		}
		for _, o := range seen {
			std += (float64(o[i]) - mean) * (float64(o[i]) - mean) / float64(len(seen))
		}
		std = math.Sqrt(std)
		gotMean, gotStd := float64(next.Slot("obs/mean").Values[i]), float64(next.Slot("obs/std").Values[i])
		if math.Abs(gotMean-mean) > 1e-6*std+1e-8 || math.Abs(gotStd-std) > 1e-6*std+1e-8 {
			t.Errorf("value %d: mean %v, std %v, want %v, %v", i, gotMean, gotStd, mean, std)
		}
	}
}

// TestRandomPolicy holds frozen statistics and the reference batch to what the seed names: not to parameters.
func TestRandomPolicy(t *testing.T) {
	for _, id := range presets.Envs() {
		setup := everything(t, id, "dises", rollout.Frozen)
		plan := mustPlan(t, setup)
		s := plan.Initial(5)
		if err := plan.Shape().Check(s); err != nil {
			t.Errorf("%s: %v", id, err)
		}
		// 500 observations for the statistics, 1024 for the reference batch, each held for three steps at most.
		if n := plan.ObserveSteps(s); n <= 1524 || n > 3*1524 {
			t.Errorf("%s: %d steps", id, n)
		}
		reference := s.Slot("obs/reference").Values
		first := make([]float32, plan.Env.ObsDim)
		seeds := noise.NewStream(5, noise.DomainRandom)
		rng := noise.NewStream(seeds.Uint64(), noise.DomainEpisode)
		plan.Env.New().Reset(&rng, first)
		if !reflect.DeepEqual(reference[:len(first)], first) {
			t.Errorf("%s: the reference batch begins with %v, the first episode with %v", id, reference[:len(first)], first)
		}
		other := setup
		other.Policy.Hidden = []uint64{3}
		again := mustPlan(t, other).Initial(5)
		for _, name := range []string{"obs/mean", "obs/std", "obs/reference", "obs/steps"} {
			if !reflect.DeepEqual(again.Slot(name), s.Slot(name)) {
				t.Errorf("%s: %s depends on the policy", id, name)
			}
		}
		if reflect.DeepEqual(plan.Initial(6).Slot("obs/mean"), s.Slot("obs/mean")) {
			t.Errorf("%s: two seeds, one mean", id)
		}
	}
}

func TestMeanLength(t *testing.T) {
	setup := everything(t, "CartPole-v1", "openai-es", rollout.Frozen)
	plan := mustPlan(t, setup)
	s := plan.Initial(1)
	length := func(s *evolve.State) float64 { return float64(s.Slot("episode/length").Words[0]) / 65536 }
	// Two pairs of two episodes for each sign: 8 episodes.
	s = plan.Apply(s, []evolve.Result{{Seed: 1, Steps: 100}, {Seed: 2, Steps: 60}}, nil)
	if got := length(s); got != 20 {
		t.Errorf("mean length %v, want 20", got)
	}
	s = plan.Apply(s, []evolve.Result{{Seed: 1, Steps: 160}, {Seed: 2, Steps: 160}}, nil)
	if got := length(s); got != 30 {
		t.Errorf("mean length %v, want 30", got)
	}
	s = plan.Apply(s, nil, nil)
	if got := length(s); got != 30 {
		t.Errorf("mean length %v after nothing, want 30", got)
	}
	s = plan.Apply(s, []evolve.Result{{Seed: 1, Steps: math.MaxUint64}, {Seed: 2, Steps: 5}}, nil)
	s = plan.Apply(s, []evolve.Result{{Seed: 1, Steps: math.MaxUint64}}, nil)
	if out := rollout.NewEvaluator(plan).Run(s, s.Theta, []uint64{1}); out.Steps == 0 || out.Steps > 500 {
		t.Errorf("an episode of %d steps", out.Steps)
	}
	// Whatever a stranger's state holds, an episode has one step at least.
	for _, words := range []uint64{1, 65536, math.MaxUint64} {
		s.Slot("episode/length").Words[0] = words
		if out := rollout.NewEvaluator(plan).Run(s, s.Theta, []uint64{1}); out.Steps == 0 || out.Steps > 500 {
			t.Errorf("length %d: an episode of %d steps", words, out.Steps)
		}
	}
}

// TestCapGrows: a large generation lets episodes grow as far as the generations that it is worth.
func TestCapGrows(t *testing.T) {
	setup := everything(t, "CartPole-v1", "openai-es", rollout.Frozen)
	setup.Population, setup.Growth, setup.CapGrowth = 8, 3, true
	setup.Episodes.Count, setup.Episodes.Skip, setup.Episodes.Horizon, setup.Episodes.Cap = 1, 0, 0, 1.5
	plan := mustPlan(t, setup)
	fixed := setup
	fixed.CapGrowth = false
	if mustPlan(t, fixed).Initial(1).Slot("episode/cap") != nil {
		t.Error("a cap that does not grow takes a slot")
	}
	first := plan.Initial(1)
	if limit := rollout.Limit(plan, first); limit != 500 {
		t.Errorf("before the first generation episodes end after %d env-steps", limit)
	}
	for _, c := range []struct{ pairs, limit int }{
		{1, 30}, {8, 30}, {9, 45}, {24, 45}, {25, 68}, {500, 68}, // 20 env-steps times 1.5 to the power of 1, 1, 2, 2, 3 and 3
	} {
		results := make([]evolve.Result, c.pairs)
		for i := range results {
			results[i] = evolve.Result{Seed: uint64(i), Fitness: [2]int64{int64(i), 0}, Steps: 40} // of both signs
		}
		s := plan.Apply(first, results, nil)
		if limit := rollout.Limit(plan, s); limit != c.limit {
			t.Errorf("after %d pairs episodes end after %d env-steps, want %d", c.pairs, limit, c.limit)
		}
		if small := plan.Apply(s, results[:1], nil); rollout.Limit(plan, small) != 30 {
			t.Errorf("a small generation after %d pairs leaves the cap at %d env-steps, want 30", c.pairs, rollout.Limit(plan, small))
		}
		task := rollout.Task{State: s, Seeds: []uint64{1, 2, 3}, Episodes: [][]uint64{{2}}}
		want, err := rollout.NewPool(plan, 1).Evaluate(task, nil)
		if got := overBytes(t, setup, task); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("after %d pairs a worker gives %v, want %v, %v", c.pairs, got, want, err)
		}
		for _, words := range []uint64{0, 1, math.MaxUint64} {
			s.Slot("episode/cap").Words[0] = words // of a stranger
			if limit := rollout.Limit(plan, s); limit < 1 || limit > 500 {
				t.Errorf("a cap of %d allows %d env-steps", words, limit)
			}
		}
	}
	setup.Episodes.Cap, setup.Growth = rollout.MaxCap, 16
	s := mustPlan(t, setup).Apply(first, make([]evolve.Result, 4096), nil)
	if got := s.Slot("episode/cap").Words[0]; got != rollout.MaxCap<<16 {
		t.Errorf("the highest cap grows to %d / 2^16", got)
	}
}

func TestBadEpisodes(t *testing.T) {
	nan, inf, minus := math.NaN(), math.Inf(1), math.Copysign(0, -1)
	for name, change := range map[string]func(*rollout.Episodes){
		"action_noise NaN":       func(e *rollout.Episodes) { e.ActionNoise = nan },
		"action_noise below":     func(e *rollout.Episodes) { e.ActionNoise = -0.1 },
		"action_noise above":     func(e *rollout.Episodes) { e.ActionNoise = inf },
		"action_noise -0":        func(e *rollout.Episodes) { e.ActionNoise = minus },
		"bonus NaN":              func(e *rollout.Episodes) { e.Bonus = nan },
		"bonus below":            func(e *rollout.Episodes) { e.Bonus = -1 },
		"bonus above":            func(e *rollout.Episodes) { e.Bonus = 1e300 },
		"penalty NaN":            func(e *rollout.Episodes) { e.Penalty = nan },
		"penalty below":          func(e *rollout.Episodes) { e.Penalty = -1 },
		"penalty above":          func(e *rollout.Episodes) { e.Penalty = 1e300 },
		"skip 1":                 func(e *rollout.Episodes) { e.Skip = 1 },
		"skip above":             func(e *rollout.Episodes) { e.Skip = 1 << 60 },
		"cap NaN":                func(e *rollout.Episodes) { e.Cap = nan },
		"cap 1":                  func(e *rollout.Episodes) { e.Cap = 1 },
		"cap below":              func(e *rollout.Episodes) { e.Cap = -2 },
		"cap -0":                 func(e *rollout.Episodes) { e.Cap = minus },
		"cap above":              func(e *rollout.Episodes) { e.Cap = inf },
		"count":                  func(e *rollout.Episodes) { e.Count = 1 << 63 },
		"observations.kind":      func(e *rollout.Episodes) { e.Observations = &rollout.Observations{Kind: "magic", Clip: 5} },
		"observations.kind none": func(e *rollout.Episodes) { e.Observations = &rollout.Observations{} },
		"observations.steps":     func(e *rollout.Episodes) { e.Observations.Steps = 1 << 62 },
		"observations.steps few": func(e *rollout.Episodes) { e.Observations.Steps = 15 },
		"observations.steps of running": func(e *rollout.Episodes) {
			e.Observations = &rollout.Observations{Kind: rollout.Running, Episodes: 1, Steps: 100, Clip: 5}
		},
		"observations.episodes": func(e *rollout.Episodes) {
			e.Observations = &rollout.Observations{Kind: rollout.Running, Episodes: 1 << 62, Clip: 5}
		},
		"observations.episodes none":      func(e *rollout.Episodes) { e.Observations = &rollout.Observations{Kind: rollout.Running, Clip: 5} },
		"observations.episodes of frozen": func(e *rollout.Episodes) { e.Observations.Episodes = 1 },
		"observations.clip 0":             func(e *rollout.Episodes) { e.Observations.Clip = 0 },
		"observations.clip NaN":           func(e *rollout.Episodes) { e.Observations.Clip = nan },
		"observations.clip above":         func(e *rollout.Episodes) { e.Observations.Clip = inf },
	} {
		setup := everything(t, "Pendulum-v1", "dises", rollout.Frozen)
		change(&setup.Episodes)
		field := strings.Fields(name)[0]
		if _, err := rollout.NewPlan(setup); !errors.Is(err, rollout.ErrEpisodes) || !strings.Contains(err.Error(), field+" is ") {
			t.Errorf("%s: %v, want ErrEpisodes that names %s", name, err, field)
		}
	}
	setup := everything(t, "CartPole-v1", "dises", rollout.Frozen)
	setup.Episodes.ActionNoise = 0.1
	if _, err := rollout.NewPlan(setup); !errors.Is(err, rollout.ErrEpisodes) {
		t.Errorf("noise on discrete actions: %v, want ErrEpisodes", err)
	}
}

// TestStatesOfOtherShapes: a state without the slots is refused before anything looks for them.
func TestStatesOfOtherShapes(t *testing.T) {
	plan := mustPlan(t, everything(t, "CartPole-v1", "dises", rollout.Running))
	for i := range plan.Initial(1).Slots {
		s := plan.Initial(1)
		s.Slots = append(s.Slots[:i], s.Slots[i+1:]...)
		b, err := s.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := plan.UnmarshalState(b); !errors.Is(err, evolve.ErrState) {
			t.Errorf("without slot %d: %v, want ErrState", i, err)
		}
		if _, err := rollout.NewPool(plan, 1).Evaluate(rollout.Task{State: s, Seeds: []uint64{1}, Episodes: [][]uint64{{1}}}, nil); !errors.Is(err, evolve.ErrState) {
			t.Errorf("without slot %d: Evaluate gives %v, want ErrState", i, err)
		}
	}
}

// TestGoldenConditions holds states and results of training with everything on. Not of the walkers: 256 of
// their episodes take minutes under an emulator, and their physics has goldens of its own.
func TestGoldenConditions(t *testing.T) { onEachEngine(t, goldenConditions) }

func goldenConditions(t *testing.T) {
	for _, id := range presets.Envs() {
		if walker(id) {
			continue
		}
		h := sha256.New()
		for _, kind := range []string{rollout.Frozen, rollout.Running} {
			plan := mustPlan(t, everything(t, id, "openai-es", kind))
			pool := rollout.NewPool(plan, 0)
			s := advance(t, plan, pool, plan.Initial(5), 2)
			sum := s.Digest()
			h.Write(sum[:])
			returns := make([]float64, 3)
			pool.Returns(s, []uint64{1, 2, 3}, returns)
			for _, r := range returns {
				h.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(r)))
			}
		}
		golden.Check(t, "conditions/"+id, h.Sum(nil))
	}
}
