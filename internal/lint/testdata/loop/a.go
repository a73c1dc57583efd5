// Package loop computes where others wait.
package loop

import (
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// Fold is for the driver.
type Fold struct{}

// Task may take long.
func (*Fold) Task(r *seedlog.Rules, s *evolve.State) { r.Apply(s, seedlog.Link{}, nil) }

func step(r *seedlog.Rules, p rollout.Plan, s *evolve.State, f *Fold) {
	r.Apply(s, seedlog.Link{}, nil) // want: Apply in the loop
	p.Fold(rollout.Fold{})          // want: Fold in the loop
	apply := p.Apply                // want: Apply in the loop
	apply(s, nil, nil)
	_ = s.Digest() // want: Digest in the loop
	f.Task(r, s)   // want: Task is the driver's
}
