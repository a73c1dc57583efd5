package main

import (
	"encoding/json"
	"errors"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

// maxLag is how many generations the policy of an episode may be behind; web/src/theater.ts has the same number.
const maxLag = 100

// maxPlay is the largest number of steps in one reel.
const maxPlay = 1000

var errNoPolicy = errors.New("no policy to show")

// theater plays episodes of the mean policy for people to watch. They count neither as evaluations nor as held-out
// episodes.
type theater struct {
	plan    rollout.Plan
	player  *rollout.Player
	next    *part // who plays the next episode
	playing *part // who plays this one; nil between episodes
}

// part is a policy and the generation it is of.
type part struct {
	gen   uint64
	state *evolve.State
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
	return &theater{plan: plan, player: rollout.NewPlayer(plan)}, nil
}

// cast makes the mean policy of an encoded state play the next episode. An episode whose policy is more than maxLag
// generations older is cut short.
func (t *theater) cast(gen uint64, state []byte) error {
	s, err := t.plan.UnmarshalState(state)
	if err != nil {
		return err
	}
	t.next = &part{gen, s}
	if t.playing != nil && gen > t.playing.gen+maxLag {
		t.playing = nil
	}
	return nil
}

// play runs n more steps, at most to the end of the episode, and returns the reel as JSON. An episode that starts here
// draws from seed, and the newest policy plays it to its end.
func (t *theater) play(n int, seed uint64) ([]byte, error) {
	if t.next == nil {
		return nil, errNoPolicy
	}
	r := reel{FPS: t.plan.Env.FPS}
	if t.playing == nil {
		t.playing = t.next
		t.player.Start(t.playing.state, seed)
		r.Frames = append(r.Frames, t.frame())
	}
	for range min(n, maxPlay) {
		t.player.Step()
		r.Frames = append(r.Frames, t.frame())
		if t.player.Over() {
			t.playing = nil
			break
		}
	}
	return json.Marshal(r)
}

// frame draws the present state.
func (t *theater) frame() frame {
	f := frame{Gen: t.playing.gen, Step: t.player.Steps(), Return: t.player.Return(), Over: t.player.Over()}
	t.player.Draw(&f.Scene)
	return f
}
