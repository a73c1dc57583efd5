package runspec

import (
	"errors"
	"fmt"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// ErrInit is returned by New for weights that the run cannot begin with.
var ErrInit = errors.New("cannot begin with these weights")

// Init is what a run on one machine begins with.
type Init struct {
	Run, Head seedlog.Link  // the run that the weights are of, and its entry
	Weights   *evolve.State // parameters, and the slots that their policy needs; others are ignored; read-only
}

// weightsFor picks what a run of plan begins with from w. The error wraps ErrInit and says what does not fit.
func (i *Init) weightsFor(plan rollout.Plan) (*evolve.State, error) {
	shape := plan.Weights()
	if got := len(i.Weights.Theta); got != shape.Dim {
		return nil, fmt.Errorf("%w: they have %d parameters, the policy has %d", ErrInit, got, shape.Dim)
	}
	w := &evolve.State{Theta: i.Weights.Theta}
	for _, want := range shape.Slots {
		slot := i.Weights.Slot(want.Name)
		if slot == nil {
			return nil, fmt.Errorf("%w: they have no %s, which this normalization of observations needs", ErrInit, want.Name)
		}
		w.Slots = append(w.Slots, *slot)
	}
	if err := shape.Check(w); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInit, err)
	}
	return w, nil
}
