// Tune looks for settings with which worlds learn, by successive halving on tuning seeds, then runs the best ones on
// fresh seeds:
//
//	go run ./testnet/bench/tune -cores 14 -tune 200s -limit 550s -o FOLDER testnet/bench/tune/mujoco.toml
//
// A plan names the worlds, what to try in each, and the worlds' shares of the cores. Trials take turns on the cores,
// a generation each. It writes FOLDER/trials.csv, FOLDER/curves.csv and the tables of
// the fresh seeds, as evonode sweep does, every few seconds. Seconds there are those for
// which a trial had its cores, so they do not depend on how many trials there are; on a busy computer they do.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"time"

	_ "github.com/evoswarm/evoswarm/envs/all"
)

func main() {
	cores := flag.Int("cores", runtime.NumCPU(), "that trials compute on together")
	tune := flag.Duration("tune", 200*time.Second, "for choosing settings")
	limit := flag.Duration("limit", 550*time.Second, "for all")
	folder := flag.String("o", "", "the folder for the tables")
	flag.Parse()
	if flag.NArg() != 1 || *folder == "" || *cores < 1 || *tune <= 0 || *limit < *tune {
		fatal(errors.New("want -o FOLDER, a plan, -cores from 1, and -limit not below -tune"))
	}
	p, err := readPlan(flag.Arg(0))
	if err != nil {
		fatal(err)
	}
	for _, w := range p.Worlds {
		if w.Workers > *cores {
			fatal(fmt.Errorf("%s: workers is %d, want at most -cores, %d", w.Env, w.Workers, *cores))
		}
	}
	if err := os.MkdirAll(*folder, 0o755); err != nil {
		fatal(err)
	}
	runtime.GOMAXPROCS(*cores)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, *limit)
	defer cancel()
	if err := p.run(ctx, &gate{free: *cores}, *cores, *tune, &report{folder: *folder, limit: *limit}); err != nil {
		fatal(err)
	}
}

func fatal(err error) {
	fmt.Fprintln(os.Stderr, "tune:", err)
	os.Exit(1)
}

// run tunes and confirms all worlds side by side, and reports now and then.
func (p *plan) run(ctx context.Context, g *gate, cores int, tune time.Duration, r *report) error {
	shares := 0.0
	for _, w := range p.Worlds {
		shares += w.Share
	}
	deadline := time.Now().Add(tune + tune/8)
	errs := make(chan error, len(p.Worlds))
	var all sync.WaitGroup
	for _, w := range p.Worlds {
		budget := time.Duration(w.Share / shares * float64(cores) * float64(tune))
		all.Go(func() { errs <- w.run(ctx, g, budget, deadline, r) })
	}
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	for {
		select {
		case <-done:
			close(errs)
			err := r.write()
			for e := range errs {
				err = errors.Join(err, e)
			}
			return err
		case <-time.After(3 * time.Second):
			if err := r.write(); err != nil {
				return err
			}
		}
	}
}

// run chooses settings for a world and confirms them.
func (w *world) run(ctx context.Context, g *gate, budget time.Duration, deadline time.Time, r *report) error {
	choices, err := w.halve(ctx, g, budget, deadline, r.begin("tuning"))
	if err != nil {
		return err
	}
	chosen := w.toConfirm(choices)
	errs := make(chan error, len(chosen))
	for _, c := range chosen {
		go func() { errs <- w.confirm(ctx, g, c.flags, r.begin("fresh")) }()
	}
	for range chosen {
		err = errors.Join(err, <-errs)
	}
	return err
}
