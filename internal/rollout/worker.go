package rollout

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/policy"
)

// ErrSetup is wrapped by every error about a setup.
var ErrSetup = errors.New("rollout: bad setup")

// MaxSetup is the largest encoded setup [bytes].
const MaxSetup = 1 << 16

// Setup is what a worker has to know once: the part of a run's spec that
// evaluations depend on. It travels as JSON.
type Setup struct {
	// EnvID is the world's id as registered.
	EnvID string `json:"env"`
	// EnvRevision must be that of the worker's build; 0 for any.
	EnvRevision uint64 `json:"env_revision"`
	// Policy is the policy for that world.
	Policy policy.Spec `json:"policy"`
	// Strategy is the method's name.
	Strategy string `json:"strategy"`
	// StrategyRevision must be that of the worker's build; 0 for any.
	StrategyRevision uint64 `json:"strategy_revision"`
	// Params are the strategy's settings, complete.
	Params evolve.Params `json:"params"`
	// Population is the number of evaluations that close a generation, both signs
	// counted.
	Population uint64 `json:"population"`
	// Episodes is how candidates are evaluated.
	Episodes Episodes `json:"episodes"`
}

// MarshalSetup returns s as JSON.
func MarshalSetup(s Setup) ([]byte, error) {
	b, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSetup, err)
	}
	return b, nil
}

// UnmarshalSetup returns the setup in b. It refuses unknown fields, anything after
// the object and more than MaxSetup bytes with an error that wraps ErrSetup.
func UnmarshalSetup(b []byte) (Setup, error) {
	if len(b) > MaxSetup {
		return Setup{}, fmt.Errorf("%w: %d bytes, at most %d", ErrSetup, len(b), MaxSetup)
	}
	var s Setup
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return Setup{}, fmt.Errorf("%w: %w", ErrSetup, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return Setup{}, fmt.Errorf("%w: more after the object", ErrSetup)
	}
	return s, nil
}

// Worker evaluates tasks given as bytes, on the goroutine that calls it. It is the
// whole of what a Web Worker computes; its program only moves the bytes. The worlds
// it can run are those that the program imports.
type Worker struct {
	plan      Plan
	station   station
	state     *evolve.State // that tasks run on
	validated *evolve.State // whose held-out episodes were run last
	folded    *evolve.State // that the last fold gave
}

// NewWorker returns a worker for setup. Errors wrap ErrSetup and say what does not
// fit this build.
func NewWorker(setup Setup) (*Worker, error) {
	plan, err := NewPlan(setup)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSetup, err)
	}
	return &Worker{plan: plan, station: newStation(plan)}, nil
}

// SetState makes the state that b encodes (evolve.State.MarshalBinary) the one that
// the tasks to come are run on. On error, which wraps evolve.ErrState, the worker
// keeps the state it had. It keeps no reference to b.
func (w *Worker) SetState(b []byte) error {
	state, err := w.plan.UnmarshalState(b)
	if err != nil {
		return err
	}
	w.state = state
	return nil
}

// Evaluate runs the task that b encodes (MarshalTask) on the present state and
// returns its results (MarshalResults). Errors wrap ErrTask. It keeps no reference
// to b. Bit exact.
func (w *Worker) Evaluate(b []byte) ([]byte, error) {
	t, err := UnmarshalTask(b, w.state)
	if err != nil {
		return nil, err
	}
	outcomes := make([]Outcome, items(&t, w.plan.Strategy))
	for k := range outcomes {
		outcomes[k] = w.station.run(&t, w.plan.Strategy, k)
	}
	return MarshalResults(join(outcomes, w.plan.Strategy.Antithetic()))
}

// Validate runs one held-out episode of the mean policy for each seed, of 8 bytes in
// little endian, and returns their returns, as float64 in little endian. The policy is
// that of the state which state encodes or, if that is nil, of the state of the last
// Validate. Errors wrap ErrTask or evolve.ErrState. It keeps no reference to its
// arguments. Bit exact.
func (w *Worker) Validate(state, seeds []byte) ([]byte, error) {
	from, err := w.given(state, w.validated)
	w.validated = from // none after an error: what follows must not run on an older one
	if err != nil {
		return nil, err
	}
	n := len(seeds) / 8
	if n == 0 || n > MaxEpisodes || len(seeds)%8 != 0 {
		return nil, fmt.Errorf("%w: %d bytes of held-out episodes, want those of 1 to %d", ErrTask, len(seeds), MaxEpisodes)
	}
	episodes, _ := takeUint64s(seeds, n)
	returns := make([]float64, n)
	w.station.evaluator.Returns(from, episodes, returns)
	out := make([]byte, 0, 8*n)
	for _, r := range returns {
		out = binary.LittleEndian.AppendUint64(out, math.Float64bits(r))
	}
	return out, nil
}

// UnmarshalReturns returns the want returns that Validate gave as b. Errors wrap ErrTask.
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

// Fold applies the generations that b encodes (MarshalFold) and returns what they gave
// (MarshalFolded). They start from the state that state encodes or, if that is nil, from
// what the last Fold gave, so that a chain of folds need not move it. The state that
// tasks run on stays. Errors wrap ErrTask or evolve.ErrState. It keeps no reference to
// its arguments. Bit exact.
func (w *Worker) Fold(state, b []byte) ([]byte, error) {
	from, err := w.given(state, w.folded)
	w.folded = nil // until this one is done: what follows must not start from an older one
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
