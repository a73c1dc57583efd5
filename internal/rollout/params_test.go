package rollout_test

import (
	"encoding/binary"
	"errors"
	"maps"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

// windy is a run in wind.
func windy(t testing.TB) rollout.Setup {
	t.Helper()
	s := newRun(t, "LunarLanderContinuous-v3", "openai-es").setup()
	s.EnvParams = envs.Params{"enable_wind": 1, "gravity": -8}
	return s
}

func planOf(t testing.TB, s rollout.Setup) rollout.Plan {
	t.Helper()
	plan, err := rollout.NewPlan(s)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// TestParamsAreHonored plays a candidate in wind as training, held-out evaluation, drawing and a tab's worker do, and
// compares them with an instance of the environment whose parameters were set by hand.
func TestParamsAreHonored(t *testing.T) { onEachEngine(t, testParamsAreHonored) }

func testParamsAreHonored(t *testing.T) {
	setup := windy(t)
	plan, seed := planOf(t, setup), uint64(5)
	state := plan.Initial(3)
	want := byHand(t, plan, state.Theta, setup.EnvParams, seed)
	playsEverywhere(t, setup, seed, want)
	if calm := byHand(t, plan, state.Theta, nil, seed); calm == want {
		t.Fatalf("the parameters change nothing: %v", calm)
	}
	calm, heldOut := setup, make([]float64, 1)
	calm.EnvParams = nil
	if rollout.NewEvaluator(planOf(t, calm)).Returns(state, []uint64{seed}, heldOut); heldOut[0] != byHand(t, plan, state.Theta, nil, seed) {
		t.Errorf("without parameters, after a run with some: %v", heldOut[0])
	}
}

// TestParamsChangeLengths does so with parameters that change the length of an observation: all that follows from it
// has that length, too.
func TestParamsChangeLengths(t *testing.T) { onEachEngine(t, testParamsChangeLengths) }

func testParamsChangeLengths(t *testing.T) {
	const place = "exclude_current_positions_from_observation"
	for _, c := range []struct {
		id     string
		params envs.Params
		want   int
	}{
		{"Swimmer-v5", envs.Params{place: 0}, 10},
		{"Hopper-v5", envs.Params{place: 0}, 12},
		{"Ant-v5", envs.Params{"include_cfrc_ext_in_observation": 0, "main_body": 3}, 27},
		{"Humanoid-v5", envs.Params{place: 0, "include_cinert_in_observation": 0, "include_cvel_in_observation": 0}, 142},
	} {
		setup := newRun(t, c.id, "snes").setup()
		setup.EnvParams = c.params
		setup.Policy = policy.Spec{Kind: "linear", Hidden: []uint64{}, Bias: true, Head: "clip"}
		setup.Episodes.Observations = nil
		plan, seed := planOf(t, setup), uint64(5)
		actions := plan.Env.Action.Dim
		if got, want := plan.Policy.Dim(), (c.want+1)*actions; got != want || plan.Env.ObsDim != c.want {
			t.Errorf("%s with %v: %d observations and %d parameters, want %d and %d", c.id, c.params, plan.Env.ObsDim, got, c.want, want)
		}
		playsEverywhere(t, setup, seed, byHand(t, plan, plan.Initial(3).Theta, c.params, seed))

		setup.Episodes.Observations = &rollout.Observations{Kind: rollout.Running, Episodes: 1, Clip: 5}
		plan = planOf(t, setup)
		state := plan.Initial(3)
		for _, name := range []string{"obs/mean", "obs/std"} {
			if slot := state.Slot(name); slot == nil || len(slot.Values) != c.want {
				t.Errorf("%s with %v: %s is %v, want %d values", c.id, c.params, name, slot, c.want)
			}
		}
		if err := plan.Shape().Check(state); err != nil {
			t.Errorf("%s with %v: %v", c.id, c.params, err)
		}
	}
}

// playsEverywhere plays the mean policy of a run's beginning as training, held-out evaluation, drawing and a tab's
// worker do: with the return want.
func playsEverywhere(t *testing.T, setup rollout.Setup, seed uint64, want float64) {
	t.Helper()
	plan := planOf(t, setup)
	state := plan.Initial(3)
	e := rollout.NewEvaluator(plan)
	if got := e.Run(state, state.Theta, []uint64{seed}); got.Fitness != rollout.ToFitness(want) {
		t.Errorf("training: a fitness of %v, want %v", got.Fitness, rollout.ToFitness(want))
	}
	heldOut := make([]float64, 1)
	if e.Returns(state, []uint64{seed}, heldOut); heldOut[0] != want {
		t.Errorf("held-out evaluation: %v, want %v", heldOut[0], want)
	}
	p := rollout.NewPlayer(plan)
	for p.Start(state, seed); !p.Over(); {
		p.Step()
	}
	if got := p.Return(); got != want {
		t.Errorf("drawing: %v, want %v", got, want)
	}

	b, err := rollout.MarshalSetup(setup)
	if err != nil {
		t.Fatal(err)
	}
	sent, err := rollout.UnmarshalSetup(b)
	if err != nil || !reflect.DeepEqual(sent, setup) {
		t.Errorf("the setup became %+v, %v, want %+v", sent, err, setup)
	}
	w, err := rollout.NewWorker(sent)
	if err != nil {
		t.Fatal(err)
	}
	bytes, err := state.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	returns, err := w.Validate(bytes, binary.LittleEndian.AppendUint64(nil, seed))
	if err != nil {
		t.Fatal(err)
	}
	if got := math.Float64frombits(binary.LittleEndian.Uint64(returns)); got != want {
		t.Errorf("a tab's worker: %v, want %v", got, want)
	}
}

// byHand returns the return of an episode with these parameters, set one by one.
func byHand(t testing.TB, plan rollout.Plan, theta []float32, params envs.Params, seed uint64) (ret float64) {
	t.Helper()
	spec, err := envs.Find(plan.Env.ID)
	if err != nil {
		t.Fatal(err)
	}
	env, rng := spec.New(), envs.NewStream(seed)
	for i := range spec.Params {
		if x, ok := params[spec.Params[i].Name]; ok {
			env.(envs.Parametric).SetParam(i, x)
		}
	}
	obs, act, scratch := make([]float32, plan.Env.ObsDim), make([]float64, spec.Action.Dim), plan.Policy.Scratch(1)
	env.Reset(&rng, obs)
	for range spec.MaxSteps {
		plan.Policy.Act(theta, obs, scratch, act)
		reward, over := env.Step(&rng, act, obs)
		ret += reward
		if over {
			break
		}
	}
	return ret
}

// TestUnknownParams: who does not have a parameter, or has other bounds, refuses the run by name and plays no default.
func TestUnknownParams(t *testing.T) {
	for name, x := range map[string]float64{"rain": 1, "wind_power": 21, "enable_wind": 0.5, "gravity": math.NaN()} {
		s := windy(t)
		s.EnvParams = maps.Clone(s.EnvParams)
		s.EnvParams[name] = x
		if _, err := rollout.NewPlan(s); !errors.Is(err, envs.ErrParam) || !strings.Contains(err.Error(), name) {
			t.Errorf("NewPlan with %s %v: %v, want ErrParam", name, x, err)
		}
		if _, err := rollout.NewWorker(s); !errors.Is(err, envs.ErrParam) || !errors.Is(err, rollout.ErrSetup) {
			t.Errorf("NewWorker with %s %v: %v, want ErrParam and ErrSetup", name, x, err)
		}
	}
}

// TestSetupOfParams: one encoding of them is a setup.
func TestSetupOfParams(t *testing.T) {
	plain, err := rollout.MarshalSetup(rollout.Setup{EnvID: "a", Policy: policy.Spec{Hidden: []uint64{}}})
	if err != nil {
		t.Fatal(err)
	}
	at := 8 + 4 + 1 + 8 // of the number of parameters: after the header, the id and the revision
	pair := func(name string) []byte {
		b := append(binary.LittleEndian.AppendUint32(nil, uint32(len(name))), name...)
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(1))
	}
	with := func(n uint32, pairs ...string) []byte {
		b := binary.LittleEndian.AppendUint32(plain[:at:at], n)
		for _, name := range pairs {
			b = append(b, pair(name)...)
		}
		return append(b, plain[at+4:]...)
	}
	if s, err := rollout.UnmarshalSetup(with(2, "g", "h")); err != nil || !maps.Equal(s.EnvParams, envs.Params{"g": 1, "h": 1}) {
		t.Errorf("two of them: %+v, %v", s, err)
	}
	for name, b := range map[string][]byte{
		"not sorted": with(2, "h", "g"), "twice": with(2, "g", "g"), "more than there are": with(1<<30, "g"), "fewer": with(1, "g", "h"),
	} {
		if _, err := rollout.UnmarshalSetup(b); !errors.Is(err, rollout.ErrSetup) {
			t.Errorf("%s: %v, want ErrSetup", name, err)
		}
	}
}
