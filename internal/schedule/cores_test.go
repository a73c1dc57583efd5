package schedule

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// load is a run on shared cores: workers that always have a batch, or one after a pause.
type load struct {
	workers int
	batch   time.Duration
	pause   time.Duration // without work, after each batch; the core is given back
	until   time.Duration // when the run ends; 0: with the test

	used time.Duration // on all cores
	wait time.Duration // the longest for a core
}

// begin has the workers of a run compute until its end.
func (l *load) begin(cores *Cores, end time.Duration, mu *sync.Mutex) {
	if l.until == 0 {
		l.until = end
	}
	share, started := cores.Share(), time.Now()
	for range l.workers {
		go func() {
			asked := time.Now()
			h := share.take()
			for {
				mu.Lock()
				l.wait = max(l.wait, time.Since(asked))
				mu.Unlock()
				time.Sleep(l.batch)
				mu.Lock()
				l.used += l.batch
				mu.Unlock()
				over := time.Since(started) >= l.until
				switch {
				case over:
					share.give(h)
					return
				case l.pause > 0:
					share.give(h)
					time.Sleep(l.pause)
					asked = time.Now()
					h = share.take()
				default:
					asked = time.Now()
					h = share.again(h)
				}
			}
		}()
	}
}

// Cores of runs that always have work are shared by time, not by batches; what a run does not use the others do.
func TestCoresAreShared(t *testing.T) {
	const end = 100 * time.Second
	const ms = time.Millisecond
	for _, test := range []struct {
		name  string
		cores int
		loads []load
		want  []float64 // of the time of all cores
	}{
		{"one run", 2, []load{{workers: 2, batch: 3 * ms}}, []float64{1}},
		{"equal runs", 1, []load{{workers: 1, batch: 3 * ms}, {workers: 1, batch: 3 * ms}}, []float64{0.5, 0.5}},
		{"short and long batches", 1, []load{{workers: 1, batch: ms}, {workers: 1, batch: 500 * ms}}, []float64{0.5, 0.5}},
		{"short and long batches on two cores", 2, []load{{workers: 2, batch: ms}, {workers: 2, batch: 500 * ms}}, []float64{0.5, 0.5}},
		{"more workers get no more", 2, []load{{workers: 2, batch: 3 * ms}, {workers: 16, batch: 3 * ms}}, []float64{0.5, 0.5}},
		{"five runs on two cores", 2, []load{{workers: 2, batch: ms}, {workers: 2, batch: 2 * ms}, {workers: 2, batch: 5 * ms}, {workers: 2, batch: 30 * ms}, {workers: 2, batch: 200 * ms}},
			[]float64{0.2, 0.2, 0.2, 0.2, 0.2}},
		{"a run that ends", 2, []load{{workers: 2, batch: 3 * ms}, {workers: 2, batch: 5 * ms, until: 50 * time.Second}}, []float64{0.75, 0.25}},
		{"a run that waits for others", 1, []load{{workers: 1, batch: 3 * ms}, {workers: 1, batch: ms, pause: 99 * ms}}, []float64{0.99, 0.01}},
	} {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			cores := NewCores(test.cores)
			for i := range test.loads {
				test.loads[i].begin(cores, end, &mu)
			}
			time.Sleep(end + 10*time.Second)
			for i, l := range test.loads {
				got := float64(l.used) / float64(time.Duration(test.cores)*end)
				if got < test.want[i]-0.015 || got > test.want[i]+0.015 {
					t.Errorf("%s: run %d got %.3f of the time, want %.3f", test.name, i, got, test.want[i])
				}
			}
		})
	}
}

// A run that had no work for long does not keep the others waiting for as long when it has some.
func TestCoresSaveNothingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		cores := NewCores(1)
		busy := load{workers: 1, batch: time.Millisecond}
		busy.begin(cores, 30*time.Second, &mu)
		time.Sleep(20 * time.Second)
		late := load{workers: 1, batch: time.Millisecond, until: 10 * time.Second}
		late.begin(cores, 10*time.Second, &mu)
		time.Sleep(20 * time.Second)
		if late.used > 5100*time.Millisecond || busy.wait > 5*time.Millisecond {
			t.Errorf("the newcomer got %v of 10 s, and the other run waited for %v", late.used, busy.wait)
		}
	})
}
