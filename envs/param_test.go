package envs_test

import (
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/evoswarm/evoswarm/envs"
)

// The parameters are the keywords of Gymnasium's constructors, with their defaults.
func TestParamsAreGymnasiums(t *testing.T) {
	lander := map[string]float64{"gravity": -10, "enable_wind": 0, "wind_power": 15, "turbulence_power": 1.5}
	want := map[string]map[string]float64{
		"LunarLander-v3": lander, "LunarLanderContinuous-v3": lander, "CartPole-v1": {"sutton_barto_reward": 0},
		"MountainCar-v0": {"goal_velocity": 0}, "MountainCarContinuous-v0": {"goal_velocity": 0}, "Pendulum-v1": {"g": 10},
		// A range is two parameters; mujoco_rules are ours.
		"Ant-v5": {
			"frame_skip": 5, "forward_reward_weight": 1, "ctrl_cost_weight": 0.5, "contact_cost_weight": 0.0005,
			"healthy_reward": 1, "terminate_when_unhealthy": 1, "healthy_z_low": 0.2, "healthy_z_high": 1,
			"contact_force_low": -1, "contact_force_high": 1, "reset_noise_scale": 0.1, "main_body": 1, "exclude_current_positions_from_observation": 1,
			"include_cfrc_ext_in_observation": 1, "mujoco_rules": 0,
		},
		"HalfCheetah-v5": {
			"frame_skip": 5, "forward_reward_weight": 1, "ctrl_cost_weight": 0.1, "reset_noise_scale": 0.1,
			"exclude_current_positions_from_observation": 1,
			"mujoco_rules": 0,
		},
		"Hopper-v5": {
			"frame_skip": 4, "forward_reward_weight": 1, "ctrl_cost_weight": 0.001, "healthy_reward": 1,
			"terminate_when_unhealthy": 1, "healthy_state_low": -100, "healthy_state_high": 100, "healthy_z_low": 0.7,
			"healthy_z_high": envs.Unbounded, "healthy_angle_low": -0.2, "healthy_angle_high": 0.2,
			"reset_noise_scale": 0.005, "exclude_current_positions_from_observation": 1,
			"mujoco_rules": 0,
		},
		"Humanoid-v5": {
			"frame_skip": 5, "forward_reward_weight": 1.25, "ctrl_cost_weight": 0.1, "contact_cost_weight": 5e-07,
			"contact_cost_low": -envs.Unbounded, "contact_cost_high": 10, "healthy_reward": 5,
			"terminate_when_unhealthy": 1, "healthy_z_low": 1, "healthy_z_high": 2, "reset_noise_scale": 0.01,
			"exclude_current_positions_from_observation": 1,
			"include_cinert_in_observation":              1, "include_cvel_in_observation": 1,
			"include_qfrc_actuator_in_observation": 1, "include_cfrc_ext_in_observation": 1, "mujoco_rules": 0,
		},
		"InvertedDoublePendulum-v5": {"frame_skip": 5, "healthy_reward": 10, "reset_noise_scale": 0.1},
		"InvertedPendulum-v5":       {"frame_skip": 2, "reset_noise_scale": 0.01, "mujoco_rules": 0},
		"Reacher-v5":                {"frame_skip": 2, "reward_dist_weight": 1, "reward_control_weight": 1},
		"Swimmer-v5": {
			"frame_skip": 4, "forward_reward_weight": 1, "ctrl_cost_weight": 0.0001, "reset_noise_scale": 0.1,
			"exclude_current_positions_from_observation": 1,
			"mujoco_rules": 0,
		},
		"Walker2d-v5": {
			"frame_skip": 4, "forward_reward_weight": 1, "ctrl_cost_weight": 0.001, "healthy_reward": 1,
			"terminate_when_unhealthy": 1, "healthy_z_low": 0.8, "healthy_z_high": 2, "healthy_angle_low": -1,
			"healthy_angle_high": 1, "reset_noise_scale": 0.005, "exclude_current_positions_from_observation": 1,
			"mujoco_rules": 0,
		},
	}
	for _, s := range envs.All() {
		if strings.HasPrefix(s.ID, "Stretched") {
			continue // of TestObsBounds
		}
		got := map[string]float64{}
		for _, p := range s.Params {
			got[p.Name] = p.Default
		}
		if !maps.Equal(got, want[s.ID]) {
			t.Errorf("%s has the parameters %v, want %v", s.ID, got, want[s.ID])
		}
	}
}

// Keywords that change what an observation has change its length as in Gymnasium.
func TestParamsChangeLengths(t *testing.T) {
	const place = "exclude_current_positions_from_observation"
	include := func(words ...string) envs.Params {
		p := envs.Params{place: 0}
		for _, word := range words {
			p["include_"+word+"_in_observation"] = 0
		}
		return p
	}
	for _, c := range []struct {
		id     string
		params envs.Params
		want   int
	}{
		{"Swimmer-v5", include(), 10}, {"Hopper-v5", include(), 12}, {"HalfCheetah-v5", include(), 18}, {"Walker2d-v5", include(), 18},
		{"Ant-v5", include(), 107}, {"Ant-v5", include("cfrc_ext"), 29}, {"Ant-v5", envs.Params{"main_body": 3}, 105},
		{"Humanoid-v5", include(), 350}, {"Humanoid-v5", include("cinert"), 220}, {"Humanoid-v5", include("cvel"), 272},
		{"Humanoid-v5", include("qfrc_actuator"), 333}, {"Humanoid-v5", include("cfrc_ext", "cinert", "cvel", "qfrc_actuator"), 47},
		{"LunarLander-v3", envs.Params{"gravity": -5}, 8}, {"Reacher-v5", envs.Params{"frame_skip": 3}, 10},
	} {
		s, err := envs.Find(c.id)
		if err != nil {
			t.Fatal(err)
		}
		before := s.ObsDim
		with, err := s.With(c.params)
		if err != nil || with.ObsDim != c.want || len(with.ObsLow) != c.want || len(with.ObsHigh) != c.want || s.ObsDim != before {
			t.Errorf("%s with %v: %v, want %d observations", c.id, c.params, err, c.want)
		}
	}
}

// A policy that was trained with some parameters fits others if these leave observations as they are.
func TestSameObs(t *testing.T) {
	find := func(id string, params envs.Params) *envs.Spec {
		s, err := envs.Find(id)
		if err == nil {
			s, err = s.With(params)
		}
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	cvel, cfrc := envs.Params{"include_cvel_in_observation": 0}, envs.Params{"include_cfrc_ext_in_observation": 0}
	for _, c := range []struct {
		a, b *envs.Spec
		want bool
	}{
		{find("Humanoid-v5", cvel), find("Humanoid-v5", envs.Params{"include_cvel_in_observation": 0, "healthy_reward": 1}), true},
		{find("Humanoid-v5", cvel), find("Humanoid-v5", nil), false},
		{find("Humanoid-v5", cvel), find("Humanoid-v5", cfrc), false}, // 78 values less, but not the same ones
		{find("LunarLander-v3", envs.Params{"gravity": -5}), find("LunarLander-v3", nil), true},
		{find("BipedalWalker-v3", nil), find("BipedalWalkerHardcore-v3", nil), true},
		{find("HalfCheetah-v5", nil), find("Walker2d-v5", nil), true}, // as far as can be told
		{find("Ant-v5", nil), find("Hopper-v5", nil), false},
	} {
		if c.a.SameObs(c.b) != c.want || c.b.SameObs(c.a) != c.want {
			t.Errorf("%s and %s: want %t", c.a.Name(), c.b.Name(), c.want)
		}
	}
}

func TestWith(t *testing.T) {
	s, err := envs.Find("LunarLander-v3")
	if err != nil {
		t.Fatal(err)
	}
	windy, err := s.With(envs.Params{"enable_wind": 1, "wind_power": 15})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := windy.Values(), []float64{-10, 1, 15, 1.5}; !slices.Equal(got, want) {
		t.Errorf("the values are %v, want %v", got, want)
	}
	if got, want := windy.Given(), (envs.Params{"enable_wind": 1}); !maps.Equal(got, want) {
		t.Errorf("given are %v, want %v", got, want)
	}
	if s.Given() != nil || !slices.Equal(s.Values(), []float64{-10, 0, 15, 1.5}) {
		t.Errorf("without any: %v given, %v", s.Given(), s.Values())
	}
	if got, want := windy.Name(), "Lunar Lander enable_wind=1"; got != want {
		t.Errorf("people read %q, want %q", got, want)
	}
	if got, want := envs.Label(s.ID, envs.Params{"wind_power": 7.5, "gravity": -1e-7}), "LunarLander-v3 gravity=-1e-07 wind_power=7.5"; got != want {
		t.Errorf("people read %q, want %q", got, want)
	}
	// The others have their defaults, whatever the description was made with.
	if again, err := windy.With(envs.Params{"gravity": -1}); err != nil || !maps.Equal(again.Given(), envs.Params{"gravity": -1}) {
		t.Errorf("made of one with wind: %v, %v", again.Given(), err)
	}
	if same, err := windy.With(nil); err != nil || same != s {
		t.Errorf("with none: %p, %v, want %p", same, err, s)
	}
	if err := envs.Add(windy); !errors.Is(err, envs.ErrSpec) {
		t.Errorf("Add gives %v, want ErrSpec", err)
	}
}

func TestWithRefuses(t *testing.T) {
	for _, c := range []struct {
		id     string
		params envs.Params
		want   string
	}{
		{"LunarLander-v3", envs.Params{"wind": 15}, `LunarLander-v3 has no "wind"; nearest: `},
		{"LunarLander-v3", envs.Params{"enable_wnd": 1}, "nearest: enable_wind"},
		{"LunarLander-v3", envs.Params{"zzzzzzzzzzzz": 1}, "it has gravity, enable_wind, wind_power, turbulence_power"},
		{"Ant-v5", envs.Params{"include_cvel_in_observation": 0}, `Ant-v5 has no "include_cvel_in_observation"; nearest: include_cfrc_ext_in_observation`},
		{"Hopper-v5", envs.Params{"exclude_current_positions_from_observation": 2}, "is 2, want 0 (false) or 1 (true)"},
		{"Ant-v5", envs.Params{"main_body": 14}, "main_body is 14, want a whole number from 0 to 13"},
		{"Ant-v5", envs.Params{"main_body": 1.5}, "main_body is 1.5, want a whole number from 0 to 13"},
		{"Reacher-v5", envs.Params{"exclude_current_positions_from_observation": 0}, "Reacher-v5 has no"},
		{"Acrobot-v1", envs.Params{"g": 1}, "Acrobot-v1 has no parameters"},
		{"LunarLander-v3", envs.Params{"enable_wind": 0.5}, "enable_wind is 0.5, want 0 (false) or 1 (true)"},
		{"LunarLander-v3", envs.Params{"enable_wind": 2}, "want 0 (false) or 1 (true)"},
		{"LunarLander-v3", envs.Params{"enable_wind": math.Copysign(0, -1)}, "enable_wind is -0"},
		{"LunarLander-v3", envs.Params{"wind_power": 20.5}, "wind_power is 20.5, want a number from 0 to 20"},
		{"LunarLander-v3", envs.Params{"wind_power": math.NaN()}, "wind_power is NaN"},
		{"LunarLander-v3", envs.Params{"turbulence_power": math.Inf(1)}, "turbulence_power is +Inf, want a number from 0 to 2"},
		{"LunarLander-v3", envs.Params{"gravity": -12}, "gravity is -12, want a number between -12 and 0, neither of them"},
		{"LunarLander-v3", envs.Params{"gravity": 0}, "gravity is 0"},
		{"Pendulum-v1", envs.Params{"g": math.Copysign(0, -1)}, "g is -0"},
		{"MountainCar-v0", envs.Params{"goal_velocity": 0.071}, "want a number from 0 to 0.07"},
	} {
		s, err := envs.Find(c.id)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.With(c.params); !errors.Is(err, envs.ErrParam) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s with %v: %v, want ErrParam with %q", c.id, c.params, err, c.want)
		}
	}
}

func TestParseParam(t *testing.T) {
	whole := envs.Param{Name: "n", Kind: envs.IntegerParam, Default: 1, Low: 1, High: 100}
	most := envs.Param{Name: "z_high", Kind: envs.RealParam, Default: envs.Unbounded, Low: 0, High: envs.Unbounded}
	lander, err := envs.Find("LunarLander-v3")
	if err != nil {
		t.Fatal(err)
	}
	named := func(name string) *envs.Param {
		p, err := lander.Param(name)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	for _, c := range []struct {
		p    *envs.Param
		text string
		want float64
		ok   bool
	}{
		{named("gravity"), "-3.5", -3.5, true}, {named("gravity"), "-1e1", -10, true}, {named("gravity"), "0", 0, false},
		{named("gravity"), "NaN", 0, false}, {named("gravity"), "down", 0, false}, {named("gravity"), "", 0, false},
		{named("enable_wind"), "true", 1, true}, {named("enable_wind"), "0", 0, true}, {named("enable_wind"), "2", 0, false},
		{named("wind_power"), "-0", 0, true}, {named("wind_power"), "1e400", 0, false},
		{&whole, "7", 7, true}, {&whole, "7.5", 0, false}, {&whole, "0", 0, false}, {&whole, "101", 0, false},
		{&whole, "inf", 0, false}, {&most, "inf", envs.Unbounded, true}, {&most, "-inf", 0, false}, {&most, "1e400", 0, false}, {&most, "2", 2, true},
	} {
		got, err := c.p.Parse(c.text)
		if (err == nil) != c.ok || got != c.want || math.Signbit(got) != math.Signbit(c.want) || err != nil && !errors.Is(err, envs.ErrParam) {
			t.Errorf("%s as %s gives %v, %v, want %v, ok %t", c.text, c.p.Name, got, err, c.want, c.ok)
		}
		if c.ok {
			if strings.Contains(c.p.Text(got), "e+38") || strings.Contains(c.p.Range(), "e+38") {
				t.Errorf("%s: %s, %s: infinity is written as a number", c.p.Name, c.p.Text(got), c.p.Range())
			}
			if back, err := c.p.Parse(c.p.Text(got)); err != nil || back != got {
				t.Errorf("%s as %s is written %s", c.text, c.p.Name, c.p.Text(got))
			}
		}
	}
}

// FuzzWith gives environments parameters of any name and value: they are refused by name, or what comes out describes
// instances that write as many observations as it says, all finite.
func FuzzWith(f *testing.F) {
	f.Add("Ant-v5", "main_body", 13.0, "include_cfrc_ext_in_observation", 0.0)
	f.Add("Humanoid-v5", "include_cinert_in_observation", 0.0, "exclude_current_positions_from_observation", 0.0)
	f.Add("Hopper-v5", "exclude_current_positions_from_observation", -1.0, "frame_skip", 3.5)
	f.Add("Swimmer-v5", "", math.NaN(), "Exclude", math.Inf(-1))
	f.Add("CartPole-v1", "exclude_current_positions_from_observation", 0.0, "g", 1e300)
	f.Fuzz(func(t *testing.T, id, name string, x float64, other string, y float64) {
		s, err := envs.Find(id)
		if err != nil {
			return // nothing to give parameters to
		}
		with, err := s.With(envs.Params{name: x, other: y})
		if err != nil {
			if !errors.Is(err, envs.ErrParam) || with != nil {
				t.Fatalf("%v, %v, want ErrParam alone", with, err)
			}
			return
		}
		const guard = 12345
		rng, obs, act := envs.NewStream(1), make([]float32, with.ObsDim+1), make([]float64, with.Action.Dim)
		for i := range obs {
			obs[i] = guard
		}
		env := with.New()
		env.Reset(&rng, obs)
		env.Step(&rng, act, obs)
		for i, o := range obs[:with.ObsDim] {
			if o == guard || o-o != 0 {
				t.Fatalf("%s: observation %d of %d is %v", with.Name(), i, with.ObsDim, o)
			}
		}
		if obs[with.ObsDim] != guard {
			t.Fatalf("%s writes more than %d observations", with.Name(), with.ObsDim)
		}
	})
}
