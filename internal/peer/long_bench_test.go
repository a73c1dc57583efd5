//go:build linux

package peer_test

import (
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/internal/store"
)

// longRun is a coordinator on a data folder that logs entries of invented results as fast as it can. What a driver
// saves at each step is saved for many entries at once here, or the disk would be measured.
type longRun struct {
	rules *seedlog.Rules
	dir   string
	disk  *store.Disk
	run   store.Store
	coord *coordinator.Coordinator
	now   coordinator.Tick
	batch store.Batch
	steps []time.Duration // what the last Steps took, in a ring
	next  int
}

// savedAtOnce is how many entries one Save takes: fewer than a coordinator keeps in memory.
const savedAtOnce = 256

// stepsKept is how many Steps are timed: fewer than any of these runs takes.
const stepsKept = 20_000

func (l *longRun) open(b testing.TB) {
	b.Helper()
	var err error
	if l.disk, err = store.Open(l.dir); err == nil {
		l.run, err = l.disk.OpenRun(l.rules)
	}
	if err != nil {
		b.Fatal(err)
	}
	l.begin(b)
}

// begin restores the coordinator from the store.
func (l *longRun) begin(b testing.TB) {
	b.Helper()
	var err error
	length := l.run.Length()
	summary, notes := coordinator.Summaries{Rules: l.rules, Archive: l.run}.Newest(length)
	if len(notes) > 0 {
		b.Fatal(notes)
	}
	l.coord, err = coordinator.New(coordinator.Config{Rules: l.rules, Key: key(1), Hub: true, Timing: coordinator.LAN(), Archive: l.run, Slots: 1,
		Mandate: 1 << 40, State: l.run.State(), Height: length, Summary: summary})
	if err != nil {
		b.Fatal(err)
	}
}

func (l *longRun) close(b testing.TB) {
	b.Helper()
	l.save(b)
	if err := l.run.Close(); err != nil {
		b.Fatal(err)
	}
	if err := l.disk.Close(); err != nil {
		b.Fatal(err)
	}
}

func (l *longRun) save(b testing.TB) {
	b.Helper()
	if err := l.run.Save(l.batch); err != nil {
		b.Fatal(err)
	}
	l.batch = store.Batch{}
}

// step does one event and all that follows from it.
func (l *longRun) step(b testing.TB, e coordinator.Event) {
	for events := []coordinator.Event{e}; len(events) > 0; events = events[1:] {
		begun := threadTime()
		a := l.coord.Step(l.now, events[0])
		l.steps[l.next%len(l.steps)] = threadTime() - begun
		l.next++
		l.keep(b, a)
		for _, w := range a.Work {
			results := make([]rollout.CandidateResult, len(w.Task.Seeds))
			for i, seed := range w.Task.Seeds {
				results[i] = rollout.CandidateResult{Fitness: [2]int64{int64(seed >> 32)}, Steps: 10 + seed%400}
			}
			events = append(events, coordinator.Evaluated{ID: w.ID, Results: results})
		}
		if a.Fold != nil {
			task, err := a.Fold.Task(l.rules, l.run, nil)
			if err != nil {
				b.Fatal(err)
			}
			events = append(events, a.Fold.Answer(l.rules, l.rules.Plan.Fold(task)))
		}
	}
}

func (l *longRun) keep(b testing.TB, a coordinator.Actions) {
	if a.State != nil {
		l.batch.State = a.State
	}
	l.batch.Blocks = append(l.batch.Blocks, a.Blocks...)
	if h := a.Head; h != nil {
		if l.batch.Head == nil {
			l.batch.Head = &store.HeadMove{Fork: h.Fork}
		}
		l.batch.Head.Entries = append(l.batch.Head.Entries, h.Entries...)
		l.batch.Head.Seals = append(l.batch.Head.Seals, h.Seals...)
		if len(l.batch.Head.Entries) >= savedAtOnce {
			l.save(b)
		}
	}
	if a.Summary != nil {
		data, err := a.Summary.Encode()
		if err == nil {
			err = l.run.SaveSummary(a.Summary.Height, data)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

// threadTime is the processor time of this thread, which other load does not lengthen.
func threadTime() time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &t) // never fails
	return time.Duration(t.Nano())
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkLongChain logs so many entries, and restarts. heap-MB is what coordinator and store then hold, B/entry how
// much that grew over the second half, restart-s the time until the restarted peer knows the state of its head;
// median-us, p99-us and worst-us what the last 20,000 Steps took of the processor. Run it with -benchtime 1x.
func BenchmarkLongChain(b *testing.B) {
	for _, entries := range []uint64{10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprint(entries), func(b *testing.B) {
			rules := cartPoleWith(b, func(s *seedlog.Spec) {
				s.Generation.Evaluations, s.Generation.Chunk, s.Generation.Quota = 4, 2, 2
			})
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			for b.Loop() {
				l := &longRun{rules: rules, dir: b.TempDir(), steps: make([]time.Duration, stepsKept)}
				l.open(b)
				before, half := heap(), uint64(0)
				for height := uint64(0); height < entries; height = l.coord.Snapshot().Height {
					if height >= entries/2 && half == 0 {
						half = heap()
					}
					l.now += coordinator.LAN().Generation
					l.step(b, coordinator.Passed{})
				}
				end := heap()
				slices.Sort(l.steps)
				b.ReportMetric(float64(end-before)/(1<<20), "heap-MB")
				b.ReportMetric(float64(int64(end)-int64(half))/float64(entries/2), "B/entry")
				b.ReportMetric(float64(l.steps[len(l.steps)/2].Nanoseconds())/1e3, "median-us")
				b.ReportMetric(float64(l.steps[len(l.steps)*99/100].Microseconds()), "p99-us")
				b.ReportMetric(float64(l.steps[len(l.steps)-1].Microseconds()), "worst-us")
				l.close(b)
				begun := time.Now()
				l.open(b)
				l.now = 1
				for l.step(b, coordinator.Passed{}); l.coord.Snapshot().Syncing; l.now++ {
					l.step(b, coordinator.Passed{})
				}
				b.ReportMetric(time.Since(begun).Seconds(), "restart-s")
				if got := l.coord.Snapshot().Height; got < entries {
					b.Fatalf("restarted at height %d", got)
				}
				l.close(b)
			}
		})
	}
}
