package cli

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/node/chart"
	"github.com/evoswarm/evoswarm/node/curve"
	"github.com/evoswarm/evoswarm/node/replay"
	"github.com/evoswarm/evoswarm/node/verb"
)

func plotVerb() *verb.Verb {
	return &verb.Verb{
		Name: "plot", Args: "LOG|CSV ... -o FILE", Summary: "draw the learning curves of runs, as PNG or SVG",
		Intro: "Draws the learning curves of one or more runs.",
		Usage: []string{"plot LOG|CSV ... -o FILE.png|FILE.svg [-x WHAT] [-y WHAT] [flags]"},
		Details: `A LOG is a seed log, a CSV a file that evonode train --curve wrote. Each is a curve with its name in the legend; where
all logs are of one environment, a dashed line shows from where on it counts as solved.`,
		Example: "evonode plot a.seedlog b.seedlog -x evaluations -o curves.svg",
		Bind: func(fs *verb.Flags) verb.Run {
			f := plotFlags{x: "steps", y: "return", points: 50}
			fs.String(&f.out, "o", "FILE", "where to write, as .png or .svg; an existing file is replaced")
			fs.String(&f.x, "x", "steps|evaluations|generations|seconds", "the horizontal axis: env-steps of training (default), evaluations, generations, or "+
				"seconds (of CSV files only: no log holds a time)")
			fs.String(&f.y, "y", "return|best|mean|median", "the vertical axis: return of the mean policy (default), or of the fitness of a generation's "+
				"evaluations: best, mean, or median (of logs only; with a band from the lower to the upper quartile)")
			fs.Int(&f.points, "points", "N", "of a log's return: at how many entries, evenly chosen, the mean policy is evaluated, on the validation "+
				"episodes of that entry (default 50); the same log gives the same curve everywhere", 2)
			fs.String(&f.title, "title", "TEXT", "above the curves (default: the environment)")
			fs.Workers(&f.workers, "cores to use")
			fs.JSON(&f.json, "one JSON object per point: log, gen, evaluations, steps, seconds, value (of -y); and a last one: file, curves, points")
			return func(ctx context.Context, s *IO, args []string) error { return f.run(ctx, s, args) }
		},
	}
}

// Limits of what is drawn.
const (
	maxPlotPoints = 10000 // evaluated of a log
	maxPlotRows   = 1000  // drawn of a curve that needs no evaluation
)

// plotFlags are the flags of plot.
type plotFlags struct {
	out, x, y, title string
	points, workers  int
	json             bool
}

// axes names what -x takes, with the text at the axis.
var axes = map[string]string{"steps": "env-steps", "evaluations": "evaluations", "generations": "generations", "seconds": "seconds of training"}

// heights names what -y takes.
var heights = map[string]string{"return": "return of the mean policy", "best": "best fitness of a generation", "mean": "mean fitness of a generation", "median": "median fitness of a generation"}

func (f *plotFlags) run(ctx context.Context, s *verb.IO, args []string) error {
	format, err := f.check(args)
	if err != nil {
		return err
	}
	var all []*course
	for _, name := range args {
		c, err := f.read(ctx, s, name)
		if err != nil {
			return err
		}
		all = append(all, c)
	}
	drawn, err := f.chart(all)
	if err != nil {
		return err
	}
	if err := verb.WriteWhole(f.out, func(w io.Writer) error { return drawn.Write(w, format) }); err != nil {
		return fmt.Errorf("writing the plot: %w", err)
	}
	return f.report(s, all)
}

// check refuses wrong use before anything is read.
func (f *plotFlags) check(args []string) (chart.Format, error) {
	if len(args) == 0 {
		return "", verb.Misused("missing argument LOG", "for example: evonode plot run.seedlog -o curve.png")
	}
	if slices.Contains(args, "-") {
		return "", verb.Misused("a plot of standard input", "a log is read twice here: name a file")
	}
	if f.out == "" {
		return "", verb.Misused("missing -o FILE", "the name says the format: FILE.png or FILE.svg")
	}
	format, err := chart.FormatOf(f.out)
	if err != nil {
		return "", verb.Misused(fmt.Sprintf("-o %q: no format of that name", f.out), "the name says the format: FILE.png or FILE.svg")
	}
	if _, ok := axes[f.x]; !ok {
		return "", verb.Misused(fmt.Sprintf("-x %q", f.x), "steps, evaluations, generations or seconds")
	}
	if _, ok := heights[f.y]; !ok {
		return "", verb.Misused(fmt.Sprintf("-y %q", f.y), "return, best, mean or median")
	}
	if f.points < 2 || f.points > maxPlotPoints {
		return "", verb.Misused(fmt.Sprintf("--points %d", f.points), fmt.Sprintf("2 to %d", maxPlotPoints))
	}
	return format, nil
}

// course is what is drawn of one file.
type course struct {
	name   string
	env    *envs.Spec // nil if the file does not say
	points []coursePoint
}

// coursePoint is a row of a run's course with what -y asks for.
type coursePoint struct {
	curve.Row
	value     float64
	low, high *float64
}

// read reads a log or a CSV file.
func (f *plotFlags) read(ctx context.Context, s *verb.IO, name string) (*course, error) {
	in, err := s.Open(name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	b := bufio.NewReader(in)
	start, _ := b.Peek(len(curve.Header)) // its error comes again when the file is read
	if curve.IsCSV(start) {
		return f.readCSV(name, b)
	}
	if f.x == "seconds" {
		return nil, verb.Misused(name+": a log holds no times", "evonode train --curve FILE.csv keeps them: plot that file, or against steps")
	}
	first, err := seedlog.Replay(b, seedlog.ReplayOptions{HasAt: true})
	if err != nil {
		return nil, replay.Error(name, err)
	}
	c, height, err := f.readLog(ctx, s, name, first.Rules)
	if err == nil && f.y == "return" {
		err = f.evaluate(ctx, s, c, height)
	}
	return c, err
}

func (f *plotFlags) readCSV(name string, in io.Reader) (*course, error) {
	if f.y == "median" {
		return nil, verb.Misused(name+": a CSV file holds no medians", "plot the log, or -y mean")
	}
	rows, err := curve.ReadCSV(in)
	if err != nil {
		return nil, verb.Failed(fmt.Errorf("%s: %w", name, err), "is this a file that evonode train --curve wrote?")
	}
	c := &course{name: name}
	for _, row := range rows {
		value := map[string]*float64{"return": row.Return, "best": &row.Best, "mean": &row.Mean}[f.y]
		if value != nil && (f.x != "seconds" || row.Seconds != nil) {
			c.points = append(c.points, coursePoint{Row: row, value: *value})
		}
	}
	c.points = thin(c.points, maxPlotRows)
	return c, nil
}

// readLog reads the fitness of every generation, unless the return was asked for, and how high the log is.
func (f *plotFlags) readLog(ctx context.Context, s *verb.IO, name string, rules *seedlog.Rules) (*course, uint64, error) {
	in, err := s.Open(name)
	if err != nil {
		return nil, 0, err
	}
	defer in.Close()
	c := &course{name: name, env: rules.Env}
	opts := seedlog.ReplayOptions{Check: seedlog.CheckLinks, Visit: func(g *seedlog.Record, at seedlog.Replayed) error {
		if f.y == "return" {
			return nil
		}
		p := coursePoint{Row: curve.RowOf(g, at)}
		all := curve.FitnessOf(g.Claims)
		if len(all) == 0 {
			return nil
		}
		switch f.y {
		case "best":
			p.value = p.Best
		case "mean":
			p.value = p.Mean
		case "median":
			slices.Sort(all)
			low, high := curve.Quantile(all, 0.25), curve.Quantile(all, 0.75)
			p.value, p.low, p.high = curve.Quantile(all, 0.5), &low, &high
		}
		c.points = append(c.points, p)
		return nil
	}}
	if f.y != "return" && curve.StepsInState(rules) {
		opts.Check = seedlog.CheckDigests
	}
	r, err := replay.From(ctx, s, name, in, opts, f.json)
	if err != nil {
		return nil, 0, err
	}
	if r.Truncated {
		s.Note("%s is truncated (%v); what is before that is drawn", name, r.Tail)
	}
	c.points = thin(c.points, maxPlotRows)
	return c, r.Height, nil
}

// evaluate runs the mean policy at evenly chosen entries, the first and the last among them.
func (f *plotFlags) evaluate(ctx context.Context, s *verb.IO, c *course, height uint64) error {
	in, err := s.Open(c.name)
	if err != nil {
		return err
	}
	defer in.Close()
	wanted := evenly(height, f.points)
	line := s.Line(f.json)
	defer line.Clear()
	var pool *rollout.Pool
	look := func(at seedlog.Replayed) {
		row := curve.Row{Gen: at.Height, Evaluations: at.Evaluations, Steps: at.Steps}
		c.points = append(c.points, coursePoint{Row: row, value: curve.Validate(pool, at)})
		line.Show(time.Now(), verb.Items(fmt.Sprintf("%s: evaluated %d of %d entries", c.name, len(c.points), len(wanted)))...)
	}
	genesis, err := seedlog.Replay(in, seedlog.ReplayOptions{HasAt: true})
	if err != nil {
		return replay.Error(c.name, err)
	}
	pool = rollout.NewPool(genesis.Rules.Plan, f.workers)
	look(*genesis)
	again, err := s.Open(c.name)
	if err != nil {
		return err
	}
	defer again.Close()
	_, err = seedlog.Replay(again, seedlog.ReplayOptions{At: height, HasAt: true, Visit: func(_ *seedlog.Record, at seedlog.Replayed) error {
		if _, ok := slices.BinarySearch(wanted, at.Height); ok {
			look(at)
		}
		return ctx.Err()
	}})
	if err != nil {
		return replay.Error(c.name, err)
	}
	return nil
}

// evenly chooses at most n of the heights 0 to last, in ascending order.
func evenly(last uint64, n int) []uint64 {
	n = int(min(uint64(n), last+1))
	if n == 1 {
		return []uint64{0}
	}
	all := make([]uint64, n)
	for i := range all {
		all[i] = uint64(float64(last) * float64(i) / float64(n-1))
	}
	all[n-1] = last
	return all
}

// thin leaves at most n points, evenly chosen.
func thin(points []coursePoint, n int) []coursePoint {
	if len(points) <= n {
		return points
	}
	var left []coursePoint
	for _, i := range evenly(uint64(len(points)-1), n) {
		left = append(left, points[i])
	}
	return left
}

// at is where a point lies on the axis.
func (p *coursePoint) at(x string) float64 {
	switch x {
	case "evaluations":
		return float64(p.Evaluations)
	case "generations":
		return float64(p.Gen)
	case "seconds":
		return *p.Seconds
	}
	return float64(p.Steps)
}

// chart lays the curves out.
func (f *plotFlags) chart(all []*course) (*chart.Chart, error) {
	drawn := &chart.Chart{Title: f.title, X: axes[f.x], Y: heights[f.y]}
	names := labels(all)
	for i, c := range all {
		if len(c.points) == 0 {
			return nil, verb.Failed(fmt.Errorf("%s: nothing to draw: it has no %s against %s", c.name, f.y, f.x), "choose another -y or -x, or leave the file out")
		}
		s := chart.Series{Name: names[i], Color: i}
		for _, p := range c.points {
			s.X, s.Y = append(s.X, p.at(f.x)), append(s.Y, p.value)
			if p.low != nil {
				s.Low, s.High = append(s.Low, *p.low), append(s.High, *p.high)
			}
		}
		drawn.Series = append(drawn.Series, s)
	}
	if env := common(all); env != nil {
		drawn.Title = cmp.Or(f.title, env.ID)
		drawn.Level, drawn.About = &env.SolvedReturn, fmt.Sprintf("solved (%g)", env.SolvedReturn)
	}
	return drawn, nil
}

// common is the world of all courses that name one, nil if they differ or none does.
func common(all []*course) *envs.Spec {
	var env *envs.Spec
	for _, c := range all {
		switch {
		case c.env == nil:
		case env == nil:
			env = c.env
		case env.ID != c.env.ID:
			return nil
		}
	}
	return env
}

// labels names the curves: by their files' names, with the folders where those are the same.
func labels(all []*course) []string {
	var names []string
	for _, c := range all {
		base := filepath.Base(c.name)
		names = append(names, strings.TrimSuffix(base, filepath.Ext(base)))
	}
	for i := range names {
		if slices.Index(names, names[i]) != i {
			for j, c := range all {
				names[j] = c.name
			}
			break
		}
	}
	return names
}

// pointLine is a point of plot --json.
type pointLine struct {
	Log         string   `json:"log"`
	Gen         uint64   `json:"gen"`
	Evaluations uint64   `json:"evaluations"`
	Steps       uint64   `json:"steps"`
	Seconds     *float64 `json:"seconds"`
	Value       float64  `json:"value"`
}

func (f *plotFlags) report(s *verb.IO, all []*course) error {
	n := 0
	for _, c := range all {
		n += len(c.points)
	}
	if !f.json {
		_, err := fmt.Fprintf(s.Out, "%s: %d curves of %d points\n", f.out, len(all), n)
		return err
	}
	for _, c := range all {
		for _, p := range c.points {
			if err := s.PrintJSON(pointLine{c.name, p.Gen, p.Evaluations, p.Steps, p.Seconds, p.value}); err != nil {
				return err
			}
		}
	}
	return s.PrintJSON(struct {
		File   string `json:"file"`
		Curves int    `json:"curves"`
		Points int    `json:"points"`
	}{f.out, len(all), n})
}
