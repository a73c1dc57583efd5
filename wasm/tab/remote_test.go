package main

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	_ "github.com/evoswarm/evoswarm/envs/all"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

var errTest = errors.New("the worker died")

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

// goroutine is a port to the worker that Web Workers have, on a goroutine.
type goroutine struct {
	orders chan func(w *rollout.Worker) error // an error is the worker's death
	answer func(uint64, []byte, error)
	log    *[]string // what was moved
	mu     *sync.Mutex
}

// opener starts goroutines. The first deaths of them die with their first order.
type opener struct {
	mu     sync.Mutex
	deaths int
	moved  []string
}

func (o *opener) open(_ string, setup []byte, answer func(uint64, []byte, error), died func(error)) port {
	g := &goroutine{orders: make(chan func(*rollout.Worker) error, 8), answer: answer, log: &o.moved, mu: &o.mu}
	s, err := rollout.UnmarshalSetup(setup)
	if err != nil {
		panic(err)
	}
	w, err := rollout.NewWorker(s)
	if err != nil {
		panic(err)
	}
	go func() {
		for order := range g.orders {
			o.mu.Lock()
			o.deaths--
			dies := o.deaths >= 0
			o.mu.Unlock()
			err := errTest
			if !dies {
				err = order(w)
			}
			if err != nil {
				died(err)
				return
			}
		}
	}()
	return g
}

// move notes what crosses the border and gives the worker what to do.
func (g *goroutine) move(what string, state []byte, order func(w *rollout.Worker) error) {
	if state != nil {
		what += " with a state"
	}
	g.mu.Lock()
	*g.log = append(*g.log, what)
	g.mu.Unlock()
	g.orders <- order
}

func (g *goroutine) state(state []byte) {
	g.move("tasks", state, func(w *rollout.Worker) error { return w.SetState(state) })
}

func (g *goroutine) task(id uint64, task []byte) {
	g.move("task", nil, func(w *rollout.Worker) error { return g.reply(id)(w.Evaluate(task)) })
}

func (g *goroutine) validate(id uint64, state, seeds []byte) {
	g.move("validate", state, func(w *rollout.Worker) error { return g.reply(id)(w.Validate(state, seeds)) })
}

func (g *goroutine) fold(id uint64, state, fold []byte) {
	g.move("fold", state, func(w *rollout.Worker) error { return g.reply(id)(w.Fold(state, fold)) })
}

func (g *goroutine) reply(id uint64) func([]byte, error) error {
	return func(data []byte, err error) error { g.answer(id, data, err); return nil }
}

func (g *goroutine) close() { close(g.orders) }

func newTestEvaluator(t *testing.T, n int, o *opener) (evaluator, rollout.Plan) {
	t.Helper()
	s := setup(t)
	data, err := rollout.MarshalSetup(s)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := rollout.NewPlan(s)
	if err != nil {
		t.Fatal(err)
	}
	return newEvaluator(plan.Env.ID, data, n, o.open, func(error) {}), plan
}

// TestRemoteComputes sends every kind of work over the border as bytes and compares with what is computed here.
func TestRemoteComputes(t *testing.T) {
	for _, deaths := range []int{0, 2} {
		synctest.Test(t, func(t *testing.T) {
			e, plan := newTestEvaluator(t, 2, &opener{deaths: deaths})
			state := plan.Initial(1)
			task := rollout.Task{State: state, Seeds: []uint64{1, 2, 3}, Episodes: [][]uint64{{4, 5}}}
			want, err := rollout.NewPool(plan, 1).Evaluate(task, nil)
			if err != nil {
				t.Fatal(err)
			}
			seeds := []uint64{1, 2, 3, 4, 5, 6}
			wantReturns := make([]float64, len(seeds))
			rollout.NewEvaluator(plan).Returns(state, seeds, wantReturns)
			answered := 0
			for i := range uint64(4) {
				e.Evaluate(i, task, i%2 == 0, func(got []rollout.CandidateResult, err error) {
					if answered++; err != nil || !slices.Equal(got, want) {
						t.Errorf("a task: got %v, %v, want %v", got, err, want)
					}
				})
			}
			e.Validate(state, seeds, false, func(got []float64, err error) {
				if answered++; err != nil || !slices.Equal(got, wantReturns) {
					t.Errorf("held-out episodes: got %v, %v, want %v", got, err, wantReturns)
				}
			})
			time.Sleep(time.Minute)
			if answered != 5 || e.Slots(4) != 2*chunksAhead {
				t.Errorf("%d deaths: %d answers, %d slots, want 5 and %d", deaths, answered, e.Slots(4), 2*chunksAhead)
			}
			e.Close()
			time.Sleep(time.Minute)
		})
	}
}

// TestRemoteMovesStatesOnce has tasks, held-out episodes and a chain of folds, and one fold that starts elsewhere.
func TestRemoteMovesStatesOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := new(opener)
		e, plan := newTestEvaluator(t, 1, o)
		start := plan.Initial(1)
		wait := func() { time.Sleep(time.Second); synctest.Wait() }
		for i := range uint64(3) {
			e.Evaluate(i, rollout.Task{State: start, Seeds: []uint64{i}, Episodes: [][]uint64{{4}}}, false, func(_ []rollout.CandidateResult, err error) {
				if err != nil {
					t.Error(err)
				}
			})
			wait()
		}
		e.Validate(start, make([]uint64, 8), false, func(_ []float64, err error) {
			if err != nil {
				t.Error(err)
			}
		})
		wait()
		fold := func(from *evolve.State, gens int) *evolve.State {
			f := rollout.Fold{State: from}
			for gen := range gens {
				var step rollout.FoldStep
				for i := range uint64(4) {
					step.Results = append(step.Results, evolve.Result{Seed: uint64(gen)*9 + i, Fitness: [2]int64{int64(i) << 20, 0}, Steps: 2})
				}
				f.Steps = append(f.Steps, step)
			}
			want := plan.Fold(f)
			var next *evolve.State
			e.Fold(100, f, func(got []rollout.Folded, err error) {
				if err != nil || len(got) != gens || got[gens-1].State.Digest() != want[gens-1].Digest {
					t.Fatalf("got %d steps, %v, want those of the plan", len(got), err)
				}
				next = got[gens-1].State
			})
			wait()
			return next
		}
		third := fold(fold(fold(start, 1), 2), 1)
		fold(start, 3)
		fold(third, 1)
		want := []string{"tasks with a state", "task", "task", "task", "validate with a state", "validate",
			"fold with a state", "fold", "fold", "fold with a state", "fold with a state"}
		if !slices.Equal(o.moved, want) {
			t.Errorf("got %q, want %q", o.moved, want)
		}
		e.Close()
	})
}

// foldOf is a fold of one generation from a state.
func foldOf(from *evolve.State) rollout.Fold {
	return rollout.Fold{State: from, Steps: []rollout.FoldStep{{Results: []evolve.Result{{Seed: 1, Fitness: [2]int64{1, 0}, Steps: 1}}}}}
}

// TestRemoteFoldsBetween gives the worker two folds at once, of which the second starts from the result of an
// earlier one: by then the worker holds another state.
func TestRemoteFoldsBetween(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e, plan := newTestEvaluator(t, 0, new(opener))
		start := plan.Initial(1)
		var next *evolve.State
		e.Fold(1, foldOf(start), func(got []rollout.Folded, _ error) { next = got[0].State })
		time.Sleep(time.Second)
		want := plan.Fold(foldOf(next))
		other := start.Clone()
		other.Theta[0] = 1
		e.Fold(2, foldOf(other), func([]rollout.Folded, error) {})
		e.Fold(3, foldOf(next), func(got []rollout.Folded, err error) {
			if err != nil || got[0].Digest != want[0].Digest {
				t.Errorf("got %v, %v, want the fold from the state that was named", got, err)
			}
		})
		time.Sleep(time.Second)
		e.Close()
	})
}

// TestRemoteForgetsAfterErrors has the worker refuse a state, twice: what it does not have is moved again.
func TestRemoteForgetsAfterErrors(t *testing.T) {
	for what, ask := range map[string]func(e evaluator, id uint64, state *evolve.State, done func(error)){
		"fold": func(e evaluator, id uint64, state *evolve.State, done func(error)) {
			e.Fold(id, foldOf(state), func(_ []rollout.Folded, err error) { done(err) })
		},
		"validate": func(e evaluator, _ uint64, state *evolve.State, done func(error)) {
			e.Validate(state, []uint64{1}, false, func(_ []float64, err error) { done(err) })
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			o := new(opener)
			e, plan := newTestEvaluator(t, 1, o)
			other := &evolve.State{Theta: []float32{1}}
			var said []string
			for id, from := range []*evolve.State{other, other, plan.Initial(1)} {
				ask(e, uint64(id), from, func(err error) { said = append(said, fmt.Sprint(errors.Is(err, evolve.ErrState), err == nil)) })
				time.Sleep(time.Second)
				synctest.Wait()
			}
			if want := []string{"true false", "true false", "false true"}; !slices.Equal(said, want) {
				t.Errorf("%s: got %v, want %v", what, said, want)
			}
			if want := slices.Repeat([]string{what + " with a state"}, 3); !slices.Equal(o.moved, want) {
				t.Errorf("got %v, want %v", o.moved, want)
			}
			e.Close()
		})
	}
}
