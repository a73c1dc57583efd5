package schedule_test

import (
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
	"github.com/evoswarm/evoswarm/internal/schedule"
)

var errDeath = errors.New("death")

const (
	batchTime = 8 * time.Millisecond
	longest   = 30 * time.Second // that no worker is started for
)

// plan is that of a small run.
func plan(t *testing.T) rollout.Plan {
	t.Helper()
	method, err := evolve.Find("openai-es")
	if err != nil {
		t.Fatal(err)
	}
	params, err := method.Complete(nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := rollout.NewPlan(rollout.Setup{EnvID: "CartPole-v1", Strategy: "openai-es", Params: params, Population: 8,
		Policy: policy.Spec{Kind: "linear", Hidden: []uint64{}, Head: "argmax"}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// fleet starts workers, each a goroutine that computes. The first deaths of them die with their first batch.
type fleet struct {
	plan    rollout.Plan
	deaths  atomic.Int32
	pace    time.Duration // of a candidate
	refused uint64        // a task with this seed fails

	mu    sync.Mutex
	order []string // what workers got
}

func (f *fleet) note(format string, args ...any) {
	f.mu.Lock()
	f.order = append(f.order, fmt.Sprintf(format, args...))
	f.mu.Unlock()
}

func (f *fleet) start(answer func(uint64, schedule.Answer, error), died func(error)) schedule.Worker {
	w := &worker{fleet: f, orders: make(chan func(), 8), answer: answer}
	pool := rollout.NewPool(f.plan, 1)
	w.pool = pool
	go func() {
		for order := range w.orders {
			if f.deaths.Add(-1) >= 0 {
				died(errDeath)
				return
			}
			order()
		}
	}()
	return w
}

type worker struct {
	fleet  *fleet
	pool   *rollout.Pool
	orders chan func()
	answer func(uint64, schedule.Answer, error)
}

func (w *worker) Evaluate(id uint64, task rollout.Task) {
	w.fleet.note("seeds %d", task.Seeds)
	w.orders <- func() {
		results, err := w.pool.Evaluate(task, nil)
		time.Sleep(w.fleet.pace * time.Duration(len(task.Seeds)))
		if w.fleet.refused != 0 && slices.Contains(task.Seeds, w.fleet.refused) {
			err = errDeath
		}
		w.answer(id, schedule.Answer{Results: results}, err)
	}
}

func (w *worker) Validate(id uint64, state *evolve.State, seeds []uint64) {
	w.fleet.note("held-out %d", len(seeds))
	w.orders <- func() {
		returns := make([]float64, len(seeds))
		w.pool.Returns(state, seeds, returns)
		w.answer(id, schedule.Answer{Returns: returns}, nil)
	}
}

func (w *worker) Fold(id uint64, fold rollout.Fold) {
	w.fleet.note("fold %d", len(fold.Steps))
	w.orders <- func() {
		time.Sleep(w.fleet.pace)
		w.answer(id, schedule.Answer{Folded: w.fleet.plan.Fold(fold)}, nil)
	}
}

func (w *worker) Stop() { close(w.orders) }

// bench has a fleet at work, and a task with what it gives.
type bench struct {
	*fleet
	*schedule.Scheduler
	task rollout.Task
	want []rollout.CandidateResult
}

func newBench(t *testing.T, n int, f *fleet, trouble func(error)) *bench {
	t.Helper()
	f.plan = plan(t)
	task := rollout.Task{State: f.plan.Initial(1), Seeds: []uint64{1, 2, 3}, Episodes: [][]uint64{{4, 5}}}
	want, err := rollout.NewPool(f.plan, 1).Evaluate(task, nil)
	if err != nil {
		t.Fatal(err)
	}
	s := schedule.New(schedule.Config{Start: f.start, BatchTime: batchTime, Ahead: 2, Trouble: trouble}, n)
	return &bench{f, s, task, want}
}

// with is the task with other seeds.
func (b *bench) with(seeds ...uint64) rollout.Task {
	return rollout.Task{State: b.task.State, Seeds: seeds, Episodes: b.task.Episodes}
}

// fold is of that many generations from the state of the task.
func (b *bench) fold(steps int) rollout.Fold {
	f := rollout.Fold{State: b.task.State}
	for gen := range uint64(steps) {
		var step rollout.FoldStep
		for i := range uint64(4) {
			step.Results = append(step.Results, evolve.Result{Seed: 4*gen + i, Fitness: [2]int64{int64(i) << 20, 0}, Steps: 2})
		}
		f.Steps = append(f.Steps, step)
	}
	return f
}

type outcome struct {
	results []rollout.CandidateResult
	err     error
}

func ignore([]rollout.CandidateResult, error) {}

func TestEvaluates(t *testing.T) {
	for _, test := range []struct {
		name            string
		workers, deaths int
		tasks           int
		fails, trouble  bool
	}{
		{"one worker", 1, 0, 5, false, false},
		{"more workers than tasks", 4, 0, 2, false, false},
		{"what died is repeated", 1, 1, 3, false, false},
		{"many workers die", 3, 2, 9, false, false},
		{"a task that every worker dies of is given up", 1, 3, 1, true, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := new(fleet)
				f.deaths.Store(int32(test.deaths))
				var troubled atomic.Bool
				b := newBench(t, test.workers, f, func(error) { troubled.Store(true) })
				outcomes := make(chan outcome, test.tasks)
				for i := range test.tasks {
					b.Evaluate(uint64(i), b.task, false, func(r []rollout.CandidateResult, err error) { outcomes <- outcome{r, err} })
				}
				for range test.tasks {
					got := <-outcomes
					if test.fails != errors.Is(got.err, schedule.ErrWorker) {
						t.Errorf("got error %v, want one: %t", got.err, test.fails)
					}
					if !test.fails && !slices.Equal(got.results, b.want) {
						t.Errorf("got %v, want %v", got.results, b.want)
					}
				}
				synctest.Wait()
				if troubled.Load() != test.trouble {
					t.Errorf("trouble reported: %t, want %t", troubled.Load(), test.trouble)
				}
				b.Close()
				time.Sleep(2 * longest)
			})
		})
	}
}

func TestOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, 0, &fleet{pace: batchTime / 2}, nil)
		episodes := []uint64{9, 8, 7, 6, 5, 4}
		want := make([]float64, len(episodes))
		rollout.NewPool(b.plan, 1).Returns(b.task.State, episodes, want)
		b.Validate(b.task.State, episodes, false, func(r []float64, err error) {
			if !slices.Equal(r, want) || err != nil {
				t.Errorf("got %v, %v, want the returns in order: %v", r, err, want)
			}
		})
		b.Validate(b.task.State, episodes[:5], true, func([]float64, error) {})
		b.Evaluate(1, b.with(11, 12, 13), false, ignore)
		b.Evaluate(2, b.with(21, 22), true, ignore)
		b.Evaluate(3, b.with(31), false, func([]rollout.CandidateResult, error) { t.Error("a canceled task was answered") })
		b.Cancel(3)
		b.Cancel(99)
		b.Evaluate(4, rollout.Task{}, true, func(_ []rollout.CandidateResult, err error) {
			if !errors.Is(err, rollout.ErrTask) {
				t.Errorf("an empty task: %v, want ErrTask", err)
			}
		})
		synctest.Wait()
		if len(b.order) != 0 || b.Workers() != 0 {
			t.Errorf("with %d workers got %v, want nothing", b.Workers(), b.order)
		}
		b.SetWorkers(1)
		time.Sleep(time.Second)
		wantOrder := []string{"seeds [21]", "seeds [22]", "held-out 4", "held-out 1", "seeds [11 12]", "seeds [13]", "held-out 4", "held-out 2"}
		if !slices.Equal(b.order, wantOrder) || b.Workers() != 1 {
			t.Errorf("%d workers got %v, want urgent tasks, urgent episodes, own tasks, episodes: %v", b.Workers(), b.order, wantOrder)
		}
		b.Close()
	})
}

// Held-out episodes wait while there are more tasks than can be done: they get their share, and the tasks the rest.
func TestHeldOutShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, 1, &fleet{pace: batchTime / 2}, nil)
		for i := range uint64(60) {
			b.Evaluate(i, b.task, false, ignore)
		}
		b.Validate(b.task.State, make([]uint64, 8), false, func([]float64, error) {})
		time.Sleep(time.Minute)
		synctest.Wait()
		passed, pieces := 0, 0
		for _, order := range b.order {
			if !strings.HasPrefix(order, "held-out") {
				passed += len(strings.Fields(order)) - 1
				continue
			}
			if pieces++; passed < 32 || passed > 34 {
				t.Errorf("held-out episodes after %d candidates, want 32", passed)
			}
			passed = 0
		}
		if pieces != 2 {
			t.Errorf("got %d pieces of held-out episodes, want 2", pieces)
		}
		b.Close()
	})
}

// One task and several workers: each gets a part, so that its claim is there soon.
func TestShares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, 3, &fleet{pace: time.Second}, nil)
		begun := time.Now()
		b.Evaluate(1, b.task, false, func(r []rollout.CandidateResult, err error) {
			if took := time.Since(begun); took > 3*time.Second/2 || err != nil || len(r) != 3 {
				t.Errorf("three workers took %v for three candidates of a second, %v", took, err)
			}
		})
		time.Sleep(time.Minute)
		b.Close()
	})
}

// Tasks that are short go to a worker several at a time, and each gets its own results, whatever episodes it
// has. One that fails fails alone.
func TestBatches(t *testing.T) {
	const bad = 0x0123456789abcdef
	for _, shared := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, 1, &fleet{pace: batchTime / 10, refused: bad}, nil)
			const tasks = 40
			got := make([]outcome, tasks)
			var list []rollout.Task
			for i := range uint64(tasks) {
				task := b.with([]uint64{3 * i, 3*i + 1, 3*i + 2}[:1+i%3]...)
				if !shared {
					task.Episodes = [][]uint64{{i, 5}}
				}
				if i == 17 {
					task.Seeds[0] = bad
				}
				list = append(list, task)
				b.Evaluate(i, task, false, func(r []rollout.CandidateResult, err error) { got[i] = outcome{r, err} })
			}
			time.Sleep(time.Second)
			synctest.Wait()
			for i, task := range list {
				want, err := rollout.NewPool(b.plan, 1).Evaluate(task, nil)
				if err != nil {
					t.Fatal(err)
				}
				if i == 17 {
					if !errors.Is(got[i].err, schedule.ErrWorker) {
						t.Errorf("the task that fails: got %v", got[i])
					}
				} else if got[i].err != nil || !slices.Equal(got[i].results, want) {
					t.Errorf("task %d: got %v, want %v", i, got[i], want)
				}
			}
			if n := len(b.order); n > tasks/2 {
				t.Errorf("%d batches for %d tasks, want fewer", n, tasks)
			}
			b.Close()
		})
	}
}

// Folds are done while no worker is lent, also after deaths, and given up after too many.
func TestFolds(t *testing.T) {
	for _, deaths := range []int32{0, 2, 3, 6} {
		synctest.Test(t, func(t *testing.T) {
			f := new(fleet)
			f.deaths.Store(deaths)
			b := newBench(t, 0, f, nil)
			fold := b.fold(3)
			want := b.plan.Fold(fold)
			answered := 0
			for id := range uint64(2) {
				b.Fold(id, fold, func(got []rollout.Folded, err error) {
					answered++
					if int32(id) < deaths/3 {
						if !errors.Is(err, schedule.ErrWorker) {
							t.Errorf("%d deaths, fold %d: got %v, want ErrWorker", deaths, id, err)
						}
					} else if err != nil || len(got) != 3 || got[2].State.Digest() != want[2].Digest {
						t.Errorf("%d deaths, fold %d: got %d steps, %v, want the plan's", deaths, id, len(got), err)
					}
				})
			}
			b.Fold(2, fold, func([]rollout.Folded, error) { t.Error("a canceled fold was answered") })
			b.Cancel(2)
			b.Fold(3, rollout.Fold{}, func(_ []rollout.Folded, err error) {
				if !errors.Is(err, rollout.ErrTask) {
					t.Errorf("an empty fold: %v, want ErrTask", err)
				}
			})
			time.Sleep(time.Minute)
			if answered != 2 {
				t.Errorf("%d deaths: %d folds were answered, want 2", deaths, answered)
			}
			b.Close()
			time.Sleep(2 * longest)
		})
	}
}

// A fold waits for no episode: all workers are at long candidates.
func TestFoldsDoNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, 2, &fleet{pace: time.Second}, nil)
		for i := range uint64(10) {
			b.Evaluate(i, b.task, true, ignore)
		}
		time.Sleep(time.Second / 2)
		begun := time.Now()
		b.Fold(10, b.fold(1), func(_ []rollout.Folded, err error) {
			if took := time.Since(begun); took != time.Second || err != nil {
				t.Errorf("a fold of a second took %v, %v", took, err)
			}
		})
		time.Sleep(time.Minute)
		b.Close()
	})
}

// With fewer workers those that are too many finish what they have, and get nothing more.
func TestSetWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, 4, &fleet{pace: time.Second}, nil)
		begun := time.Now()
		answered, last := 0, time.Duration(0)
		evaluate := func(id uint64) {
			b.Evaluate(id, b.with(id), false, func(_ []rollout.CandidateResult, err error) {
				if answered++; err != nil {
					t.Error(err)
				}
				last = time.Since(begun)
			})
		}
		for id := range uint64(8) {
			evaluate(id) // two for each worker
		}
		b.SetWorkers(1)
		for id := range uint64(4) {
			evaluate(8 + id)
		}
		time.Sleep(time.Minute)
		if answered != 12 || last != 6*time.Second {
			t.Errorf("%d tasks were answered in %v, want 12, the last 4 of them by one worker, in 6 s", answered, last)
		}
		b.SetWorkers(-1)
		given := len(b.order)
		b.Evaluate(99, b.task, true, ignore)
		time.Sleep(time.Minute)
		if len(b.order) != given || b.Workers() != 0 {
			t.Errorf("got %v while %d workers are lent, want none", b.order[given:], b.Workers())
		}
		b.Close()
	})
}

func TestClosed(t *testing.T) {
	b := newBench(t, 1, new(fleet), nil)
	b.Close()
	b.Close()
	got := make(chan error, 1)
	b.Evaluate(5, b.task, false, func(_ []rollout.CandidateResult, err error) { got <- err })
	if err := <-got; !errors.Is(err, schedule.ErrClosed) {
		t.Errorf("got %v, want ErrClosed", err)
	}
}
