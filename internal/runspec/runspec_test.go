package runspec

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

func TestNewSpec(t *testing.T) {
	for _, c := range []struct {
		name                     string
		o                        Options
		evaluations, chunk, most uint64
		err                      error
	}{
		{"preset", Options{Env: "CARTPOLE-V1", Strategy: "dises"}, 8, 8, 1, nil},
		{"pairs", Options{Env: "CartPole-v1", Strategy: "openai-es"}, 8, 4, 1, nil},
		{"swarm", Options{Env: "CartPole-v1", Strategy: "dises", Nonce: [16]byte{9}, Format: seedlog.Format1}, 32, 32, 2, nil},
		{"swarm of long episodes", Options{Env: "BipedalWalker-v3", Nonce: [16]byte{9}, Format: seedlog.Format1}, 40, 5, 16, nil},
		{"unknown format", Options{Env: "CartPole-v1", Nonce: [16]byte{9}, Format: 3}, 0, 0, 0, ErrSetting},
		{"an end in format 1", Options{Env: "CartPole-v1", Nonce: [16]byte{9}, Format: seedlog.Format1, Until: &seedlog.Until{Solved: true}}, 0, 0, 0, ErrSetting},
		{"odd population", Options{Env: "CartPole-v1", Strategy: "dises", Settings: Settings{"population": uint64(7)}}, 7, 7, 1, nil},
		{"prime population", Options{Env: "CartPole-v1", Strategy: "dises", Settings: Settings{"population": uint64(1009)}}, 1009, 1, 1009, nil},
		{"many", Options{Env: "CartPole-v1", Strategy: "dises", Settings: Settings{"population": uint64(1 << 17)}}, 1 << 17, 256, 512, nil},
		{"odd pairs", Options{Env: "CartPole-v1", Strategy: "openai-es", Settings: Settings{"population": uint64(7)}}, 0, 0, 0, evolve.ErrParams},
		{"large prime", Options{Env: "CartPole-v1", Strategy: "dises", Settings: Settings{"population": uint64(1031)}}, 0, 0, 0, ErrPopulation},
		{"too many", Options{Env: "CartPole-v1", Strategy: "dises", Settings: Settings{"population": uint64(1<<17 + 1)}}, 0, 0, 0, ErrSetting},
		{"setting", Options{Env: "CartPole-v1", Strategy: "dises", Params: evolve.Params{"sigmas": 1.0}}, 0, 0, 0, evolve.ErrParams},
		{"strategy", Options{Env: "CartPole-v1", Strategy: "des"}, 0, 0, 0, evolve.ErrMethod},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec, err := NewSpec(c.o)
			if !errors.Is(err, c.err) {
				t.Fatalf("got %v, want %v", err, c.err)
			}
			if err != nil {
				return
			}
			g := spec.Generation
			if g.Evaluations != c.evaluations || g.Chunk != c.chunk || g.Quota != c.most {
				t.Errorf("got %+v, want %d evaluations in chunks of %d, at most %d per peer", g, c.evaluations, c.chunk, c.most)
			}
		})
	}
}

// TestFormat2 holds what format 2 changes in a spec, and that it changes nothing else.
func TestFormat2(t *testing.T) {
	for _, c := range []struct {
		env, strategy string
		stale         uint64
	}{
		{"CartPole-v1", "snes", maxStale}, {"CartPole-v1", "openai-es", maxStale}, {"BipedalWalker-v3", "snes", maxStale},
		{"CartPole-v1", "cem", 0}, {"CartPole-v1", "dises", 0},
	} {
		o := Options{Env: c.env, Strategy: c.strategy, Nonce: [16]byte{9}, Format: seedlog.Format1}
		plain, err := NewSpec(o)
		if err != nil {
			t.Fatal(err)
		}
		o.Format = 0
		spec, err := NewSpec(o)
		if err != nil {
			t.Fatalf("%s with %s: %v", c.env, c.strategy, err)
		}
		g := spec.Generation
		if spec.Format != seedlog.Format2 || g.MaxStale != c.stale || g.Chunk != 1 || g.Duration != generationMS || *spec.SpotChecks != (seedlog.SpotChecks{First: 1, Share: 32}) {
			t.Errorf("%s with %s: got format %d, %+v, %+v", c.env, c.strategy, spec.Format, spec.SpotChecks, g)
		}
		if pooled := c.stale > 0; g.Pooled != pooled {
			t.Errorf("%s with %s: results are pooled: %t, want %t", c.env, c.strategy, g.Pooled, pooled)
		}
		if grows := map[bool]uint64{true: maxGrowth}[c.strategy == "snes"]; g.Growth != grows {
			t.Errorf("%s with %s: the step grows to %d times, want %d", c.env, c.strategy, g.Growth, grows)
		}
		if capped := c.env == "BipedalWalker-v3"; g.CapGrowth != capped {
			t.Errorf("%s with %s: the cap grows: %t, want %t", c.env, c.strategy, g.CapGrowth, capped)
		}
		if g.Quota <= plain.Generation.Quota*plain.Generation.Chunk || g.WeightSteps <= plain.Generation.WeightSteps {
			t.Errorf("%s with %s: a peer may add %d chunks and an entry weighs %d, as few as in format 1: %+v", c.env, c.strategy, g.Quota, g.WeightSteps, plain.Generation)
		}
		if each := plain.Generation.Evaluations * spec.Episodes.Count; spec.Best == nil || spec.Best.Results != 64 || spec.Best.Every <= g.MaxStale || spec.Best.Every*each < 64*20 || spec.Best.Every > 13 && (spec.Best.Every-1)*each >= 64*20 {
			t.Errorf("%s with %s: best states are %+v, %d episodes make an entry", c.env, c.strategy, spec.Best, each)
		}
		spec.Best = nil
		spec.Format, spec.SpotChecks, spec.Generation = plain.Format, plain.SpotChecks, plain.Generation
		if spec.Link() != plain.Link() {
			t.Errorf("%s with %s: format 2 changes other fields: %+v", c.env, c.strategy, spec)
		}
	}
	alone := Options{Env: "CartPole-v1"}
	want, err := NewSpec(alone)
	if err != nil {
		t.Fatal(err)
	}
	alone.Format = seedlog.Format2
	if got, err := NewSpec(alone); err != nil || got.Link() != want.Link() {
		t.Errorf("a run on one machine is of format %d (%v)", got.Format, err)
	}
}

// TestParams: a run with parameters of its environment is one of format 2; with defaults it is what it is without.
func TestParams(t *testing.T) {
	plain, err := NewSpec(Options{Env: "LunarLander-v3"})
	if err != nil {
		t.Fatal(err)
	}
	same, err := NewSpec(Options{Env: "LunarLander-v3", EnvParams: envs.Params{"gravity": -10, "enable_wind": 0, "wind_power": 15}})
	if err != nil || same.Link() != plain.Link() {
		t.Errorf("with defaults the run is another one: %v, %v", same, err)
	}
	windy := Options{Env: "LunarLander-v3", EnvParams: envs.Params{"enable_wind": 1, "wind_power": 15}}
	spec, err := NewSpec(windy)
	if err != nil {
		t.Fatal(err)
	}
	if spec.Format != seedlog.Format2 || !maps.Equal(spec.Env.Params, envs.Params{"enable_wind": 1}) {
		t.Errorf("format %d, parameters %v", spec.Format, spec.Env.Params)
	}
	if g := spec.Generation; g.MaxStale != 0 || g.Growth != 0 || g.Open || g.Chunk != plain.Generation.Chunk || g.Evaluations != plain.Generation.Evaluations {
		t.Errorf("the generations of a run alone are %+v, want %+v", g, plain.Generation)
	}
	// It can begin with weights as others can.
	rules, err := New(windy)
	if err != nil {
		t.Fatal(err)
	}
	begun := windy
	begun.Init = &Init{Run: rules.Run, Head: rules.Run, Weights: rules.Initial()}
	if spec, err := NewSpec(begun); err != nil || spec.Successor == nil || spec.Format != seedlog.Format2 {
		t.Errorf("a run in wind that begins with weights: %+v, %v", spec, err)
	}

	windy.Nonce, windy.Format = [16]byte{1}, seedlog.Format1
	if _, err := NewSpec(windy); !errors.Is(err, ErrSetting) || !strings.Contains(err.Error(), "a run of format 1 has no end") {
		t.Errorf("a swarm's run of format 1 in wind: %v, want ErrSetting", err)
	}
	windy.Format = 0
	if spec, err := NewSpec(windy); err != nil || !maps.Equal(spec.Env.Params, envs.Params{"enable_wind": 1}) {
		t.Errorf("a swarm's run in wind: %+v, %v", spec, err)
	}
	windy.EnvParams = envs.Params{"rain": 1}
	if _, err := NewSpec(windy); !errors.Is(err, envs.ErrParam) {
		t.Errorf("in rain: %v, want ErrParam", err)
	}
}
