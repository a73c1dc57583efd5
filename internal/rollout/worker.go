package rollout

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/evoswarm/evoswarm/internal/evolve"
)

// Worker evaluates tasks and applies folds, given as bytes, on the goroutine that calls it. It does
// everything that a Web Worker computes; the program around it only moves bytes. It knows the environments
// that the program imports.
type Worker struct {
	plan      Plan
	runner    runner
	state     *evolve.State // for tasks
	validated *evolve.State // of the last Validate
	folded    *evolve.State // after the last Fold
}

// NewWorker returns a worker for setup. Errors wrap ErrSetup and say what this build does not have.
func NewWorker(setup Setup) (*Worker, error) {
	plan, err := NewPlan(setup)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSetup, err)
	}
	return &Worker{plan: plan, runner: newRunner(plan)}, nil
}

// SetState sets the state for subsequent tasks to the one that b encodes (evolve.State.MarshalBinary). On
// error, which wraps evolve.ErrState, the worker keeps its state. It keeps no reference to b.
func (w *Worker) SetState(b []byte) error {
	state, err := w.plan.UnmarshalState(b)
	if err != nil {
		return err
	}
	w.state = state
	return nil
}

// Evaluate runs the task that b encodes (MarshalTask) on the current state and returns its results
// (MarshalResults). Errors wrap ErrTask. It keeps no reference to b. Bit exact.
func (w *Worker) Evaluate(b []byte) ([]byte, error) {
	t, err := UnmarshalTask(b, w.state)
	if err != nil {
		return nil, err
	}
	outcomes := make([]Outcome, items(&t, w.plan.Strategy))
	for k := range outcomes {
		outcomes[k] = w.runner.run(&t, w.plan.Strategy, k)
	}
	return MarshalResults(join(outcomes, signs(&t, w.plan.Strategy)))
}

// Validate is held-out evaluation: it runs one episode of the mean policy per seed and returns the returns.
// Seeds are 8 bytes each, returns float64, both little-endian. The policy is that of the state that state
// encodes or, if state is nil, of the last Validate. Errors wrap ErrTask or evolve.ErrState. It keeps no
// reference to its arguments. Bit exact.
func (w *Worker) Validate(state, seeds []byte) ([]byte, error) {
	from, err := w.given(state, w.validated)
	w.validated = from // nil after an error: the next call must not use an older state
	if err != nil {
		return nil, err
	}
	n := len(seeds) / 8
	if n == 0 || n > MaxEpisodes || len(seeds)%8 != 0 {
		return nil, fmt.Errorf("%w: %d bytes of held-out episodes, want those of 1 to %d", ErrTask, len(seeds), MaxEpisodes)
	}
	episodes, _ := takeUint64s(seeds, n)
	returns := make([]float64, n)
	w.runner.evaluator.Returns(from, episodes, returns)
	out := make([]byte, 0, 8*n)
	for _, r := range returns {
		out = binary.LittleEndian.AppendUint64(out, math.Float64bits(r))
	}
	return out, nil
}

// UnmarshalReturns decodes b, the want returns of a Validate. Errors wrap ErrTask.
func UnmarshalReturns(b []byte, want int) ([]float64, error) {
	if len(b) != 8*want {
		return nil, fmt.Errorf("%w: %d bytes of returns for %d episodes", ErrTask, len(b), want)
	}
	returns := make([]float64, want)
	for i := range returns {
		returns[i] = math.Float64frombits(binary.LittleEndian.Uint64(b[8*i:]))
	}
	return returns, nil
}

// Fold applies the generations that b encodes (MarshalFold) and returns their results (MarshalFolded). They
// start from the state that state encodes or, if state is nil, from the result of the last Fold, so that
// consecutive folds need not transfer it. The state for tasks does not change. Errors wrap ErrTask or
// evolve.ErrState. It keeps no reference to its arguments. Bit exact.
func (w *Worker) Fold(state, b []byte) ([]byte, error) {
	from, err := w.given(state, w.folded)
	w.folded = nil // until this fold succeeds: the next one must not start from an older state
	if err != nil {
		return nil, err
	}
	f, err := UnmarshalFold(b, from)
	if err != nil {
		return nil, err
	}
	folded := w.plan.Fold(f)
	w.folded = folded[len(folded)-1].State
	return MarshalFolded(folded)
}

// given returns the state that b encodes, or last if b is nil.
func (w *Worker) given(b []byte, last *evolve.State) (*evolve.State, error) {
	if b != nil {
		s, err := w.plan.UnmarshalState(b)
		if err != nil {
			return nil, err
		}
		return s, nil
	}
	if last == nil {
		return nil, fmt.Errorf("%w: none was given", evolve.ErrState)
	}
	return last, nil
}
