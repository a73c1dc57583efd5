package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/node/film"
)

const filmHelp = `Writes one episode as an animated picture, or as a picture of each frame.

Usage:
    evonode film LOG|MODEL|ENV -o FILE.gif|FILE.png|FOLDER/ [flags]

LOG or MODEL is a file as evonode eval takes it, or - for standard input: its policy plays. ENV is a world's id: there
actions are drawn at random.
    -o FILE.gif        an animated GIF; an existing file is replaced
    -o FILE.png        an animated PNG (or FILE.apng): every colour, some times as large
    -o FOLDER/         00000.png, 00001.png and so on, in a folder that is new or empty; for example for a video:
                       ffmpeg -framerate 50 -i FOLDER/%05d.png -pix_fmt yuv420p film.mp4
    --seed N           the episode (default: the first one that evonode eval counts; 0 with random actions)
    --env ENV          play the policy in another world that has the same observations and actions
    --at H             the policy after the entry of height H of a log (default: the last one); 0 is the untrained one
` + placeHelp + `    --size WxH         of the picture in pixels (default: as the world needs it, up to 600 wide)
    --fps N            frames in a second; a lower number makes a smaller file, not a slower film (default: the world's,
                       up to 50)
    --dark             light on dark
    --workers N        cores to use for --at best or solved (default: all)
    --json             one JSON object: file, env, policy (trained or random), run, height, seed, steps, return, frames,
                       size, fps, bytes

Example:
    $ evonode film run.seedlog --at best -o episode.gif
`

// What a film is like if nothing else is asked for.
const (
	filmWidth  = 600
	filmHeight = 400 // of the scene
	filmFPS    = 50
)

// lastHold is how long the last frame is shown.
const lastHold = time.Second

// filmFlags are the flags of film.
type filmFlags struct {
	policy    replayFlags // with --at, --workers, -o and --json
	env, size string
	seed      uint64
	fps       int
	dark      bool
	given     map[string]bool
}

func filmCommand() *command {
	return &command{name: "film", summary: "write an episode as an animated picture or frames", help: filmHelp, bind: func(fs *flag.FlagSet) runner {
		f := filmFlags{policy: replayFlags{check: string(seedlog.CheckDigests)}, given: map[string]bool{}}
		fs.StringVar(&f.policy.out, "o", "", "")
		fs.StringVar(&f.policy.at, "at", "", "")
		fs.IntVar(&f.policy.workers, "workers", 0, "")
		fs.BoolVar(&f.policy.json, "json", false, "")
		fs.StringVar(&f.env, "env", "", "")
		fs.StringVar(&f.size, "size", "", "")
		fs.Uint64Var(&f.seed, "seed", 0, "")
		fs.IntVar(&f.fps, "fps", 0, "")
		fs.BoolVar(&f.dark, "dark", false, "")
		return func(ctx context.Context, s *IO, args []string) error {
			name, err := argument(args, "LOG, MODEL or ENV", "evonode film run.seedlog -o episode.gif")
			if err != nil {
				return err
			}
			fs.Visit(func(x *flag.Flag) { f.given[x.Name] = true })
			return f.run(ctx, s, name)
		}
	}}
}

// run films the episode that the flags name.
func (f *filmFlags) run(ctx context.Context, s *IO, name string) error {
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
	if f.given["seed"] {
		c.seed = f.seed
	}
	if err := f.checkFPS(c.plan.Env, to); err != nil {
		return err
	}
	if size == (image.Point{}) {
		size = film.SizeFor(c.plan.Env.View, filmWidth, filmHeight)
	}
	theme := film.Light
	if f.dark {
		theme = film.Dark
	}
	shot, err := newShoot(ctx, c, size, theme, f.fps)
	if err == nil {
		line := &liveLine{w: s.Err, terminal: s.Terminal}
		err = to.write(func(w film.Writer) error { return shot.record(ctx, line, w) }, shot.frames, theme)
		line.clear()
	}
	if errors.Is(err, context.Canceled) {
		return failed(errors.New("interrupted"), "nothing was written; start it again")
	}
	if err != nil {
		return fmt.Errorf("writing the film: %w", err)
	}
	return f.report(s, c, shot, to)
}

// parseSize reads --size; nothing: no size.
func (f *filmFlags) parseSize() (size image.Point, err error) {
	if !f.given["size"] {
		return size, nil
	}
	var rest string
	if n, _ := fmt.Sscanf(strings.ToLower(f.size)+" ", "%dx%d%s", &size.X, &size.Y, &rest); n != 2 {
		return size, usage(fmt.Sprintf("--size %q", f.size), "width and height in pixels, such as --size 600x400")
	}
	if film.CheckSize(size) != nil {
		return size, usage(fmt.Sprintf("--size %s", f.size), fmt.Sprintf("%d to %d pixels wide, and as many high", film.MinSide, film.MaxSide))
	}
	return size, nil
}

// checkFPS completes --fps.
func (f *filmFlags) checkFPS(env *envs.Spec, to *filmTarget) error {
	if !f.given["fps"] {
		f.fps = min(env.FPS, filmFPS)
		return nil
	}
	if f.fps < 1 || f.fps > env.FPS {
		return usage(fmt.Sprintf("--fps %d", f.fps), fmt.Sprintf("1 to %d: a second of %s has no more steps", env.FPS, env.ID))
	}
	if to.format == film.GIF && f.fps > film.MaxFPSGIF {
		return usage(fmt.Sprintf("--fps %d in a GIF", f.fps), fmt.Sprintf("at most %d, or a FILE.png", film.MaxFPSGIF))
	}
	return nil
}

// cast is who plays where.
type cast struct {
	plan  rollout.Plan
	state *evolve.State // nil: random actions
	file  *policyFile   // nil: random actions
	seed  uint64        // of the episode
}

// cast finds out what the argument is.
func (f *filmFlags) cast(ctx context.Context, s *IO, name string) (*cast, error) {
	_, missing := os.Stat(name)
	if env, err := envs.Find(name); err == nil && missing != nil {
		if f.given["at"] || f.given["env"] {
			return nil, usage(fmt.Sprintf("--at and --env belong to a policy, and %s is a world", name), "name a log or a model: evonode film run.seedlog -o episode.gif")
		}
		return &cast{plan: rollout.Plan{Env: env}}, nil
	}
	if missing != nil && name != "-" && filepath.Base(name) == name && filepath.Ext(name) == "" {
		_, err := findEnv(name)
		return nil, fmt.Errorf("no file, and %w", err)
	}
	t, err := f.policy.readPolicy(ctx, s, name)
	if err != nil {
		return nil, err
	}
	if t.log != nil && t.log.Truncated {
		fmt.Fprintf(s.Err, "evonode: %s is truncated (%v); what is before that was replayed\n", called(name), t.log.Tail)
	}
	c := &cast{plan: t.plan, state: t.model.State(), file: t, seed: t.model.TestSeeds(1)[0]}
	if f.env != "" {
		return c, c.move(f.env)
	}
	return c, nil
}

// move puts the policy into another world.
func (c *cast) move(id string) error {
	env, err := findEnv(id)
	if err != nil {
		return err
	}
	from := c.plan.Env
	if env.ObsDim != from.ObsDim || env.Action.Discrete != from.Action.Discrete || env.Action.N != from.Action.N || env.Action.Dim != from.Action.Dim {
		return usage(fmt.Sprintf("a policy of %s (%s) does not fit %s (%s)", from.ID, spaces(from), env.ID, spaces(env)), "evonode env list shows the observations and actions of the worlds")
	}
	c.plan.Env = env
	c.plan.Policy, err = policy.New(c.file.model.Policy, env)
	return err
}

// spaces describes what a policy has to fit.
func spaces(env *envs.Spec) string {
	return fmt.Sprintf("%d observations, actions %s", env.ObsDim, actions(env.Action))
}

// caption says who plays.
func (c *cast) caption() string {
	if c.state == nil {
		return c.plan.Env.Title + " · random actions"
	}
	return fmt.Sprintf("%s · generation %d", c.plan.Env.Title, c.state.Gen)
}

// filmLine is what film --json prints.
type filmLine struct {
	File   string  `json:"file"`
	Env    string  `json:"env"`
	Policy string  `json:"policy"`
	Run    string  `json:"run"`
	Height uint64  `json:"height"`
	Seed   uint64  `json:"seed"`
	Steps  int     `json:"steps"`
	Return float64 `json:"return"`
	Frames int     `json:"frames"`
	Size   string  `json:"size"`
	FPS    int     `json:"fps"`
	Bytes  int64   `json:"bytes"`
}

func (f *filmFlags) report(s *IO, c *cast, t *shoot, to *filmTarget) error {
	n, err := to.bytes()
	if err != nil {
		return err
	}
	line := filmLine{File: f.policy.out, Env: c.plan.Env.ID, Policy: "random", Seed: c.seed, Steps: t.steps, Return: t.player.Return(),
		Frames: t.frames, Size: fmt.Sprintf("%dx%d", t.size.X, t.size.Y), FPS: t.fps, Bytes: n}
	if c.file != nil {
		line.Policy, line.Run, line.Height = "trained", c.file.model.Run, c.file.model.Height
	}
	if f.policy.json {
		return s.printJSON(line)
	}
	_, err = fmt.Fprintf(s.Out, "%s: %s, %d steps with return %.1f, %d frames of %s, %d kB\n", line.File, line.Env, line.Steps, line.Return, line.Frames, line.Size, (n+999)/1000)
	return err
}
