// Oldrun writes the data folder of a node that has worked alone on a run for so many entries, for measurements of who
// joins an old run:
//
//	go run ./testnet/bench/oldrun -entries 1000000 -o FOLDER
//	testnet/bench/join.sh build/evonode FOLDER
//
// The coordinator, the store and the results are those of a node; only the time is virtual, so that a month takes an
// hour. It prints the height, the bytes on the disk and the time that went by, now and then.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/runspec"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/internal/store"
)

// still are settings with which the policy hardly moves, so that its episodes stay short and an entry takes little more
// than its hashes and signatures. What joining costs depends on the entries, not on what was learned.
var still = evolve.Params{"alpha": 1e-6, "sigma": 1e-6, "sigma_alpha": 0.0}

// savedAtOnce is how many entries are saved together: fewer than a coordinator keeps in memory. A node saves each.
const savedAtOnce = 256

// worker is a node without a network on a data folder.
type worker struct {
	rules *seedlog.Rules
	run   store.Store
	coord *coordinator.Coordinator
	pool  *rollout.Pool
	batch store.Batch
	todo  []coordinator.Work
}

func main() {
	env := flag.String("env", "CartPole-v1", "the world")
	entries := flag.Uint64("entries", 100_000, "how many entries the run has in the end")
	folder := flag.String("o", "", "the data folder; one that has a run of this program continues it")
	flag.Parse()
	if *folder == "" || flag.NArg() > 0 {
		fatal(fmt.Errorf("want -o FOLDER, and no arguments"))
	}
	if err := write(*env, *entries, *folder); err != nil {
		fatal(err)
	}
}

func write(env string, entries uint64, folder string) error {
	disk, err := store.Open(folder)
	if err != nil {
		return err
	}
	defer disk.Close()
	rules, err := runspec.New(runspec.Options{Env: env, Strategy: "snes", Params: still, Origin: seedlog.PeerOf(disk.Key()), Nonce: [16]byte{1}})
	if err != nil {
		return err
	}
	w := &worker{rules: rules, pool: rollout.NewPool(rules.Plan, 1)}
	if w.run, err = disk.OpenRun(rules); err != nil {
		return err
	}
	length := w.run.Length()
	summary, notes := coordinator.Summaries{Rules: rules, Archive: w.run}.Newest(length)
	for _, note := range notes {
		fmt.Fprintln(os.Stderr, "oldrun:", note)
	}
	w.coord, err = coordinator.New(coordinator.Config{Rules: rules, Key: disk.Key(), Hub: true, Timing: coordinator.LAN(), Archive: w.run, Slots: 1,
		Mandate: 1 << 40, State: w.run.State(), Height: length, Summary: summary})
	if err != nil {
		return err
	}
	begun, told := time.Now(), time.Now()
	for now := coordinator.Tick(1); ; now++ {
		if err := w.pass(now); err != nil {
			return err
		}
		height := w.coord.Snapshot().Height
		if height < entries && time.Since(told) < time.Minute {
			continue
		}
		told = time.Now()
		line, _ := json.Marshal(map[string]any{"height": height, "bytes": size(folder), "wall": time.Since(begun).Seconds()})
		fmt.Println(string(line))
		if height >= entries {
			return errors.Join(w.close(), remember(folder, rules.Run.String()))
		}
	}
}

// pass lets a tick go by: the clock, and one piece of work.
func (w *worker) pass(now coordinator.Tick) error {
	if err := w.step(now, coordinator.Passed{}); err != nil || len(w.todo) == 0 {
		return err
	}
	next := w.todo[0]
	w.todo = w.todo[1:]
	results, err := w.pool.Evaluate(next.Task, nil)
	if err != nil {
		return err
	}
	return w.step(now, coordinator.Evaluated{ID: next.ID, Results: results})
}

// step does one event, and what the coordinator wants at once.
func (w *worker) step(now coordinator.Tick, e coordinator.Event) error {
	a := w.coord.Step(now, e)
	for {
		if err := w.keep(a); err != nil {
			return err
		}
		w.todo = append(w.todo, a.Work...)
		if a.Fold == nil {
			return nil
		}
		task, err := a.Fold.Task(w.rules, w.run, nil)
		if err != nil {
			return err
		}
		a = w.coord.Step(now, a.Fold.Answer(w.rules, w.rules.Plan.Fold(task)))
	}
}

func (w *worker) keep(a coordinator.Actions) error {
	if a.State != nil {
		w.batch.State = a.State
	}
	w.batch.Blocks = append(w.batch.Blocks, a.Blocks...)
	if h := a.Head; h != nil {
		if w.batch.Head == nil {
			w.batch.Head = &store.HeadMove{Fork: h.Fork}
		}
		w.batch.Head.Entries = append(w.batch.Head.Entries, h.Entries...)
		w.batch.Head.Seals = append(w.batch.Head.Seals, h.Seals...)
		if len(w.batch.Head.Entries) >= savedAtOnce {
			if err := w.save(); err != nil {
				return err
			}
		}
	}
	if a.Summary == nil {
		return nil
	}
	data, err := a.Summary.Encode()
	if err != nil {
		return err
	}
	return w.run.SaveSummary(a.Summary.Height, data)
}

func (w *worker) save() error {
	batch := w.batch
	w.batch = store.Batch{}
	return w.run.Save(batch)
}

func (w *worker) close() error {
	if err := w.save(); err != nil {
		return err
	}
	return w.run.Close()
}

// remember has a node that starts in the folder continue the run: node.json of package daemon.
func remember(folder, run string) error {
	text, err := json.Marshal(map[string]any{"version": 1, "active": run, "recent": []string{run}, "paused": false})
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "node.json"), text, 0o600)
}

// size is how many bytes the files of a folder have.
func size(folder string) (bytes int64) {
	_ = filepath.WalkDir(folder, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				bytes += info.Size()
			}
		}
		return nil
	})
	return bytes
}

func fatal(err error) {
	fmt.Fprintln(os.Stderr, "oldrun:", err)
	os.Exit(1)
}
