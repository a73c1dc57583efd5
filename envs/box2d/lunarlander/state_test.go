package lunarlander

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math"
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

func TestWind(t *testing.T) {
	var _ envs.Windy = new(env)
	e := Discrete4.New().(*env)
	for _, bad := range [][2]float64{{-1, 0}, {21, 0}, {math.NaN(), 0}, {0, -0.1}, {0, 2.1}, {0, math.Inf(1)}} {
		if err := e.SetWind(bad[0], bad[1]); !errors.Is(err, envs.ErrWind) || e.s.Windy {
			t.Errorf("SetWind(%v, %v) = %v, want ErrWind and no wind", bad[0], bad[1], err)
		}
	}
	calm, windy := play(t, e), 0.0
	if err := e.SetWind(20, 2); err != nil {
		t.Fatal(err)
	}
	if windy = play(t, e); windy == calm {
		t.Errorf("the wind changes nothing: x is %v", calm)
	}
}

// TestGoldenWind holds the bits of a flight in wind.
func TestGoldenWind(t *testing.T) {
	e := Continuous2.New().(*env)
	if err := e.SetWind(15, 1.5); err != nil {
		t.Fatal(err)
	}
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
func play(t *testing.T, e envs.Env) float64 {
	t.Helper()
	rng, obs := noise.NewStream(1, noise.DomainEpisode), make([]float32, 8)
	e.Reset(&rng, obs)
	for range 50 {
		e.Step(&rng, []float64{0, 0}, obs)
	}
	return float64(obs[0])
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
