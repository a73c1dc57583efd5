package cli

import (
	"context"
	"flag"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/evoswarm/evoswarm/internal/kernel"
	"github.com/evoswarm/evoswarm/internal/nearest"
)

const benchHelp = `Measures how fast this computer computes, beside what one of its cores could do at most.

Usage:
    evonode bench [kernel|noise|update|all] [flags]

    kernel    layers of policies and their activations, with each kernel of this processor
    noise     perturbations, with each kernel
    update    the sum of an update over 1,000 seeds and 100,000 parameters, with each kernel
    all       all of these (the default)

All on one core. Everything is done in short slices, row after row, many times over; a row tells its fastest slice, so
that other work on the computer counts as little as can be. The limit of layers is the rate of multiplications and
additions in registers at the kernel's width, or what the weights' way from the cache allows, if that is less; that of
an update is its noise alone. Ratio is the part of the limit that is reached. Which kernel a run takes is shown by
evonode version; the environment variable ` + kernelVariable + ` = portable, avx2, avx512 forces one.

Flags:
    --seconds N    how long to measure, in all (default 3)
    --json         one JSON object per row: name, value, unit, limit, ratio (limit and ratio null where there is none)

Example:
    $ evonode bench kernel
`

func benchCommand() *command {
	return &command{name: "bench", summary: "how fast this computer is", help: benchHelp, bind: func(fs *flag.FlagSet) runner {
		asJSON := fs.Bool("json", false, "")
		seconds := fs.Float64("seconds", 3, "")
		return func(ctx context.Context, s *IO, args []string) error {
			if len(args) == 0 {
				args = []string{"all"}
			}
			what, err := argument(args, "WHAT", "evonode bench kernel")
			if err != nil {
				return err
			}
			if !(*seconds > 0 && *seconds <= 3600) {
				return usage(fmt.Sprintf("--seconds %g", *seconds), "it takes more than 0 and at most 3600")
			}
			tasks, err := benchTasks(what)
			if err != nil {
				return err
			}
			return bench(ctx, s, tasks, time.Duration(*seconds*float64(time.Second)), *asJSON)
		}
	}}
}

// benches are the groups of rows, in the order of bench all.
var benches = []struct {
	name  string
	tasks func(k kernel.Kernel) []*benchTask
}{{"kernel", kernelTasks}, {"noise", noiseTasks}, {"update", updateTasks}}

// benchTasks returns the rows of a group, for every kernel.
func benchTasks(what string) (tasks []*benchTask, err error) {
	names := []string{"all"}
	for _, b := range benches {
		names = append(names, b.name)
		if what != "all" && what != b.name {
			continue
		}
		for _, k := range kernel.All() {
			tasks = append(tasks, b.tasks(k)...)
		}
	}
	if len(tasks) == 0 {
		hint := "there are " + strings.Join(names, ", ")
		if near := nearest.Names(what, names); len(near) > 0 {
			hint = "did you mean evonode bench " + near[0] + "?"
		}
		return nil, usage(fmt.Sprintf("unknown bench %q", what), hint)
	}
	return tasks, nil
}

// benchTask is something to measure.
type benchTask struct {
	name string
	unit string  // of a rate, more is better; or "ns" for time per element, less is better
	work float64 // units of work (for rates 1e9 of the unit) in a run
	run  func()
	// limit returns the best value that the machine allows, once all is measured; nil: there is none.
	limit func() float64

	repeat int           // runs of a slice
	best   time.Duration // of a slice
}

// slice is how long the runs between two looks at the clock should take: much more than the look, and little enough
// that some slices are not interrupted.
const slice = 50 * time.Microsecond

// value is the rate or time of the fastest slice.
func (t *benchTask) value() float64 {
	work, ns := t.work*float64(t.repeat), float64(t.best.Nanoseconds())
	if t.unit == "ns" {
		return ns / work
	}
	return work / ns
}

// measure runs a slice.
func (t *benchTask) measure() {
	begin := time.Now()
	for range t.repeat {
		t.run()
	}
	if d := time.Since(begin); d < t.best {
		t.best = d
	}
}

// calibrate finds how many runs make a slice.
func (t *benchTask) calibrate() {
	t.run()
	for t.repeat = 1; ; t.repeat *= 2 {
		t.best = math.MaxInt64
		t.measure()
		if t.best >= slice/2 {
			return
		}
	}
}

// benchRow is a row of bench --json.
type benchRow struct {
	Name  string   `json:"name"`
	Value float64  `json:"value"`
	Unit  string   `json:"unit"`
	Limit *float64 `json:"limit"`
	Ratio *float64 `json:"ratio"`
}

func (t *benchTask) row() benchRow {
	r := benchRow{Name: t.name, Value: t.value(), Unit: t.unit}
	if t.limit != nil {
		limit := t.limit()
		ratio := r.Value / limit
		if t.unit == "ns" {
			ratio = limit / r.Value
		}
		r.Limit, r.Ratio = &limit, &ratio
	}
	return r
}

func bench(ctx context.Context, s *IO, tasks []*benchTask, duration time.Duration, asJSON bool) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for _, t := range tasks {
		t.calibrate()
	}
	for end := time.Now().Add(duration); time.Now().Before(end) && ctx.Err() == nil; {
		for _, t := range tasks {
			t.measure()
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	tasks = slices.DeleteFunc(tasks, func(t *benchTask) bool { return t.name == "" })
	w := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', 0)
	if !asJSON {
		fmt.Fprintln(w, "NAME\tVALUE\tUNIT\tLIMIT\tRATIO")
	}
	for _, t := range tasks {
		r := t.row()
		if asJSON {
			if err := s.printJSON(r); err != nil {
				return err
			}
			continue
		}
		limit, ratio := "-", "-"
		if r.Limit != nil {
			limit, ratio = fmt.Sprintf("%.4g", *r.Limit), fmt.Sprintf("%.2f", *r.Ratio)
		}
		fmt.Fprintf(w, "%s\t%.4g\t%s\t%s\t%s\n", r.Name, r.Value, r.Unit, limit, ratio)
	}
	return w.Flush()
}
