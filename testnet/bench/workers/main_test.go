package main

import (
	"slices"
	"testing"

	"github.com/evoswarm/evoswarm/internal/runspec"
)

// TestWorkersLearn: workers solve CartPole-v1 in either way, and the same seed gives the same run.
func TestWorkersLearn(t *testing.T) {
	for _, wait := range []bool{false, true} {
		learn := func() (tests []test) {
			rules, err := runspec.New(runspec.Options{Env: "CartPole-v1", Seed: 3000, Nonce: [16]byte{1}})
			if err != nil {
				t.Fatal(err)
			}
			l := newLearner(rules, 3000)
			l.told = func(x test) { tests = append(tests, x) }
			over := func(now float64) bool { return l.solved || now >= 60 }
			p := peers{size: 16, step: 0.001, every: 0.25, way: 0.1}
			if wait {
				p.together(l, over)
			} else {
				p.apart(l, over)
			}
			if !l.solved {
				t.Errorf("wait %t: not solved after %d updates", wait, l.newest.Gen)
			}
			return tests
		}
		first := learn()
		if again := learn(); !slices.Equal(first, again) {
			t.Errorf("wait %t: the same seed gave %v, then %v", wait, first, again)
		}
		if late := slices.ContainsFunc(first, func(x test) bool { return x.age > 0 }); late == wait {
			t.Errorf("wait %t: results of earlier states: %t", wait, late)
		}
	}
}
