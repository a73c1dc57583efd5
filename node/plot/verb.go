// Package plot is evonode plot: it draws the learning curves of runs, and of sweeps.
package plot

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/node/chart"
	"github.com/evoswarm/evoswarm/node/verb"
)

// Verb is evonode plot.
func Verb() *verb.Verb {
	return &verb.Verb{
		Name: "plot", Args: "LOG|CSV ... -o FILE", Summary: "draw the learning curves of runs and sweeps, as PNG or SVG",
		Intro: "Draws the learning curves of runs, or of sweeps.",
		Usage: []string{"plot LOG|CSV ... -o FILE.png|FILE.svg [-x WHAT] [-y WHAT] [flags]", "plot TABLE ... -o FILE.png|FILE.svg [flags]"},
		Details: `A LOG is a seed log, a CSV a file that evonode train --curve wrote. Each is a curve with its name in the legend. Where
all logs are of one environment, a dashed line shows the return from which on it counts as solved.

A TABLE is what evonode sweep -o wrote. Of each the plot shows the interquartile mean of its runs' returns with a 95 %
bootstrap interval, as rliable does, and the share of runs that have solved the environment, both against env-steps. A
run that has ended keeps its last return. The learning curves are read from the .curves.csv file next to the table.`,
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
			fs.JSON(&f.json, "one JSON object per point: log, gen, evaluations, steps, seconds, value (of -y), or of tables: table, strategy, runs, "+
				"steps, iqm, low, high; and a last one: file, curves, points")
			return func(ctx context.Context, s *verb.IO, args []string) error { return f.run(ctx, s, args) }
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
	if tables, err := f.tables(s, args); tables || err != nil {
		return err
	}
	var all []*run
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

// check refuses wrong use before any file is read.
func (f *plotFlags) check(args []string) (chart.Format, error) {
	if len(args) == 0 {
		return "", verb.Misused("missing argument LOG", "for example: evonode plot run.seedlog -o curve.png")
	}
	if slices.Contains(args, "-") {
		return "", verb.Misused("cannot plot standard input", "plot reads a log twice: name a file")
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

// chart lays the curves out.
func (f *plotFlags) chart(all []*run) (*chart.Chart, error) {
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

// common is the environment of all runs that name one; nil if they differ, or none does.
func common(all []*run) *envs.Spec {
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

// labels names the curves by their files, with folders if two files have the same name.
func labels(all []*run) []string {
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

// lastLine ends plot --json.
type lastLine struct {
	File   string `json:"file"`
	Curves int    `json:"curves"`
	Points int    `json:"points"`
}

func (f *plotFlags) report(s *verb.IO, all []*run) error {
	n := 0
	for _, c := range all {
		n += len(c.points)
	}
	if !f.json {
		return f.printTotals(s, len(all), n)
	}
	for _, c := range all {
		for _, p := range c.points {
			if err := s.PrintJSON(pointLine{c.name, p.Gen, p.Evaluations, p.Steps, p.Seconds, p.value}); err != nil {
				return err
			}
		}
	}
	return s.PrintJSON(lastLine{f.out, len(all), n})
}

func (f *plotFlags) printTotals(s *verb.IO, curves, points int) error {
	_, err := fmt.Fprintf(s.Out, "%s: %s of %d points\n", f.out, verb.Plural(curves, "curve"), points)
	return err
}
