package schedule_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/schedule"
)

// deviceBench has a scheduler with cores workers of pace slow and a device of pace fast.
func deviceBench(t *testing.T, cores int, slow, fast time.Duration, device schedule.Device) (s *schedule.Scheduler, workers, gpu *fleet) {
	t.Helper()
	p := plan(t)
	workers, gpu = &fleet{plan: p, pace: slow}, &fleet{plan: p, pace: fast}
	if device.Start == nil {
		device.Start = gpu.start
	}
	s = schedule.New(schedule.Config{Start: workers.start}, cores)
	s.Add(device)
	t.Cleanup(func() { s.Close(); time.Sleep(longest) })
	return s, workers, gpu
}

func tasks(p rollout.Plan, n int) rollout.Task {
	t := rollout.Task{State: p.Initial(1), Episodes: [][]uint64{{5}}}
	for i := range n {
		t.Seeds = append(t.Seeds, uint64(i))
	}
	return t
}

func candidates(f *fleet) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, order := range f.order {
		if !strings.HasPrefix(order, "seeds ") {
			continue
		}
		n += len(strings.Fields(strings.Trim(strings.TrimPrefix(order, "seeds "), "[]")))
	}
	return n
}

// evaluate waits for the results of a task.
func evaluate(s *schedule.Scheduler, id uint64, task rollout.Task, urgent bool) ([]rollout.CandidateResult, error) {
	type answer struct {
		results []rollout.CandidateResult
		err     error
	}
	got := make(chan answer, 1)
	s.Evaluate(id, task, urgent, func(r []rollout.CandidateResult, err error) { got <- answer{r, err} })
	a := <-got
	return a.results, a.err
}

// TestDeviceShare: after both were measured, a device that is 50 times as fast as a core takes its share of a large
// task, and all are done at about the same time; a small task stays on the cores.
func TestDeviceShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, workers, gpu := deviceBench(t, 2, 10*time.Millisecond, 200*time.Microsecond, schedule.Device{Least: 20, BatchTime: time.Second})
		p := workers.plan
		pool := rollout.NewPool(p, 1)
		small := tasks(p, 10)
		if _, err := evaluate(s, 1, small, false); err != nil || candidates(gpu) != 0 {
			t.Errorf("a task of 10: error %v, %d candidates on the device, want none", err, candidates(gpu))
		}
		for id := range uint64(3) {
			if _, err := evaluate(s, 2+id, tasks(p, 400), false); err != nil {
				t.Fatal(err)
			}
		}
		before, begin, large := candidates(gpu), time.Now(), tasks(p, 1040)
		got, err := evaluate(s, 9, large, false)
		if err != nil {
			t.Fatal(err)
		}
		want, _ := pool.Evaluate(large, nil)
		if !reflect.DeepEqual(got, want) {
			t.Error("results differ from those of a pool")
		}
		// 5,200 candidates/s together: 1,000 of 1,040 on the device, 0.2 s.
		if n := candidates(gpu) - before; n < 900 || n == 1040 {
			t.Errorf("%d of 1,040 candidates on the device, want some 1,000", n)
		}
		if took := time.Since(begin); took > 300*time.Millisecond {
			t.Errorf("took %v, want some 200ms", took)
		}
	})
}

// TestDeviceBatchTime: a batch of a measured device takes no longer than it may, so urgent tasks do not wait longer.
func TestDeviceBatchTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, workers, _ := deviceBench(t, 1, 100*time.Millisecond, time.Millisecond, schedule.Device{Least: 20, BatchTime: 50 * time.Millisecond})
		p := workers.plan
		for id := range uint64(3) {
			if _, err := evaluate(s, id, tasks(p, 100), false); err != nil {
				t.Fatal(err)
			}
		}
		if n := s.Ready(); n < 1+2*40 || n > 1+2*60 {
			t.Errorf("ready for %d candidates at once, want some 101", n)
		}
		s.Evaluate(7, tasks(p, 2000), false, ignore)
		time.Sleep(time.Millisecond)
		begin := time.Now()
		if _, err := evaluate(s, 8, tasks(p, 40), true); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begin); took > 300*time.Millisecond {
			t.Errorf("an urgent task waited %v for a device with batches of 50ms", took)
		}
	})
}

// TestDeviceLost: a device that dies or fails at a batch is not used again, its work is done by the cores, and the
// reason is told, once.
func TestDeviceLost(t *testing.T) {
	for _, dies := range []bool{true, false} {
		t.Run(fmt.Sprint("dies=", dies), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var told []error
				lost := func(err error) { told = append(told, err) }
				gpu := &fleet{plan: plan(t), pace: time.Millisecond}
				if dies {
					gpu.deaths.Store(1)
				} else {
					gpu.refused = 3 // the seed of a candidate
				}
				s, workers, _ := deviceBench(t, 2, time.Millisecond, 0, schedule.Device{Start: gpu.start, Least: 5, BatchTime: time.Second, Lost: lost})
				for id := range uint64(3) {
					got, err := evaluate(s, id, tasks(workers.plan, 50), false)
					if err != nil || len(got) != 50 {
						t.Fatalf("%d results, error %v", len(got), err)
					}
				}
				synctest.Wait()
				if len(told) != 1 || !errors.Is(told[0], errDeath) || s.Devices() != 0 {
					t.Errorf("told %v, %d devices; want one reason and no device", told, s.Devices())
				}
				if n := candidates(workers); n != 150 {
					t.Errorf("the cores ran %d candidates, want all 150", n)
				}
			})
		})
	}
}

// TestDevicePaused: a device works only while cores are lent.
func TestDevicePaused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, workers, gpu := deviceBench(t, 0, time.Millisecond, time.Millisecond, schedule.Device{Least: 1, BatchTime: time.Second})
		s.Evaluate(1, tasks(workers.plan, 50), false, ignore)
		time.Sleep(time.Second)
		if n := candidates(gpu); n != 0 || s.Ready() != 0 {
			t.Errorf("the device got %d candidates of a paused node, which is ready for %d", n, s.Ready())
		}
		s.SetWorkers(1)
		time.Sleep(time.Second)
		if n := candidates(gpu); n == 0 {
			t.Error("the device got nothing after the pause")
		}
	})
}

// TestDeviceAlone: workers leave even a small task to a device that is to work alone, and take over when it is lost.
func TestDeviceAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gpu := &fleet{plan: plan(t), pace: time.Millisecond, refused: 11}
		s, workers, _ := deviceBench(t, 2, time.Millisecond, 0, schedule.Device{Start: gpu.start, Least: 50, BatchTime: time.Second, Alone: true})
		for id := range uint64(3) {
			if _, err := evaluate(s, id, tasks(workers.plan, 10), id == 1); err != nil {
				t.Fatal(err)
			}
		}
		// Also while the device is busy, and no core is.
		answers := make(chan error, 3)
		for id := range uint64(3) {
			s.Evaluate(20+id, tasks(workers.plan, 10), id == 2, func(_ []rollout.CandidateResult, err error) { answers <- err })
		}
		for range 3 {
			if err := <-answers; err != nil {
				t.Fatal(err)
			}
		}
		if n := candidates(workers); n != 0 || candidates(gpu) != 60 {
			t.Errorf("%d candidates on the cores and %d on the device, want none and 60", n, candidates(gpu))
		}
		done := false
		s.Validate(workers.plan.Initial(1), []uint64{1, 2}, false, func([]float64, error) { done = true })
		time.Sleep(time.Second)
		if !done {
			t.Error("no core ran the held-out episodes")
		}
		if _, err := evaluate(s, 9, tasks(workers.plan, 20), false); err != nil {
			t.Fatal(err)
		}
		if n := candidates(workers); n < 20 {
			t.Errorf("%d candidates on the cores after the device was lost, want 20", n)
		}
	})
}

// TestHeldOutTasksStayOnCores: held-out tasks are for workers, also where these leave all other tasks to a device, and
// share no batch with candidates on the same state.
func TestHeldOutTasksStayOnCores(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, alone := range []bool{false, true} {
			s, workers, gpu := deviceBench(t, 1, time.Millisecond, time.Microsecond, schedule.Device{Least: 1, BatchTime: time.Second, Alone: alone})
			p := workers.plan
			held := rollout.Task{State: p.Initial(1), HeldOut: true}
			for i := range uint64(40) {
				held.Seeds, held.Episodes = append(held.Seeds, 1000+i), append(held.Episodes, []uint64{i})
			}
			other := tasks(p, 40)
			other.State = held.State
			done := make(chan error, 2)
			s.Evaluate(1, other, false, func(_ []rollout.CandidateResult, err error) { done <- err })
			s.Evaluate(2, other, false, func(_ []rollout.CandidateResult, err error) { done <- err })
			got, err := evaluate(s, 3, held, false)
			for range 2 {
				if err := <-done; err != nil {
					t.Fatal(err)
				}
			}
			want, _ := rollout.NewPool(p, 1).Evaluate(held, nil)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("alone %t: results differ from those of a pool (%v)", alone, err)
			}
			gpu.mu.Lock()
			if onDevice := strings.Join(gpu.order, " "); strings.Contains(onDevice, "100") {
				t.Errorf("alone %t: the device got %s", alone, onDevice)
			}
			gpu.mu.Unlock()
		}
	})
}

// TestHeldOutTasksAreBatchedApart: candidates and held-out episodes on the same state are no one batch.
func TestHeldOutTasksAreBatchedApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := plan(t)
		workers := &fleet{plan: p, pace: time.Millisecond}
		s := schedule.New(schedule.Config{Start: workers.start, BatchTime: time.Second}, 1)
		defer func() { s.Close(); time.Sleep(longest) }()
		other := tasks(p, 30)
		held := rollout.Task{State: other.State, HeldOut: true}
		for i := range uint64(30) {
			held.Seeds, held.Episodes = append(held.Seeds, 1000+i), append(held.Episodes, []uint64{i})
		}
		if _, err := evaluate(s, 1, other, false); err != nil { // so that its pace is known
			t.Fatal(err)
		}
		done := make(chan error, 2)
		for id := range uint64(2) {
			s.Evaluate(2+id, other, false, func(_ []rollout.CandidateResult, err error) { done <- err })
		}
		got, err := evaluate(s, 4, held, false)
		for range 2 {
			if err := <-done; err != nil {
				t.Fatal(err)
			}
		}
		want, _ := rollout.NewPool(p, 1).Evaluate(held, nil)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("results differ from those of a pool (%v)", err)
		}
	})
}
