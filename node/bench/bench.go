package bench

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/evoswarm/evoswarm/internal/kernel"
	"github.com/evoswarm/evoswarm/node/verb"
)

// Verb is evonode bench.
func Verb() *verb.Verb {
	return &verb.Verb{
		Name: "bench", Args: "[WHAT]", Summary: "how fast this computer is, next to what it could do at most",
		Intro:   "Measures how fast this computer computes, next to what it could do at most.",
		Usage:   []string{"bench [kernel|noise|update|memory|env|rollout|replay|gpu|all] [flags]"},
		Details: details,
		Example: "evonode bench kernel",
		Words:   groupNames(),
		Bind: func(fs *verb.Flags) verb.Run {
			seconds, asJSON := 3.0, false
			fs.Float(&seconds, "seconds", "N", "how long to measure, in all (default 3); preparing takes a second or two more")
			fs.JSON(&asJSON, "one JSON object per row: name, value, unit, limit, ratio (limit and ratio null where there is none)")
			return func(ctx context.Context, s *verb.IO, args []string) error {
				if len(args) == 0 {
					args = []string{"all"}
				}
				what, err := verb.Argument(args, "WHAT", "evonode bench kernel")
				if err != nil {
					return err
				}
				if !(seconds > 0 && seconds <= 3600) {
					return verb.Misused(fmt.Sprintf("--seconds %g", seconds), "it takes more than 0 and at most 3600")
				}
				duration := time.Duration(seconds * float64(time.Second))
				tasks, err := tasksOf(what, duration)
				if err != nil {
					return err
				}
				return bench(ctx, s, tasks, duration, asJSON)
			}
		},
	}
}

const details = `    kernel    layers of policies and their activations, with each kernel of this processor: with the weights of
              one candidate, as in rollouts, and of 256 in turn, as libraries have it
    noise     perturbations, with each kernel
    update    the sum of an update over 1,000 seeds and 100,000 parameters, with each kernel, and on all cores
    memory    reading what is in no cache, with the widest vectors
    env       steps of every environment with random actions, resets included
    rollout   episodes with policies of 64-64 units, on one core and on all
    replay    rebuilding a model from its log, in memory
    gpu       whole populations on each usable device (evonode device list), and what that is against one core
    all       all of these but gpu (the default)

Everything runs in short slices, row after row, many times over. A row gives its fastest slice, so that other work on
the computer counts as little as possible. Limits are measured in the same run; ratio is the share of the limit that is
reached. The limit
    of layers is the rate of multiplications and additions in registers at the kernel's width, or what the path of
    the weights from the cache allows, if that is less;
    of an update is its noise alone;
    of rollouts is 1 / (time of the bare step of the environment + time of the bare forward pass of the policy), both
    of the same episodes;
    of layers on a device is its rate of multiplications and additions, or of reading its memory, if that is less;
    of a replay is the time of the bare updates that the log consists of;
    of rows on all cores is their number.
Rows without the name of a kernel use the one that runs use; evonode version shows it, and the environment variable
EVOSWARM_KERNEL = portable, avx2, avx512, ... forces one. Rows are for one core unless they say otherwise. With one core
only (taskset -c 0 evonode bench) there are no rows for all cores.`

// group is rows that belong together.
type group struct {
	name  string
	tasks func() ([]*task, error)
	// alone measures the rows at once, each for about a given time: a device's runs are too long for slices. bench all
	// leaves such a group out. nil: tasks are measured row after row.
	alone func(each time.Duration) ([]*task, error)
}

// groups are in the order of bench all.
var groups = []group{
	{name: "kernel", tasks: kernelGroup}, {name: "noise", tasks: withEachKernel(noiseTasks)}, {name: "update", tasks: allUpdateTasks},
	{name: "memory", tasks: memoryTasks}, {name: "env", tasks: envTasks}, {name: "rollout", tasks: rolloutTasks},
	{name: "replay", tasks: replayTasks}, {name: "gpu", alone: deviceTasks},
}

// groupNames are what bench takes.
func groupNames() []string {
	names := []string{"all"}
	for _, g := range groups {
		names = append(names, g.name)
	}
	return names
}

func withEachKernel(tasks func(k kernel.Kernel) []*task) func() ([]*task, error) {
	return func() (all []*task, err error) {
		for _, k := range kernel.All() {
			all = append(all, tasks(k)...)
		}
		return all, nil
	}
}

// tasksOf returns the rows of a group. Those that are measured at once take about duration.
func tasksOf(what string, duration time.Duration) (tasks []*task, err error) {
	for _, b := range groups {
		if what != b.name && (what != "all" || b.alone != nil) {
			continue
		}
		measure := b.tasks
		if b.alone != nil {
			measure = func() ([]*task, error) { return b.alone(duration / 3) }
		}
		rows, err := measure()
		if err != nil {
			return nil, fmt.Errorf("bench %s: %w", b.name, err)
		}
		tasks = append(tasks, rows...)
	}
	if len(tasks) == 0 {
		return nil, verb.Unknown("bench", what, groupNames())
	}
	return tasks, nil
}

// task is something to measure, and its row. Without a name it has no row and serves others.
type task struct {
	name string
	unit string
	work float64 // how many of what the unit counts are in a run
	run  func()
	warm bool // run once before each slice: else it would find what it reads in a farther cache than those after it
	// limit returns the best value that the machine allows, once all is measured; nil: there is none.
	limit func() float64
	// derive returns the value of a row that others make; it has no run.
	derive func() float64

	repeat int           // runs of a slice
	best   time.Duration // of a slice
}

// perSecond are the units of rates, where more is better: their number per nanosecond that is 1.
var perSecond = map[string]float64{"GMAC/s": 1, "GB/s": 1, "M steps/s": 1e-3, "times": 1}

// perUnit are the units of times, where less is better, in nanoseconds.
var perUnit = map[string]float64{"ns": 1, "ms": 1e6}

// slice is how long the runs between two readings of the clock should take: much more than the reading, and
// little enough that some slices are not interrupted.
const slice = 50 * time.Microsecond

// value is the rate or time of the fastest slice.
func (t *task) value() float64 {
	if t.derive != nil {
		return t.derive()
	}
	work, ns := t.work*float64(t.repeat), float64(t.best.Nanoseconds())
	if unit, ok := perUnit[t.unit]; ok {
		return ns / work / unit
	}
	return work / ns / perSecond[t.unit]
}

// against is the row that tells how many times faster many cores are than one.
func against(name string, many, one *task, cores int) *task {
	return &task{name: fmt.Sprintf("%s, %d cores against 1", name, cores), unit: "times",
		limit:  func() float64 { return float64(cores) },
		derive: func() float64 { return one.value() / many.value() }}
}

// measure runs a slice.
func (t *task) measure() {
	if t.run == nil {
		return
	}
	if t.warm {
		t.run()
	}
	begin := time.Now()
	for range t.repeat {
		t.run()
	}
	if d := time.Since(begin); d < t.best {
		t.best = d
	}
}

// calibrate finds how many runs make a slice.
func (t *task) calibrate() {
	if t.run == nil {
		return
	}
	t.run()
	for t.repeat = 1; ; t.repeat *= 2 {
		t.best = math.MaxInt64
		t.measure()
		if t.best >= slice/2 {
			return
		}
	}
}

// row is a row of bench --json.
type row struct {
	Name  string   `json:"name"`
	Value float64  `json:"value"`
	Unit  string   `json:"unit"`
	Limit *float64 `json:"limit"`
	Ratio *float64 `json:"ratio"`
}

func (t *task) row() row {
	r := row{Name: t.name, Value: t.value(), Unit: t.unit}
	if t.limit != nil {
		limit := t.limit()
		ratio := r.Value / limit
		if _, less := perUnit[t.unit]; less {
			ratio = limit / r.Value
		}
		r.Limit, r.Ratio = &limit, &ratio
	}
	return r
}

func bench(ctx context.Context, s *verb.IO, tasks []*task, duration time.Duration, asJSON bool) error {
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
	tasks = slices.DeleteFunc(tasks, func(t *task) bool { return t.name == "" })
	w := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', 0)
	if !asJSON {
		fmt.Fprintln(w, "NAME\tVALUE\tUNIT\tLIMIT\tRATIO")
	}
	for _, t := range tasks {
		r := t.row()
		if asJSON {
			if err := s.PrintJSON(r); err != nil {
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
