package seedlog

import (
	"runtime"
	"testing"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/golden"
	"github.com/evoswarm/evoswarm/internal/kernel"
	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

// TestGoldenHundred trains 100 generations with each kernel of the machine and several numbers of workers: one head,
// on every target. Candidates have more episodes than one, which run side by side.
func TestGoldenHundred(t *testing.T) {
	defer kernel.Use(kernel.Active())
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	numbers := []int{1, 2, 3, 7}
	if golden.Foreign() {
		numbers = []int{3} // which goroutine computes what is Go's doing, not the target's
	}
	for _, run := range []struct {
		strategy string
		policy   policy.Spec
		episodes Episodes
		observe  *rollout.Observations
	}{
		{"openai-es", policy.Spec{Kind: "mlp", Hidden: []uint64{20, 9}, Activation: "tanh", Bias: true, Head: "argmax"},
			Episodes{Count: 3, Conditions: rollout.Conditions{Skip: 8}}, &rollout.Observations{Kind: rollout.Running, Episodes: 2, Clip: 5}},
		{"dises", policy.Spec{Kind: "mlp", Hidden: []uint64{17}, Activation: "relu", Bias: true, Head: "argmax", VBN: true},
			Episodes{Count: 1, Conditions: rollout.Conditions{Cap: 2}}, nil},
	} {
		rules := newRules(t, hundredSpec(t, run.strategy, run.policy, run.episodes, run.observe))
		for _, k := range kernel.All() {
			if err := kernel.Use(k.Name); err != nil {
				t.Fatal(err)
			}
			for _, workers := range numbers {
				runtime.GOMAXPROCS(workers)
				head := headAfter(t, rules, rollout.NewPool(rules.Plan, workers), 100)
				if golden.Check(t, "hundred/"+run.strategy, head.Bytes()); t.Failed() {
					t.Fatalf("with kernel %s and %d workers", k.Name, workers)
				}
			}
		}
	}
}

func hundredSpec(t *testing.T, strategy string, pol policy.Spec, episodes Episodes, observe *rollout.Observations) *Spec {
	t.Helper()
	method, err := evolve.Find(strategy)
	if err != nil {
		t.Fatal(err)
	}
	params, err := method.Complete(nil)
	if err != nil {
		t.Fatal(err)
	}
	spec := newSpec(t, "dises")
	spec.Strategy = StrategyRef{Name: method.Name, Revision: method.Revision, Params: params}
	spec.Policy, spec.Episodes, spec.Observations = pol, episodes, observe
	spec.Generation = Generation{Evaluations: 8, Chunk: 4, Quota: 2, WeightSteps: 1 << 20}
	origin := PeerOf(SoloKey(spec))
	spec.Origin = origin[:]
	return spec
}

// headAfter runs n generations on pool and returns the last entry's link.
func headAfter(t *testing.T, rules *Rules, pool *rollout.Pool, n int) Link {
	t.Helper()
	key := SoloKey(rules.Spec)
	parent, state := Parent{Link: rules.Run}, rules.Initial()
	for range n {
		claims, err := rules.Measure(pool, state, parent.Link, key, rules.Spec.Generation.Evaluations/rules.EvaluationsPerChunk(), nil)
		if err != nil {
			t.Fatal(err)
		}
		entry, next := rules.NewEntry(state, parent, 1, rules.Origin, claims)
		_, link := entry.Encode()
		parent, state = Parent{Link: link, Height: entry.Height, Term: 1}, next
	}
	return parent.Link
}
