// Package devices puts GPUs to work: it opens them for a plan and gives them to a scheduler.
//
// Floor 5, drivers: floors 5 and 6 import it.
package devices

import (
	"fmt"
	"time"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/gpu"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/schedule"
)

const (
	// Least is how many candidates are worth a launch: fewer leave most of a GPU idle.
	Least = 64
	// batchTime is how long a batch may take. Re-runs that the swarm waits for come after it.
	batchTime = 500 * time.Millisecond
)

// Use opens devices for a plan, each on a goroutine of its own since compiling takes seconds, and adds to s those that
// pass their tests. With alone the workers of s leave all tasks to them. say is called, from any goroutine, with a
// line for each device: that it computes, or why it does not. The function that it returns waits until
// all are opened, or have been refused.
func Use(s *schedule.Scheduler, infos []gpu.Info, plan rollout.Plan, alone bool, say func(used bool, text string)) (wait func()) {
	opened := make(chan struct{}, len(infos))
	for _, info := range infos {
		go func() {
			defer func() { opened <- struct{}{} }()
			begin := time.Now()
			d, err := gpu.Open(info, plan)
			if err != nil {
				say(false, fmt.Sprintf("%s is not used: %v", info.Name, err))
				return
			}
			s.Add(schedule.Device{
				Start: starter(d), Least: Least, BatchTime: batchTime, Alone: alone,
				Lost: func(err error) { say(false, fmt.Sprintf("%s is not used any more: %v", info.Name, err)) },
			})
			say(true, fmt.Sprintf("%s computes, after %.1f s of tests and compiling", info.Name, time.Since(begin).Seconds()))
		}()
	}
	return func() {
		for range infos {
			<-opened
		}
	}
}

// starter returns the Start of a schedule.Device.
func starter(d *gpu.Device) func(func(uint64, schedule.Answer, error), func(error)) schedule.Worker {
	return func(answer func(uint64, schedule.Answer, error), _ func(error)) schedule.Worker {
		w := &worker{device: d, answer: answer, orders: make(chan order, 1)}
		go w.work()
		return w
	}
}

// worker runs a device for a scheduler, which gives it tasks only.
type worker struct {
	device *gpu.Device
	answer func(uint64, schedule.Answer, error)
	orders chan order
}

type order struct {
	id   uint64
	task rollout.Task
}

func (w *worker) work() {
	for o := range w.orders {
		results, err := w.device.Evaluate(o.task, nil)
		w.answer(o.id, schedule.Answer{Results: results}, err)
	}
	w.device.Close()
}

// Evaluate implements [schedule.Worker].
func (w *worker) Evaluate(id uint64, task rollout.Task) { w.orders <- order{id, task} }

// Validate implements [schedule.Worker]; a device is never asked to.
func (w *worker) Validate(uint64, *evolve.State, []uint64) {}

// Fold implements [schedule.Worker]; a device is never asked to.
func (w *worker) Fold(uint64, rollout.Fold) {}

// Stop implements [schedule.Worker].
func (w *worker) Stop() { close(w.orders) }
