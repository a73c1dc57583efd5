package plot

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/node/curve"
	"github.com/evoswarm/evoswarm/node/replay"
	"github.com/evoswarm/evoswarm/node/verb"
)

// run is what is drawn of one file.
type run struct {
	name   string
	env    *envs.Spec // nil if the file does not say
	points []point
}

// point is a row of a run's learning curve with what -y asks for.
type point struct {
	curve.Row
	value     float64
	low, high *float64
}

// read reads a log or a CSV file.
func (f *plotFlags) read(ctx context.Context, s *verb.IO, name string) (*run, error) {
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

func (f *plotFlags) readCSV(name string, in io.Reader) (*run, error) {
	if f.y == "median" {
		return nil, verb.Misused(name+": a CSV file holds no medians", "plot the log, or -y mean")
	}
	rows, err := curve.ReadCSV(in)
	if err != nil {
		return nil, verb.Failed(fmt.Errorf("%s: %w", name, err), "is this a file that evonode train --curve wrote?")
	}
	c := &run{name: name}
	for _, row := range rows {
		value := map[string]*float64{"return": row.Return, "best": &row.Best, "mean": &row.Mean}[f.y]
		if value != nil && (f.x != "seconds" || row.Seconds != nil) {
			c.points = append(c.points, point{Row: row, value: *value})
		}
	}
	c.points = thin(c.points, maxPlotRows)
	return c, nil
}

// readLog reads the log's height and, unless -y is return, the fitness of every generation.
func (f *plotFlags) readLog(ctx context.Context, s *verb.IO, name string, rules *seedlog.Rules) (*run, uint64, error) {
	in, err := s.Open(name)
	if err != nil {
		return nil, 0, err
	}
	defer in.Close()
	c := &run{name: name, env: rules.Env}
	opts := seedlog.ReplayOptions{Check: seedlog.CheckLinks, Visit: func(g *seedlog.Record, at seedlog.Replayed) error {
		if f.y == "return" {
			return nil
		}
		p := point{Row: curve.RowOf(g, at)}
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

// evaluate evaluates the mean policy at evenly spaced entries, including the first and the last.
func (f *plotFlags) evaluate(ctx context.Context, s *verb.IO, c *run, height uint64) error {
	in, err := s.Open(c.name)
	if err != nil {
		return err
	}
	defer in.Close()
	wanted := evenly(height, f.points)
	line := s.Line(f.json)
	defer line.Clear()
	var pool *rollout.Pool
	evaluated := func(at seedlog.Replayed) {
		row := curve.Row{Gen: at.Height, Evaluations: at.Evaluations, Steps: at.Steps}
		c.points = append(c.points, point{Row: row, value: curve.Validate(pool, at)})
		line.Show(time.Now(), verb.Items(fmt.Sprintf("%s: evaluated %d of %d entries", c.name, len(c.points), len(wanted)))...)
	}
	genesis, err := seedlog.Replay(in, seedlog.ReplayOptions{HasAt: true})
	if err != nil {
		return replay.Error(c.name, err)
	}
	pool = rollout.NewPool(genesis.Rules.Plan, f.workers)
	evaluated(*genesis)
	again, err := s.Open(c.name)
	if err != nil {
		return err
	}
	defer again.Close()
	_, err = seedlog.Replay(again, seedlog.ReplayOptions{At: height, HasAt: true, Visit: func(_ *seedlog.Record, at seedlog.Replayed) error {
		if _, ok := slices.BinarySearch(wanted, at.Height); ok {
			evaluated(at)
		}
		return ctx.Err()
	}})
	if err != nil {
		return replay.Error(c.name, err)
	}
	return nil
}

// evenly returns at most n evenly spaced heights from 0 to last, in ascending order.
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

// thin keeps at most n points, evenly spaced.
func thin(points []point, n int) []point {
	if len(points) <= n {
		return points
	}
	var left []point
	for _, i := range evenly(uint64(len(points)-1), n) {
		left = append(left, points[i])
	}
	return left
}

// at is the position of a point on the axis.
func (p *point) at(x string) float64 {
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
