package film

import (
	"context"
	"fmt"
	"image"
	"time"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/node/verb"
)

// shoot is an episode that is being filmed.
type shoot struct {
	cast    *cast
	player  *rollout.Player
	painter *Painter
	size    image.Point
	fps     int
	steps   int // of the episode
	frames  int // of the film
	first   envs.Scene
}

// newShoot plays the episode once, to learn how long it is.
func newShoot(ctx context.Context, c *cast, size image.Point, theme *Theme, fps int) (*shoot, error) {
	painter, err := NewPainter(size, theme)
	if err != nil {
		return nil, err
	}
	t := &shoot{cast: c, player: rollout.NewPlayer(c.plan), painter: painter, size: size, fps: fps}
	t.player.Start(c.state, c.seed)
	for t.player.Draw(&t.first); !t.player.Over(); {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		t.player.Step()
	}
	t.steps = t.player.Steps()
	for step := range t.steps + 1 {
		if t.shown(step) {
			t.frames++
		}
	}
	return t, nil
}

// shown reports whether the film has a frame of a step: of the first, the last, and in between as many as it
// has time for.
func (t *shoot) shown(step int) bool {
	each := t.cast.plan.Env.FPS
	return step == 0 || step == t.steps || step*t.fps/each != (step-1)*t.fps/each
}

// hold is how long the frame of a step is shown.
func (t *shoot) hold(step int) time.Duration {
	if step == t.steps {
		return lastHold
	}
	next := step + 1
	for !t.shown(next) {
		next++
	}
	return time.Duration(next-step) * time.Second / time.Duration(t.cast.plan.Env.FPS)
}

// record plays the episode again and gives its frames to w.
func (t *shoot) record(ctx context.Context, line *verb.Line, w Writer) error {
	var scene envs.Scene
	caption := t.cast.caption()
	done := 0
	for t.player.Start(t.cast.state, t.cast.seed); ; t.player.Step() {
		if err := ctx.Err(); err != nil {
			return err
		}
		step := t.player.Steps()
		if t.shown(step) {
			t.player.Draw(&scene)
			img := t.painter.Paint(&scene, caption, fmt.Sprintf("step %d · return %.1f", step, t.player.Return()))
			if err := w.Add(img, t.hold(step)); err != nil {
				return err
			}
			done++
			line.Show(time.Now(), verb.Item{Text: fmt.Sprintf("frame %d of %d", done, t.frames)})
		}
		if t.player.Over() {
			return w.Close()
		}
	}
}
