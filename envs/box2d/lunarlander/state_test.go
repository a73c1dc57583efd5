package lunarlander

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/envs/envtest"
	"github.com/evoswarm/evoswarm/internal/golden"
	"github.com/evoswarm/evoswarm/internal/noise"
)

func TestStates(t *testing.T) {
	for _, spec := range specs {
		t.Run(spec.ID, func(t *testing.T) { envtest.States(t, spec) })
	}
}

func TestLong(t *testing.T) {
	for _, spec := range specs {
		t.Run(spec.ID, func(t *testing.T) { envtest.Long(t, spec, inWorld) })
	}
}

// inWorld says whether no body has left the world sideways or through the floor.
func inWorld(e envs.Env) bool {
	for i := range int(e.(*env).s.World.BodyCount()) {
		at := e.(*env).s.World.Bodies[i].Position()
		if at.X < -2 || at.X > width+2 || at.Y < -2 || at.Y > 1000 {
			return false
		}
	}
	return !e.(*env).s.World.Overflow()
}

func FuzzStep(f *testing.F) {
	f.Add(uint64(1), []byte{0, 1, 2, 3, 255, 7, 9, 200})
	f.Fuzz(func(t *testing.T, seed uint64, data []byte) {
		for _, spec := range specs {
			envtest.FuzzSteps(t, spec, seed, data)
		}
	})
}

// TestWind checks that wind blows only if it is asked for, and that less gravity leaves the lander higher.
func TestWind(t *testing.T) {
	x, y := play(t, nil)
	if calm, _ := play(t, envs.Params{"wind_power": 20, "turbulence_power": 2}); calm != x {
		t.Errorf("wind that is not enabled blows: x is %v, want %v", calm, x)
	}
	if windy, _ := play(t, envs.Params{"enable_wind": 1}); windy == x {
		t.Errorf("the wind changes nothing: x is %v", x)
	}
	if _, high := play(t, envs.Params{"gravity": -1}); high <= y {
		t.Errorf("less gravity leaves the lander at %v, want more than %v", high, y)
	}
}

// TestGoldenWind holds the bits of a flight in wind.
func TestGoldenWind(t *testing.T) {
	spec, err := Continuous2.With(envs.Params{"enable_wind": 1})
	if err != nil {
		t.Fatal(err)
	}
	e := spec.New()
	h := sha256.New()
	obs, act := make([]float32, 8), make([]float64, 2)
	for seed := range uint64(5) {
		rng := noise.NewStream(seed, noise.DomainEpisode)
		e.Reset(&rng, obs)
		for over := false; !over; {
			steer(Continuous2, obs, act)
			_, over = e.Step(&rng, act, obs)
			if err := binary.Write(h, binary.LittleEndian, obs); err != nil {
				t.Fatal(err)
			}
		}
	}
	golden.Check(t, "wind", h.Sum(nil))
}

// play returns where the lander is after 50 steps without engines.
func play(t *testing.T, params envs.Params) (x, y float64) {
	t.Helper()
	spec, err := Discrete4.With(params)
	if err != nil {
		t.Fatal(err)
	}
	e := spec.New()
	rng, obs := noise.NewStream(1, noise.DomainEpisode), make([]float32, 8)
	e.Reset(&rng, obs)
	for range 50 {
		e.Step(&rng, []float64{0, 0}, obs)
	}
	return float64(obs[0]), float64(obs[1])
}

// TestContradictions checks that states which no episode can reach are refused.
func TestContradictions(t *testing.T) {
	e := Discrete4.New().(*env)
	rng, obs := noise.NewStream(1, noise.DomainEpisode), make([]float32, 8)
	e.Reset(&rng, obs)
	good := e.State()
	if err := e.SetState(good, obs); err != nil {
		t.Fatal(err)
	}
	at := map[string]int{}
	for i, v := range Discrete4.State {
		at[v.Name] = i
	}
	for _, c := range []struct {
		name  string
		value float64
	}{
		{"windy", 0.5}, {"wind index", 0.5}, {"lander mass center x", 15}, {"left leg mass center y", 5}, {"lander box left", 12},
		{"right leg awake", 0.5}, {"left joint at limit", 1.5}, {"contact 0 fixture", 2}, {"contact 3 points", 1}, {"lander angle", 1},
		{"lander box bottom", -5},
	} {
		state := append([]float64(nil), good...)
		i, ok := at[c.name]
		if !ok {
			t.Fatalf("no value %q", c.name)
		}
		state[i] = c.value
		if err := e.SetState(state, obs); !errors.Is(err, envs.ErrState) {
			t.Errorf("%s = %v: SetState gives %v, want an error that wraps ErrState", c.name, c.value, err)
		}
	}
}
