package main

import (
	"encoding/json"
	"fmt"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/noise"
	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

// maxPlay is the largest number of steps in one reel.
const maxPlay = 1000

// theater plays episodes of the mean policy for people to watch. They count for nothing: neither as evaluations nor as
// held-out episodes.
type theater struct {
	spec    *envs.Spec
	env     envs.Env
	policy  *policy.Policy
	scratch *policy.Scratch
	rng     noise.Stream
	obs     []float32
	act     []float64

	state   *evolve.State // what the next episode will be played with
	playing *evolve.State // what this one is played with; nil between episodes
	steps   int
	total   float64
}

// reel is a piece of an episode.
type reel struct {
	Frames []frame `json:"frames"`
	FPS    int     `json:"fps"` // frames in a second of watching
}

// frame is what is seen after a step. Step 0 is the start of an episode; Over says that it ended here.
type frame struct {
	Scene  envs.Scene `json:"scene"`
	Gen    uint64     `json:"gen"` // of the policy that is playing
	Step   int        `json:"step"`
	Return float64    `json:"return"` // so far
	Over   bool       `json:"over"`
}

// newTheater returns a theater for setup, which rollout.NewWorker has accepted.
func newTheater(setup rollout.Setup) (*theater, error) {
	spec, err := envs.Find(setup.EnvID)
	if err != nil {
		return nil, err
	}
	pol, err := policy.New(setup.Policy, spec)
	if err != nil {
		return nil, err
	}
	return &theater{
		spec: spec, env: spec.New(), policy: pol, scratch: pol.Scratch(),
		obs: make([]float32, spec.ObsDim), act: make([]float64, pol.ActDim()),
	}, nil
}

// play goes on for n steps, at most to the end of the episode, and returns the reel as JSON. An episode that starts
// here draws from seed, and is played with the newest state to its end.
func (t *theater) play(n int, seed uint64) ([]byte, error) {
	if t.state == nil {
		return nil, fmt.Errorf("%w: no state", evolve.ErrState)
	}
	r := reel{FPS: t.spec.FPS}
	if t.playing == nil {
		t.playing, t.steps, t.total = t.state, 0, 0
		t.rng = noise.NewStream(seed, noise.DomainEpisode)
		t.env.Reset(&t.rng, t.obs)
		r.Frames = append(r.Frames, t.frame(false))
	}
	for range min(n, maxPlay) {
		t.policy.Act(t.playing.Theta, t.obs, t.scratch, t.act)
		reward, terminated := t.env.Step(&t.rng, t.act, t.obs)
		t.total += reward
		t.steps++
		over := terminated || t.steps >= t.spec.MaxSteps
		r.Frames = append(r.Frames, t.frame(over))
		if over {
			t.playing = nil
			break
		}
	}
	return json.Marshal(r)
}

// frame draws the present state.
func (t *theater) frame(over bool) frame {
	f := frame{Gen: t.playing.Gen, Step: t.steps, Return: t.total, Over: over}
	t.env.Draw(&f.Scene)
	return f
}
