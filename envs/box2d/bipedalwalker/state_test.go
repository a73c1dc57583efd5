package bipedalwalker

import (
	"errors"
	"testing"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/envs/envtest"
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

// inWorld says whether no body has left the world sideways or fallen through the ground.
func inWorld(e envs.Env) bool {
	s := &e.(*env).s
	for i := range int(s.World.BodyCount()) {
		at := s.World.Bodies[i].Position()
		if at.X < -4 || at.X > 95 {
			return false
		}
		if ground := s.height(bound(float64(at.X) / stride)); at.Y < ground-4 || at.Y > ground+50 {
			return false
		}
	}
	return !s.World.Overflow()
}

func FuzzStep(f *testing.F) {
	f.Add(uint64(1), []byte{0, 1, 2, 3, 255, 7, 9, 200})
	f.Fuzz(func(t *testing.T, seed uint64, data []byte) {
		for _, spec := range specs {
			envtest.FuzzSteps(t, spec, seed, data)
		}
	})
}

// TestBoxes checks that the obstacles are ordered from left to right, as the lidar assumes, and that there is room
// for all of them.
func TestBoxes(t *testing.T) {
	var s State
	var heights [points]float32
	s.Hardcore = true
	most := int32(0)
	for seed := range uint64(5000) {
		rng := noise.NewStream(seed, noise.DomainEpisode)
		s.roll(&rng, &heights)
		most = max(most, s.Boxes)
		for i := int32(1); i < s.Boxes; i++ {
			if s.Box[i].Left < s.Box[i-1].Left || s.Box[i].Right < s.Box[i-1].Right {
				t.Fatalf("seed %d: obstacle %d is left of the one before", seed, i)
			}
		}
	}
	if most >= maxBoxes {
		t.Errorf("%d obstacles, and room for %d", most, maxBoxes)
	}
	t.Logf("at most %d obstacles", most)
}

// TestManyBoxes generates the ground with the most obstacles: nothing but pits.
func TestManyBoxes(t *testing.T) {
	var s State
	var heights [points]float32
	s.Hardcore = true
	for _, kind := range []float64{0, 0.4, 0.99} {
		for _, size := range []float64{0, 0.99} {
			draws := make([]float64, 400)
			for i := range draws {
				draws[i] = size * kind
				if i%3 == 0 {
					draws[i] = kind
				}
			}
			rng := noise.Scripted(draws)
			s.roll(&rng, &heights)
			if s.Boxes >= maxBoxes {
				t.Errorf("kind %v, size %v: %d obstacles, and room for %d", kind, size, s.Boxes, maxBoxes)
			}
		}
	}
}

// TestContradictions checks that states which no episode can reach are refused.
func TestContradictions(t *testing.T) {
	e := Hardcore.New().(*env)
	rng, obs := noise.NewStream(1, noise.DomainEpisode), make([]float32, 24)
	e.Reset(&rng, obs)
	good := e.State()
	if err := e.SetState(good, obs); err != nil {
		t.Fatal(err)
	}
	at := map[string]int{}
	for i, v := range Hardcore.State {
		at[v.Name] = i
	}
	for _, c := range []struct {
		name  string
		value float64
	}{
		{"obstacles", 2.5}, {"obstacle 0 left", 100}, {"obstacle 3 right", 0}, {"obstacle 40 left", 1}, {"hull mass center x", 50},
		{"first hip at limit", 0.5}, {"second knee at limit", 1.5}, {"contact 0 body", 4}, {"contact 63 points", 1}, {"hull angle", 1},
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
