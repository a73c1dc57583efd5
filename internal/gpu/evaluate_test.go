package gpu

import (
	"os"
	"reflect"
	"testing"
	"time"

	"github.com/evoswarm/evoswarm/envs"
	_ "github.com/evoswarm/evoswarm/envs/all"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/worlds"
)

// setup is what a test trains.
func setup(t testing.TB, envID, strategy string, change func(*rollout.Setup)) rollout.Plan {
	t.Helper()
	method, err := evolve.Find(strategy)
	if err != nil {
		t.Fatal(err)
	}
	params, err := method.Complete(nil)
	if err != nil {
		t.Fatal(err)
	}
	env, err := envs.Find(envID)
	if err != nil {
		t.Fatal(err)
	}
	s := rollout.Setup{EnvID: envID, Strategy: method.Name, StrategyRevision: method.Revision, Params: params, Population: 64,
		Policy: policy.Spec{Kind: "mlp", Hidden: []uint64{16}, Activation: "tanh", Bias: true, Head: "clip"}}
	if env.Action.Discrete {
		s.Policy.Head = "argmax"
	}
	if change != nil {
		change(&s)
	}
	plan, err := rollout.NewPlan(s)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// usable returns the first usable device of this computer. Without one it skips the test, but fails it in CI, where
// .ci/tools has installed one.
func usable(t testing.TB) Info {
	t.Helper()
	all, err := Devices()
	for _, info := range all {
		if info.Err == nil {
			return info
		}
	}
	if os.Getenv("CI") != "" {
		t.Fatal("no device: ", err)
	}
	t.Skip("no device: ", err)
	return Info{}
}

// open opens it for a plan.
func open(t testing.TB, plan rollout.Plan) *Device {
	t.Helper()
	d, err := Open(usable(t), plan)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	return d
}

// task has n candidates with as many episodes each, which they share.
func task(plan rollout.Plan, n, episodes int) rollout.Task {
	t := rollout.Task{State: plan.Initial(7), Episodes: [][]uint64{nil}}
	for i := range uint64(n) {
		t.Seeds = append(t.Seeds, 1000+i<<40)
	}
	for i := range uint64(episodes) {
		t.Episodes[0] = append(t.Episodes[0], 50+i)
	}
	return t
}

// compare evaluates a task on a device and on the cores.
func compare(t *testing.T, plan rollout.Plan, work rollout.Task) {
	t.Helper()
	want, err := rollout.NewPool(plan, 0).Evaluate(work, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := open(t, plan).Evaluate(work, nil)
	if err != nil {
		t.Error(err)
	} else if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestWorlds evaluates candidates in every world, and with other parameters where it has some.
func TestWorlds(t *testing.T) {
	for _, env := range envs.All() {
		if i := worlds.Find(env.ID); i < 0 || !worlds.Table[i].OnDevices() {
			continue // the cores' alone
		}
		if testing.Short() && env.ID != "CartPole-v1" && env.ID != "LunarLanderContinuous-v3" {
			continue // each world's program takes seconds to compile
		}
		t.Run(env.ID, func(t *testing.T) {
			plan := setup(t, env.ID, "openai-es", nil)
			work := task(plan, 7, 3)
			for i := range work.Seeds {
				list := make([]uint64, 3)
				for k := range list {
					list[k] = uint64(i*100+k) << 33
				}
				work.Episodes = append(work.Episodes[:i], list)
			}
			compare(t, plan, work)
			if len(env.Params) > 0 {
				compare(t, setup(t, env.ID, "openai-es", func(s *rollout.Setup) { s.EnvParams = worlds.Unlike(env).Given() }), work)
			}
		})
	}
}

// TestPolicies evaluates policies of all shapes under all conditions.
func TestPolicies(t *testing.T) {
	for name, c := range map[string]struct {
		env, strategy string
		change        func(s *rollout.Setup)
	}{
		"linear": {"CartPole-v1", "dises", func(s *rollout.Setup) {
			s.Policy = policy.Spec{Kind: "linear", Bias: true, Head: "argmax"}
		}},
		"linear without bias": {"Pendulum-v1", "dises", func(s *rollout.Setup) {
			s.Policy = policy.Spec{Kind: "linear", Head: "clip"}
		}},
		"odd widths": {"CartPole-v1", "vanilla-es", func(s *rollout.Setup) {
			s.Policy.Hidden = []uint64{5, 7, 1, 9}
		}},
		"relu without bias": {"CartPole-v1", "openai-es", func(s *rollout.Setup) {
			s.Policy.Hidden, s.Policy.Activation, s.Policy.Bias = []uint64{64, 64}, "relu", false
		}},
		"two layers": {"Pendulum-v1", "openai-es", func(s *rollout.Setup) {
			s.Policy.Hidden = []uint64{18, 23}
		}},
		"two layers, relu": {"Pendulum-v1", "openai-es", func(s *rollout.Setup) {
			s.Policy.Hidden, s.Policy.Activation = []uint64{16, 16}, "relu"
		}},
		"bins": {"Pendulum-v1", "openai-es", func(s *rollout.Setup) {
			s.Policy.Head, s.Policy.Bins = "bins", 7
		}},
		"bins with noise": {"Pendulum-v1", "openai-es", func(s *rollout.Setup) {
			s.Policy.Head, s.Policy.Bins = "bins", 5
			s.Episodes.ActionNoise = 0.5
		}},
		"conditions": {"Pendulum-v1", "openai-es", func(s *rollout.Setup) {
			s.Episodes.Conditions = rollout.Conditions{ActionNoise: 0.3, Bonus: 0.25, Penalty: 0.5, Skip: 3, Cap: 2}
			s.Episodes.Observations = &rollout.Observations{Kind: rollout.Frozen, Steps: 500, Clip: 1}
		}},
		"virtual batch normalization": {"CartPole-v1", "openai-es", func(s *rollout.Setup) {
			s.Policy.VBN = true
			s.Episodes.Observations = &rollout.Observations{Kind: rollout.Frozen, Steps: 500, Clip: 5}
		}},
		"a sigma for each parameter": {"CartPole-v1", "pgpe", nil},
		"a covariance":               {"CartPole-v1", "cma-es", nil},
		"parents":                    {"CartPole-v1", "ga", nil},
		"groups": {"CartPole-v1", "dises", func(s *rollout.Setup) {
			s.Params["selection"], s.Params["groups"] = "group", 3.0
		}},
	} { //lint:sorted each is reported
		t.Run(name, func(t *testing.T) {
			plan := setup(t, c.env, c.strategy, c.change)
			compare(t, plan, task(plan, 37, 2))
		})
	}
}

// TestTies evaluates policies whose outputs are equal, infinite or NaN.
func TestTies(t *testing.T) {
	for _, id := range []string{"CartPole-v1", "Pendulum-v1"} {
		for _, value := range []float32{1e9, 3e38} { // all perturbations are rounded away
			plan := setup(t, id, "openai-es", func(s *rollout.Setup) {
				s.Policy.Activation = "relu"
				if id == "Pendulum-v1" {
					s.Policy.Head, s.Policy.Bins = "bins", 4
				}
			})
			work := task(plan, 8, 2)
			for i := range work.State.Theta {
				work.State.Theta[i] = value
			}
			compare(t, plan, work)
			// The first output is infinity minus infinity, the others are infinite.
			out := plan.Policy.Outputs()
			second := plan.Policy.Layout()[2].Offset
			for i := range 16 * out {
				work.State.Theta[second+i] = 1
				if i%(2*out) == 0 {
					work.State.Theta[second+i] = -1
				}
			}
			compare(t, plan, work)
		}
	}
}

// TestLayouts evaluates in every layout that devices have, in small batches and in short launches.
func TestLayouts(t *testing.T) {
	for id, change := range map[string]func(*rollout.Setup){
		"CartPole-v1": nil,
		"Pendulum-v1": func(s *rollout.Setup) {
			s.Policy.Hidden, s.Policy.Head, s.Policy.Bins = []uint64{18, 23, 1}, "bins", 5
			s.Episodes.Conditions = rollout.Conditions{Skip: 3, Cap: 1.5, ActionNoise: 0.1}
		},
		"LunarLanderContinuous-v3": nil, "BipedalWalker-v3": nil,
	} { //lint:sorted each is reported
		if testing.Short() && id != "CartPole-v1" {
			continue // each layout of each world takes seconds to compile
		}
		plan := setup(t, id, "openai-es", change)
		d, work := open(t, plan), task(plan, 29, 3)
		if d.player.world.size() != small {
			work = task(plan, 3, 3) // of longer episodes
		}
		want, err := rollout.NewPool(plan, 0).Evaluate(work, nil)
		if err != nil {
			t.Fatal(err)
		}
		p := d.player
		width := p.layout.width
		layouts := []layout{{1, 1, 1, width, false}, {2, 2, 2, width, true}, {8, 5, 5, width, false}, {8, 5, 2, width, true}, {32, 1, 1, width, true}, {32, 32, 32, width, true}, {64, 7, 3, width + 4, true}}
		if p.world.size() != small {
			layouts = []layout{{32, 1, 1, width, false}, {8, 3, 2, width, true}}
		}
		for _, l := range layouts {
			for _, memory := range []int64{1, 50_000, 1 << 30} {
				p.layout, p.memory, p.burst, p.piece = l, memory, 1, maxItems
				if memory == 50_000 {
					p.piece = 64
				}
				got, err := d.Evaluate(work, nil)
				if err != nil || !reflect.DeepEqual(got, want) {
					t.Errorf("%s: %+v, %d bytes: %v, %v, want %v", id, l, memory, got, err, want)
				}
			}
		}
	}
}

// TestAdapt: launches get as long as they should be.
func TestAdapt(t *testing.T) {
	for _, perStep := range []time.Duration{time.Microsecond, time.Millisecond, 100 * time.Millisecond} {
		p := &player{burst: firstBurst, piece: maxItems}
		for range 30 {
			p.adapt(time.Duration(p.burst) * perStep)
		}
		took := time.Duration(p.burst) * perStep
		if took > launchTime || took < launchTime/4 && p.burst < maxBurst {
			t.Errorf("%v per step: launches of %v", perStep, took)
		}
	}
	p := &player{burst: firstBurst, piece: maxItems}
	for range 30 {
		p.adapt(time.Duration(p.burst) * time.Duration(p.piece) * 100 * time.Microsecond)
	}
	if took := time.Duration(p.burst) * time.Duration(p.piece) * 100 * time.Microsecond; took > 2*launchTime {
		t.Errorf("a step of many episodes takes %v", took)
	}
}
