package main

import (
	"errors"
	"fmt"
	"strconv"

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
	scene   envs.Scene
}

// part is a policy and the generation it is of.
type part struct {
	gen       uint64
	state     *evolve.State
	candidate bool
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
// generations older is cut short, and so is one of a candidate.
func (t *theater) cast(gen uint64, state []byte) error {
	s, err := t.plan.UnmarshalState(state)
	if err != nil {
		return err
	}
	t.next = &part{gen: gen, state: s}
	if t.playing != nil && (gen > t.playing.gen+maxLag || t.playing.candidate) {
		t.playing = nil
	}
	return nil
}

// castCandidate makes a candidate of an encoded state play from now on: seed and sign say which. Whatever plays
// is cut short.
func (t *theater) castCandidate(gen uint64, state []byte, seed uint64, sign float32) error {
	s, err := t.plan.UnmarshalState(state)
	if err != nil {
		return err
	}
	one := s.Clone()
	t.plan.Strategy.Candidate(one.Theta, s, seed, sign)
	t.next, t.playing = &part{gen: gen, state: one, candidate: true}, nil
	return nil
}

// play runs n more steps, at most to the end of the episode, and returns the reel as JSON. An episode that starts here
// draws from seed, and the newest policy plays it to its end.
func (t *theater) play(n int, seed uint64) ([]byte, error) {
	if t.next == nil {
		return nil, errNoPolicy
	}
	b := append([]byte(nil), `{"fps":`...)
	b = strconv.AppendInt(b, int64(t.plan.Env.FPS), 10)
	b = append(b, `,"frames":[`...)
	var err error
	if t.playing == nil {
		t.playing = t.next
		t.player.Start(t.playing.state, seed)
		if b, err = t.appendFrame(b); err != nil {
			return nil, err
		}
		b = append(b, ',')
	}
	for range min(n, maxPlay) {
		t.player.Step()
		if b, err = t.appendFrame(b); err != nil {
			return nil, err
		}
		b = append(b, ',')
		if t.player.Over() {
			t.playing = nil
			break
		}
	}
	if b[len(b)-1] == ',' {
		b = b[:len(b)-1]
	}
	return append(b, "]}"...), nil
}

// appendFrame appends what is seen now as JSON: web/src/types/compute.d.ts has its fields. It writes the text itself,
// since encoding/json is a tenth of what a worker downloads. The error says what of the drawing cannot be shown.
func (t *theater) appendFrame(b []byte) ([]byte, error) {
	t.player.Draw(&t.scene)
	if t.scene.InSpace() { // the page does not look at it again
		if err := t.scene.Check(); err != nil {
			t.playing = nil
			return nil, fmt.Errorf("drawing %s: %w", t.plan.Env.ID, err)
		}
	}
	b = append(b, `{"gen":`...)
	b = strconv.AppendUint(b, t.playing.gen, 10)
	b = append(b, `,"candidate":`...)
	b = strconv.AppendBool(b, t.playing.candidate)
	b = append(b, `,"step":`...)
	b = strconv.AppendInt(b, int64(t.player.Steps()), 10)
	b = append(b, `,"return":`...)
	b = appendReal(b, t.player.Return())
	b = append(b, `,"over":`...)
	b = strconv.AppendBool(b, t.player.Over())
	bounds := t.scene.Bounds
	b = append(b, `,"scene":{"bounds":{"min_x":`...)
	b = appendReal(b, bounds.MinX)
	b = append(b, `,"min_y":`...)
	b = appendReal(b, bounds.MinY)
	b = append(b, `,"max_x":`...)
	b = appendReal(b, bounds.MaxX)
	b = append(b, `,"max_y":`...)
	b = appendReal(b, bounds.MaxY)
	b = append(b, '}')
	if t.scene.InSpace() {
		b = appendCamera(append(b, `,"camera":`...), &t.scene.Camera)
	}
	b = append(b, `,"shapes":[`...)
	for i := range t.scene.Shapes {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendShape(b, &t.scene.Shapes[i])
	}
	return append(b, "]}}"...), nil
}

func appendCamera(b []byte, c *envs.Camera) []byte {
	b = append(b, `{"target":[`...)
	for i, x := range c.Target {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendReal(b, x)
	}
	b = appendReal(append(b, `],"distance":`...), c.Distance)
	b = appendReal(append(b, `,"azimuth":`...), c.Azimuth)
	b = appendReal(append(b, `,"elevation":`...), c.Elevation)
	return append(b, '}')
}

func appendShape(b []byte, s *envs.Shape) []byte {
	b = append(b, `{"kind":`...)
	b = strconv.AppendQuote(b, string(s.Kind))
	b = append(b, `,"points":[`...)
	for i, x := range s.Points {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendReal(b, x)
	}
	b = append(b, ']')
	if s.Radius != 0 {
		b = appendReal(append(b, `,"radius":`...), s.Radius)
	}
	if s.Width != 0 {
		b = appendReal(append(b, `,"width":`...), s.Width)
	}
	for _, role := range []struct {
		name string
		is   envs.Role
	}{{"fill", s.Fill}, {"stroke", s.Stroke}} {
		if role.is != "" {
			b = append(b, `,"`...)
			b = append(b, role.name...)
			b = append(b, `":`...)
			b = strconv.AppendQuote(b, string(role.is))
		}
	}
	return append(b, '}')
}

// appendReal writes a finite number, which all are.
func appendReal(b []byte, x float64) []byte { return strconv.AppendFloat(b, x, 'g', -1, 64) }
