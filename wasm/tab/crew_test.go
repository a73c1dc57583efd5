package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	_ "github.com/evoswarm/evoswarm/envs/all"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

var errTest = errors.New("crash")

// setup is a small run.
func setup(t *testing.T) rollout.Setup {
	t.Helper()
	method, err := evolve.Find("openai-es")
	if err != nil {
		t.Fatal(err)
	}
	params, err := method.Complete(nil)
	if err != nil {
		t.Fatal(err)
	}
	return rollout.Setup{EnvID: "CartPole-v1", Strategy: "openai-es", Params: params, Population: 8,
		Policy: policy.Spec{Kind: "linear", Hidden: []uint64{}, Head: "argmax"}}
}

// goroutine is a worker that computes on a goroutine, with the evaluator that Web Workers have.
type goroutine struct {
	orders chan func(w *rollout.Worker) error
	quit   sync.Once
	answer func(uint64, []byte, error)
	crash  func(error)
	agency *agency
}

func (g *goroutine) state(state []byte) {
	g.orders <- func(w *rollout.Worker) error { return w.SetState(state) }
}

func (g *goroutine) task(id uint64, task []byte) {
	t, err := rollout.UnmarshalTask(task, new(evolve.State))
	if err != nil {
		panic(err)
	}
	g.agency.note(fmt.Sprintf("seeds %d", t.Seeds))
	g.orders <- func(w *rollout.Worker) error {
		data, err := w.Evaluate(task)
		time.Sleep(g.agency.pace * time.Duration(len(data)/24))
		if bytes.Contains(task, g.agency.refused) && g.agency.refused != nil {
			err = errTest
		}
		g.answer(id, data, err)
		return nil
	}
}

func (g *goroutine) look(id uint64, _, seeds []byte) {
	g.agency.note(fmt.Sprintf("look of %d", len(seeds)/8))
	g.orders <- func(*rollout.Worker) error { g.answer(id, seeds, nil); return nil }
}

func (g *goroutine) fold(id uint64, state, fold []byte) {
	g.orders <- func(w *rollout.Worker) error {
		data, err := w.Fold(state, fold)
		g.answer(id, data, err)
		return nil
	}
}

func (g *goroutine) kill() { g.quit.Do(func() { close(g.orders) }) }

// agency hires goroutines. The first crashes of them die with their first order.
type agency struct {
	crashes atomic.Int32
	pace    time.Duration // of a candidate
	refused []byte        // a task that holds this fails
	mu      sync.Mutex
	order   []string // what workers got
}

func (a *agency) note(order string) {
	a.mu.Lock()
	a.order = append(a.order, order)
	a.mu.Unlock()
}

func (a *agency) hire(setup []byte, answer func(uint64, []byte, error), crash func(error)) worker {
	g := &goroutine{orders: make(chan func(*rollout.Worker) error, 8), answer: answer, crash: crash, agency: a}
	var s rollout.Setup
	if err := json.Unmarshal(setup, &s); err != nil {
		panic(err)
	}
	w, err := rollout.NewWorker(s)
	if err != nil {
		panic(err)
	}
	go func() {
		for order := range g.orders {
			if a.crashes.Add(-1) >= 0 {
				g.crash(errTest)
				return
			}
			if err := order(w); err != nil {
				g.crash(err)
				return
			}
		}
	}()
	return g
}

func newTestCrew(t *testing.T, n int, a *agency, trouble func(error)) (*crew, rollout.Task, []rollout.CandidateResult) {
	t.Helper()
	s := setup(t)
	data, err := rollout.MarshalSetup(s)
	if err != nil {
		t.Fatal(err)
	}
	method, _ := evolve.Find(s.Strategy)
	strategy, err := method.New(s.Params, evolve.Size{Dim: 8, Population: 8})
	if err != nil {
		t.Fatal(err)
	}
	task := rollout.Task{State: strategy.Init(make([]float32, 8)), Seeds: []uint64{1, 2, 3}, Episodes: [][]uint64{{4, 5}}}
	w, err := rollout.NewWorker(s)
	if err != nil {
		t.Fatal(err)
	}
	state, _ := task.State.MarshalBinary()
	encoded, _ := rollout.MarshalTask(task)
	if err := w.SetState(state); err != nil {
		t.Fatal(err)
	}
	out, err := w.Evaluate(encoded)
	if err != nil {
		t.Fatal(err)
	}
	want, err := rollout.UnmarshalResults(out, 3)
	if err != nil {
		t.Fatal(err)
	}
	return newCrew(data, n, a.hire, trouble), task, want
}

type outcome struct {
	results []rollout.CandidateResult
	err     error
}

func TestCrewEvaluates(t *testing.T) {
	for _, test := range []struct {
		name             string
		workers, crashes int
		tasks            int
		fails, trouble   bool
	}{
		{"one worker", 1, 0, 5, false, false},
		{"more workers than tasks", 4, 0, 2, false, false},
		{"a crash is repeated", 1, 1, 3, false, false},
		{"crashes of many workers", 3, 2, 9, false, false},
		{"a task that kills every worker is given up", 1, 3, 1, true, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := new(agency)
				a.crashes.Store(int32(test.crashes))
				var troubled atomic.Bool
				c, task, want := newTestCrew(t, test.workers, a, func(error) { troubled.Store(true) })
				outcomes := make(chan outcome, test.tasks)
				for i := range test.tasks {
					c.Evaluate(uint64(i), task, false, func(r []rollout.CandidateResult, err error) { outcomes <- outcome{r, err} })
				}
				for range test.tasks {
					got := <-outcomes
					if test.fails != errors.Is(got.err, errWorker) {
						t.Errorf("got error %v, want one: %t", got.err, test.fails)
					}
					if !test.fails && !slices.Equal(got.results, want) {
						t.Errorf("got %v, want %v", got.results, want)
					}
				}
				synctest.Wait()
				if troubled.Load() != test.trouble {
					t.Errorf("trouble reported: %t, want %t", troubled.Load(), test.trouble)
				}
				c.Close()
				time.Sleep(2 * restMax)
			})
		})
	}
}

func TestCrewOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &agency{pace: batchTime / 2}
		c, task, _ := newTestCrew(t, 0, a, nil)
		done := func([]rollout.CandidateResult, error) {}
		ordered := func(seeds ...uint64) rollout.Task {
			return rollout.Task{State: task.State, Seeds: seeds, Episodes: task.Episodes}
		}
		episodes := []uint64{0, 0x3ff0000000000000, 0, 0, 0, 0x4000000000000000}
		c.Look(&evolve.State{Theta: []float32{1}}, episodes, func(r []float64, err error) {
			if want := []float64{0, 1, 0, 0, 0, 2}; !slices.Equal(r, want) || err != nil {
				t.Errorf("got %v, %v, want the worker's answers in order: %v", r, err, want)
			}
		})
		c.Evaluate(1, ordered(11, 12, 13), false, done)
		c.Evaluate(2, ordered(21, 22), true, done)
		c.Evaluate(3, ordered(31), false, func([]rollout.CandidateResult, error) { t.Error("a cancelled task was answered") })
		c.Cancel(3)
		synctest.Wait()
		if len(a.order) != 0 {
			t.Errorf("without workers got %v, want nothing", a.order)
		}
		c.SetWorkers(1)
		time.Sleep(time.Second)
		want := []string{"seeds [21]", "seeds [22]", "seeds [11 12]", "seeds [13]", "look of 4", "look of 2"}
		if !slices.Equal(a.order, want) {
			t.Errorf("got %v, want urgent, normal, look: %v", a.order, want)
		}
		if c.Workers() != 1 || c.Slots(8) != chunksAhead {
			t.Errorf("got %d workers and %d slots, want 1 and %d", c.Workers(), c.Slots(8), chunksAhead)
		}
		c.Close()
	})
}

// TestCrewLooks has a look wait beside more tasks than can be done: it gets its share, and the tasks the rest.
func TestCrewLooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &agency{pace: batchTime / 2}
		c, task, _ := newTestCrew(t, 1, a, nil)
		for i := range uint64(60) {
			c.Evaluate(i, task, false, func([]rollout.CandidateResult, error) {})
		}
		c.Look(&evolve.State{Theta: []float32{1}}, make([]uint64, 2*lookUnit), func([]float64, error) {})
		time.Sleep(time.Minute)
		synctest.Wait()
		passed, looks := 0, 0
		for _, order := range a.order {
			if !strings.HasPrefix(order, "look") {
				passed += len(strings.Fields(order)) - 1
				continue
			}
			if looks++; passed < lookAfter || passed > lookAfter+2 {
				t.Errorf("a piece of the look after %d candidates, want %d", passed, lookAfter)
			}
			passed = 0
		}
		if looks != 2 {
			t.Errorf("got %d pieces of the look, want 2", looks)
		}
		c.Close()
	})
}

// TestCrewShares has one task and several workers: each gets a part, so that its claim is there soon.
func TestCrewShares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &agency{pace: time.Second}
		c, task, _ := newTestCrew(t, 3, a, nil)
		begun := time.Now()
		c.Evaluate(1, task, false, func(r []rollout.CandidateResult, err error) {
			if took := time.Since(begun); took > 3*time.Second/2 || err != nil || len(r) != 3 {
				t.Errorf("three workers took %v for three candidates of a second, %v", took, err)
			}
		})
		time.Sleep(time.Minute)
		c.Close()
	})
}

// Tasks that are short go to a worker several at a time, and each gets its own results, whatever episodes it has. One that
// fails fails alone.
func TestCrewBatches(t *testing.T) {
	const bad = 0x0123456789abcdef
	for _, shared := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			a := &agency{pace: batchTime / 10, refused: binary.LittleEndian.AppendUint64(nil, bad)}
			c, base, _ := newTestCrew(t, 1, a, nil)
			const tasks = 40
			got := make([]outcome, tasks)
			var list []rollout.Task
			for i := range uint64(tasks) {
				task := rollout.Task{State: base.State, Seeds: []uint64{3 * i, 3*i + 1, 3*i + 2}[:1+i%3], Episodes: [][]uint64{{4, 5}}}
				if !shared {
					task.Episodes = [][]uint64{{i, 5}}
				}
				if i == 17 {
					task.Seeds[0] = bad
				}
				list = append(list, task)
				c.Evaluate(i, task, false, func(r []rollout.CandidateResult, err error) { got[i] = outcome{r, err} })
			}
			time.Sleep(time.Second)
			synctest.Wait()
			setup, _ := rollout.UnmarshalSetup(c.setup)
			w, err := rollout.NewWorker(setup)
			if err != nil {
				t.Fatal(err)
			}
			state, _ := base.State.MarshalBinary()
			if err := w.SetState(state); err != nil {
				t.Fatal(err)
			}
			for i, task := range list {
				encoded, _ := rollout.MarshalTask(task)
				data, _ := w.Evaluate(encoded)
				want, _ := rollout.UnmarshalResults(data, len(task.Seeds))
				if i == 17 {
					if !errors.Is(got[i].err, errWorker) {
						t.Errorf("the task that fails: got %v", got[i])
					}
				} else if got[i].err != nil || !slices.Equal(got[i].results, want) {
					t.Errorf("task %d: got %v, want %v", i, got[i], want)
				}
			}
			if n := len(a.order); n > tasks/2 {
				t.Errorf("%d messages for %d tasks, want fewer", n, tasks)
			}
			c.Close()
		})
	}
}

func TestCrewClosed(t *testing.T) {
	c, task, _ := newTestCrew(t, 1, new(agency), nil)
	c.Close()
	got := make(chan error, 1)
	c.Evaluate(5, task, false, func(_ []rollout.CandidateResult, err error) { got <- err })
	if err := <-got; !errors.Is(err, errClosed) {
		t.Errorf("got %v, want errClosed", err)
	}
}
