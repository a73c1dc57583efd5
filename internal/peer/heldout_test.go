//go:build !js

package peer_test

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/peer"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// timed has held-out evaluations take a time, and notes when those began that go before candidates, and how many others
// did.
type timed struct {
	*peer.PoolEvaluator
	takes time.Duration

	mu     sync.Mutex
	begun  []time.Time
	others int
}

func (e *timed) Validate(state *evolve.State, seeds []uint64, urgent bool, done func([]float64, error)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if urgent {
		e.begun = append(e.begun, time.Now())
	} else {
		e.others++
	}
	e.PoolEvaluator.Validate(state, seeds, urgent, func(returns []float64, err error) {
		time.AfterFunc(e.takes, func() { done(returns, err) })
	})
}

// A leader's held-out evaluations go before its candidates, and take a ninth of its time at most.
func TestLeadersHeldOutEvaluations(t *testing.T) {
	const takes, want = 100 * time.Millisecond, 3
	e := &timed{takes: takes}
	m := join(t, cartPole(t), 1, func(c *peer.Config) {
		e.PoolEvaluator = c.Evaluator.(*peer.PoolEvaluator)
		c.Evaluator = e
	})
	until(t, "it has evaluated its states", m, func(peer.Status) bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		return len(e.begun) >= want
	})
	if err := m.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for i, at := range e.begun[1:] {
		if after := at.Sub(e.begun[i]); after < 9*takes {
			t.Errorf("one that takes %v began %v after the one before", takes, after)
		}
	}
	if e.others > 1 {
		t.Errorf("%d of a leader's evaluations wait for candidates, want at most the first, before it leads", e.others)
	}
}

// A run that ended shows the return of the state that passed, to the peer that led it and to one that joins later.
func TestSolvedRunShowsItsTest(t *testing.T) {
	rules := cartPoleWith(t, func(s *seedlog.Spec) {
		s.Format, s.Generation.Duration = seedlog.Format2, 50
		s.SpotChecks, s.Until = &seedlog.SpotChecks{First: 4, Share: 32}, &seedlog.Until{Solved: true}
	})
	first := join(t, rules, 1, nil)
	solved := func(s peer.Status) bool {
		return s.State == peer.Solved && s.ReturnHeight == s.SolvedHeight && s.Return != nil && *s.Return >= rules.Env.SolvedReturn
	}
	led := until(t, "the run ends", first, solved)
	late := until(t, "who joins has run the test", join(t, rules, 2, nil, first), solved)
	if *led.Return != *late.Return || led.ReturnHeight != late.ReturnHeight {
		t.Errorf("a return of %v at %d, for who joins later %v at %d", *led.Return, led.ReturnHeight, *late.Return, late.ReturnHeight)
	}
	curve := first.Curve()
	if !slices.IsSortedFunc(curve, func(a, b peer.Point) int { return cmp.Compare(a.Height, b.Height) }) {
		t.Errorf("the learning curve is %+v", curve)
	}
}
