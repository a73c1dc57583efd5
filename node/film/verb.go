package film

import (
	"context"
	"errors"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/node/catalog"
	"github.com/evoswarm/evoswarm/node/replay"
	"github.com/evoswarm/evoswarm/node/verb"
)

// Verb is evonode film.
func Verb() *verb.Verb {
	return &verb.Verb{
		Name: "film", Args: "LOG|MODEL|ENV -o FILE", Summary: "write an episode as GIF, animated PNG, or a PNG of each frame",
		Intro: "Writes one episode as an animated picture, or as a picture of each frame.",
		Usage: []string{"film LOG|MODEL|ENV -o FILE.gif|FILE.png|FOLDER/ [flags]"},
		Details: `LOG or MODEL is a file as evonode eval takes it, or - for standard input: its policy plays. ENV is an environment's id:
there actions are drawn at random.
    -o FILE.gif    an animated GIF; an existing file is replaced
    -o FILE.png    an animated PNG (or FILE.apng): every color, several times as large
    -o FOLDER/     00000.png, 00001.png and so on, in a folder that is new or empty; for example for a video:
                   ffmpeg -framerate 50 -i FOLDER/%05d.png -pix_fmt yuv420p mp4`,
		Notes:   replay.AtNotes,
		Example: "evonode film run.seedlog --at best -o episode.gif",
		Bind: func(fs *verb.Flags) verb.Run {
			var f flags
			fs.String(&f.out, "o", "FILE", "where to write; the name says the format")
			fs.Uint(&f.seed, "seed", "N", "the episode (default: the first one that evonode eval counts; 0 with random actions)", 0)
			fs.String(&f.env, "env", "ENV", "play the policy in another environment that has the same observations and actions")
			f.world = map[string]string{}
			catalog.BindParams(fs, f.world, "a parameter of the environment, in place of the run's, as env show lists them; may be repeated")
			f.policy.Bind(fs)
			fs.String(&f.size, "size", "WxH", "size of the picture in pixels (default: as the environment needs it, up to 600 wide)")
			fs.Int(&f.fps, "fps", "N", "frames per second; a lower number makes a smaller file, not a slower film (default: the environment's, up to 50)", 0)
			fs.Bool(&f.dark, "dark", "light on dark")
			fs.JSON(&f.policy.Quiet, "one JSON object: file, env, env_params (those that are no defaults), policy (trained or random), run, height, seed, steps, return, frames, size, fps, bytes")
			return func(ctx context.Context, s *verb.IO, args []string) error {
				name, err := verb.Argument(args, "LOG, MODEL or ENV", "evonode film run.seedlog -o episode.gif")
				if err != nil {
					return err
				}
				f.given = fs.Given
				return f.run(ctx, s, name)
			}
		},
	}
}

// Defaults.
const (
	defaultWidth  = 600
	defaultHeight = 400 // of the scene
	maxFPS        = 50
)

// lastHold is how long the last frame is shown.
const lastHold = time.Second

// flags are those of evonode film.
type flags struct {
	policy    replay.Source
	out       string
	env, size string
	world     map[string]string // parameters of the environment
	seed      uint64
	fps       int
	dark      bool
	given     func(name string) bool
}

// run films the episode that the flags name.
func (f *flags) run(ctx context.Context, s *verb.IO, name string) error {
	to, err := f.target()
	if err != nil {
		return err
	}
	size, err := f.parseSize()
	if err != nil {
		return err
	}
	c, err := f.cast(ctx, s, name)
	if err != nil {
		return err
	}
	if f.given("seed") {
		c.seed = f.seed
	}
	if err := c.plan.Env.CanDraw(); err != nil {
		return verb.Failed(err, "implement envs.Drawer to film it; training does without")
	}
	if err := f.checkFPS(c.plan.Env, to); err != nil {
		return err
	}
	if size == (image.Point{}) {
		size = SizeFor(c.plan.Env.View, defaultWidth, defaultHeight)
	}
	theme := Light
	if f.dark {
		theme = Dark
	}
	shot, err := newShoot(ctx, c, size, theme, f.fps)
	if err == nil {
		line := s.Line(f.policy.Quiet)
		err = to.write(func(w Writer) error { return shot.record(ctx, line, w) }, shot.frames, theme, &shot.first)
		line.Clear()
	}
	if errors.Is(err, context.Canceled) {
		return verb.Failed(errors.New("interrupted"), "nothing was written; start it again")
	}
	if err != nil {
		return fmt.Errorf("writing the film: %w", err)
	}
	return f.report(s, c, shot, to)
}

// parseSize reads --size; nothing: no size.
func (f *flags) parseSize() (size image.Point, err error) {
	if !f.given("size") {
		return size, nil
	}
	var rest string
	if n, _ := fmt.Sscanf(strings.ToLower(f.size)+" ", "%dx%d%s", &size.X, &size.Y, &rest); n != 2 {
		return size, verb.Misused(fmt.Sprintf("--size %q", f.size), "width and height in pixels, such as --size 600x400")
	}
	if CheckSize(size) != nil {
		return size, verb.Misused(fmt.Sprintf("--size %s", f.size), fmt.Sprintf("%d to %d pixels wide, and as many high", MinSide, MaxSide))
	}
	return size, nil
}

// checkFPS completes --fps.
func (f *flags) checkFPS(env *envs.Spec, to *target) error {
	if !f.given("fps") {
		f.fps = min(env.FPS, maxFPS)
		return nil
	}
	if f.fps < 1 || f.fps > env.FPS {
		return verb.Misused(fmt.Sprintf("--fps %d", f.fps), fmt.Sprintf("1 to %d: a second of %s has no more steps", env.FPS, env.ID))
	}
	if to.format == GIF && f.fps > MaxFPSGIF {
		return verb.Misused(fmt.Sprintf("--fps %d in a GIF", f.fps), fmt.Sprintf("at most %d, or a FILE.png", MaxFPSGIF))
	}
	return nil
}

// cast is the policy that plays and the environment that it plays in.
type cast struct {
	plan  rollout.Plan
	state *evolve.State  // nil: random actions
	file  *replay.Policy // nil: random actions
	seed  uint64         // of the episode
}

// cast reads the argument: an environment, a log or a model.
func (f *flags) cast(ctx context.Context, s *verb.IO, name string) (*cast, error) {
	_, missing := os.Stat(name)
	if env, err := envs.Find(name); err == nil && missing != nil {
		if f.given("at") || f.given("env") {
			return nil, verb.Misused(fmt.Sprintf("--at and --env belong to a policy, and %s is an environment", name), "name a log or a model: evonode film run.seedlog -o episode.gif")
		}
		if env, err = catalog.Adjust(env, f.world); err != nil {
			return nil, err
		}
		return &cast{plan: rollout.Plan{Env: env}}, nil
	}
	if missing != nil && name != "-" && filepath.Base(name) == name && filepath.Ext(name) == "" {
		_, err := catalog.Env(name)
		return nil, fmt.Errorf("no file, and %w", err)
	}
	t, err := f.policy.Policy(ctx, s, name)
	if err != nil {
		return nil, err
	}
	if err := f.move(t); err != nil {
		return nil, err
	}
	return &cast{plan: t.Plan, state: t.Model.State(), file: t, seed: t.Model.TestSeeds(1)[0]}, nil
}

// move puts the policy into the environment that --env and --env-param name.
func (f *flags) move(p *replay.Policy) error {
	if f.env == "" {
		return p.Adjust(f.world)
	}
	env, err := catalog.Env(f.env)
	if err != nil {
		return err
	}
	if env, err = catalog.Adjust(env, f.world); err != nil {
		return err
	}
	return p.Move(env)
}

// caption names the environment and the policy.
func (c *cast) caption() string {
	if c.state == nil {
		return c.plan.Env.Name() + " · random actions"
	}
	return fmt.Sprintf("%s · generation %d", c.plan.Env.Name(), c.state.Gen)
}

// result is what film --json prints.
type result struct {
	File   string      `json:"file"`
	Env    string      `json:"env"`
	Params envs.Params `json:"env_params,omitempty"`
	Policy string      `json:"policy"`
	Run    string      `json:"run"`
	Height uint64      `json:"height"`
	Seed   uint64      `json:"seed"`
	Steps  int         `json:"steps"`
	Return float64     `json:"return"`
	Frames int         `json:"frames"`
	Size   string      `json:"size"`
	FPS    int         `json:"fps"`
	Bytes  int64       `json:"bytes"`
}

func (f *flags) report(s *verb.IO, c *cast, t *shoot, to *target) error {
	n, err := to.bytes()
	if err != nil {
		return err
	}
	line := result{File: f.out, Env: c.plan.Env.ID, Params: c.plan.Env.Given(), Policy: "random", Seed: c.seed, Steps: t.steps, Return: t.player.Return(),
		Frames: t.frames, Size: fmt.Sprintf("%dx%d", t.size.X, t.size.Y), FPS: t.fps, Bytes: n}
	if c.file != nil {
		line.Policy, line.Run, line.Height = "trained", c.file.Model.Run, c.file.Model.Height
	}
	if f.policy.Quiet {
		return s.PrintJSON(line)
	}
	_, err = fmt.Fprintf(s.Out, "%s: %s, %d steps with return %.1f, %d frames of %s, %d kB\n", line.File, line.Env, line.Steps, line.Return, line.Frames, line.Size, (n+999)/1000)
	return err
}
