package main

import (
	"encoding/csv"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/evoswarm/evoswarm/node/sweep"
)

// report collects the choices of all worlds and writes them as tables.
type report struct {
	folder string
	limit  time.Duration // of all trials together

	mu      sync.Mutex
	choices []reported
}

// reported is a choice and its phase.
type reported struct {
	*choice
	phase string // "tuning" or "fresh"
}

// begin returns a function that adds a choice of the phase.
func (r *report) begin(phase string) func(*choice) {
	return func(c *choice) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.choices = append(r.choices, reported{c, phase})
	}
}

// write writes trials.csv, a line for each trial, and curves.csv, a line for each held-out evaluation. Choices are
// numbered in the order in which they began.
func (r *report) write() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	trials := [][]string{{"choice", "env", "phase", "seed", "cores", "solved", "gens", "steps", "seconds", "best", "last", "flags"}}
	curves := [][]string{{"choice", "env", "phase", "seed", "seconds", "steps", "return"}}
	for i, c := range r.choices {
		for _, t := range c.trials {
			id := []string{strconv.Itoa(i), t.world.Env, c.phase, strconv.FormatUint(t.seed, 10)}
			now, points := t.soFar()
			top, last := "", ""
			if ret, ok := best(points); ok {
				top, last = short(ret), short(points[len(points)-1].ret)
			}
			trials = append(trials, append(id[:4:4], strconv.Itoa(t.cores), strconv.FormatBool(t.solved()), strconv.FormatUint(now.Gen, 10),
				strconv.FormatUint(now.Steps, 10), short(t.gate.hadOf(t).Seconds()), top, last, c.flags))
			for _, p := range points {
				curves = append(curves, append(id[:4:4], short(p.seconds), strconv.FormatUint(p.steps, 10), short(p.ret)))
			}
		}
	}
	if err := writeTable(filepath.Join(r.folder, "trials.csv"), trials); err != nil {
		return err
	}
	for _, c := range r.choices {
		if c.phase == "fresh" {
			if err := r.sweep(c.choice); err != nil {
				return err
			}
		}
	}
	return writeTable(filepath.Join(r.folder, "curves.csv"), curves)
}

// sweep writes a choice that ran on fresh seeds as evonode sweep writes its tables: ENV-STRATEGY.csv and its curves.
// The limit in the column until is that of all trials together.
func (r *report) sweep(c *choice) error {
	rows, curves := []sweep.Row{}, sweep.Curves{}
	for _, t := range c.trials {
		now, points := t.soFar()
		spec, seconds := t.rules.Spec, t.gate.hadOf(t).Seconds()
		row := sweep.Row{Env: spec.Env.ID, Strategy: spec.Strategy.Name, Seed: t.seed, Done: t.over(), Solved: t.solved(), Gens: now.Gen,
			Evaluations: now.Evaluations, Steps: now.Steps, Seconds: seconds, EvaluationSteps: now.EvaluationSteps, Until: "solved," + r.limit.String(),
			Run: t.rules.Run.String(), Head: now.Head.String()}
		for _, p := range points {
			curves.Add(t.seed, sweep.Point{Steps: p.steps, Return: p.ret})
			row.Return = &p.ret
		}
		if t.solved() {
			row.Return, row.Tests = t.result.Return, t.result.Tests
		}
		rows = append(rows, row)
	}
	name := filepath.Join(r.folder, c.trials[0].world.Env+"-"+c.trials[0].rules.Spec.Strategy.Name+".csv")
	return errors.Join(sweep.Write(name, rows), sweep.WriteCurves(sweep.CurvesName(name), curves))
}

func short(x float64) string { return strconv.FormatFloat(x, 'g', 6, 64) }

// writeTable replaces a file at once, so that what ends the program leaves a whole one.
func writeTable(name string, rows [][]string) error {
	f, err := os.Create(name + ".new")
	if err != nil {
		return err
	}
	if err := csv.NewWriter(f).WriteAll(rows); err != nil {
		f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}
