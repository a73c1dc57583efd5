package main

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/noise"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

// maxLag is how many generations the policy in an episode may be behind. web/src/theater.ts knows it too.
const maxLag = 100

// maxPlay is the largest number of steps in one reel.
const maxPlay = 1000

var (
	errNoPolicy = errors.New("worker: no policy to show")
	errBytes    = errors.New("worker: wrong number of bytes")
)

// theater plays episodes of the mean policy for people to watch. They count for nothing: neither as evaluations nor as
// held-out episodes.
type theater struct {
	plan rollout.Plan
	spec *envs.Spec
	env  envs.Env
	rng  noise.Stream
	obs  []float32
	act  []float64

	next    *player // who plays the next episode
	playing *player // who plays this one; nil between episodes
	steps   int
	total   float64
}

// player is a policy and the generation it is of.
type player struct {
	gen   uint64
	actor *rollout.Actor
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
	plan, err := rollout.NewPlan(setup)
	if err != nil {
		return nil, err
	}
	return &theater{
		plan: plan, spec: plan.Env, env: plan.Env.New(),
		obs: make([]float32, plan.Env.ObsDim), act: make([]float64, plan.Policy.ActDim()),
	}, nil
}

// cast makes the mean policy of an encoded state what the next episode is played with. An episode of a policy that is
// more than maxLag generations older is broken off.
func (t *theater) cast(gen uint64, state []byte) error {
	s, err := t.plan.UnmarshalState(state)
	if err != nil {
		return err
	}
	t.next = &player{gen, rollout.NewActor(t.plan)}
	t.next.actor.Cast(s, s.Theta)
	if t.playing != nil && gen > t.playing.gen+maxLag {
		t.playing = nil
	}
	return nil
}

// look returns the returns of the mean policy of an encoded state in the episodes that seeds name, both in little endian.
func (t *theater) look(state, seeds []byte) ([]byte, error) {
	s, err := t.plan.UnmarshalState(state)
	if err != nil {
		return nil, err
	}
	if len(seeds)%8 != 0 {
		return nil, fmt.Errorf("%w: %d of seeds", errBytes, len(seeds))
	}
	episodes := make([]uint64, len(seeds)/8)
	for i := range episodes {
		episodes[i] = binary.LittleEndian.Uint64(seeds[8*i:])
	}
	returns := make([]float64, len(episodes))
	rollout.NewEvaluator(t.plan).Returns(s, episodes, returns)
	out := make([]byte, 0, 8*len(returns))
	for _, r := range returns {
		out = binary.LittleEndian.AppendUint64(out, math.Float64bits(r))
	}
	return out, nil
}

// play goes on for n steps, at most to the end of the episode, and returns the reel as JSON. An episode that starts
// here draws from seed, and is played by the newest policy to its end.
func (t *theater) play(n int, seed uint64) ([]byte, error) {
	if t.next == nil {
		return nil, errNoPolicy
	}
	r := reel{FPS: t.spec.FPS}
	if t.playing == nil {
		t.playing, t.steps, t.total = t.next, 0, 0
		t.rng = noise.NewStream(seed, noise.DomainEpisode)
		t.env.Reset(&t.rng, t.obs)
		r.Frames = append(r.Frames, t.frame(false))
	}
	for range min(n, maxPlay) {
		if t.steps%t.plan.Episodes.Hold() == 0 {
			t.playing.actor.Act(t.obs, t.act)
		}
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
	f := frame{Gen: t.playing.gen, Step: t.steps, Return: t.total, Over: over}
	t.env.Draw(&f.Scene)
	return f
}
