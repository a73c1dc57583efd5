//go:build !js

package peer_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/peer"
)

// counting counts the held-out evaluations that it is asked for.
type counting struct {
	*peer.PoolEvaluator
	validated *atomic.Int64
}

func (c counting) Validate(state *evolve.State, seeds []uint64, urgent bool, done func([]float64, error)) {
	c.validated.Add(1)
	c.PoolEvaluator.Validate(state, seeds, urgent, done)
}

// A paused peer spends nothing on held-out evaluations; one that is not begins with the head that it restored.
func TestPausedWithoutHeldOutEvaluations(t *testing.T) {
	for paused, want := range map[bool]int64{true: 0, false: 1} {
		var validated atomic.Int64
		m := join(t, cartPole(t), 1, func(c *peer.Config) {
			c.Paused = paused
			c.Evaluator = counting{c.Evaluator.(*peer.PoolEvaluator), &validated}
		})
		if err := m.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		if got := validated.Load(); min(got, 1) != want {
			t.Errorf("paused %t: %d held-out evaluations, want at least %d", paused, got, want)
		}
	}
}
