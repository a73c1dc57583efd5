// Command tab measures what one core computes: layers, worlds and the work of the tab's workers. Built for js/wasm it
// measures a tab; natively, with --tab, it compares this machine's kernels with a tab's, which it runs in Chromium:
//
//	go run ./testnet/bench/tab --tab
//
// It measures in short slices, row after row, many times, natively and in the tab in turns. A row reports its fastest
// slice, which other work on the computer disturbs least.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"strings"
	"time"

	_ "github.com/evoswarm/evoswarm/envs/all"
	"github.com/evoswarm/evoswarm/internal/kernel"
	"github.com/evoswarm/evoswarm/internal/worlds"
)

func main() {
	tab := flag.Bool("tab", false, "compare with a tab in Chromium")
	seconds := flag.Float64("seconds", 3, "how long to measure")
	rounds := flag.Int("rounds", 3, "with --tab: how often")
	only := flag.String("only", "", "rows whose name contains this")
	name := flag.String("kernel", "", "kernel to take; without it the fastest")
	engine := flag.String("engine", "", "engine to take; without it the fastest")
	flag.Parse()
	if err := run(*tab, *seconds, *rounds, *only, *name, *engine); err != nil {
		fmt.Fprintln(os.Stderr, "tab:", err)
		os.Exit(1)
	}
}

func run(tab bool, seconds float64, rounds int, only, name, engine string) error {
	if tab {
		return compare(seconds, rounds, only)
	}
	if name == "" {
		_, err := kernel.UseFastest()
		name = kernel.Active()
		if err != nil {
			return err
		}
	}
	if err := kernel.Use(name); err != nil {
		return err
	}
	if engine != "" {
		if err := worlds.Use(engine); err != nil {
			return err
		}
	} else if _, err := worlds.UseFastest(); err != nil && !errors.Is(err, worlds.ErrAbsent) {
		return err
	}
	result, err := measure(seconds, only)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(result)
}

// result is what one program measured with one kernel.
type result struct {
	Kernel string `json:"kernel"`
	Engine string `json:"engine"`
	Rows   []row  `json:"rows"`
}

// row is a rate: higher is better.
type row struct {
	Name  string  `json:"name"`
	Unit  string  `json:"unit"`
	Value float64 `json:"value"`
}

// task is a row to be measured. run does repeat units of work and returns their amount.
type task struct {
	name, unit string
	run        func(repeat int) (work float64)
	repeat     int
	best       float64
}

// slice is the desired length of a slice: the clock of a tab has steps of 5 us.
const slice = 400 * time.Microsecond

// calibrate finds how many units of work fill a slice, and gives JIT compilers time to optimize.
func (t *task) calibrate() {
	for end := time.Now().Add(300 * time.Millisecond); time.Now().Before(end); {
		t.run(1)
	}
	for t.repeat = 1; ; t.repeat *= 2 {
		begin := time.Now()
		t.run(t.repeat)
		if time.Since(begin) >= slice/2 {
			return
		}
	}
}

func (t *task) measure() {
	begin := time.Now()
	work := t.run(t.repeat)
	if d := time.Since(begin).Seconds(); d > 0 {
		t.best = math.Max(t.best, work/d)
	}
}

func measure(seconds float64, only string) (result, error) {
	all, err := tasks()
	if err != nil {
		return result{}, err
	}
	var chosen []*task
	for _, t := range all {
		if strings.Contains(t.name, only) {
			t.calibrate()
			chosen = append(chosen, t)
		}
	}
	for end := time.Now().Add(time.Duration(seconds * float64(time.Second))); time.Now().Before(end); {
		for _, t := range chosen {
			t.measure()
		}
	}
	r := result{Kernel: kernel.Active(), Engine: worlds.Active()}
	for _, t := range chosen {
		r.Rows = append(r.Rows, row{t.name, t.unit, t.best})
	}
	return r, nil
}
