package rollout_test

import (
	"testing"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

// TestStatesStayFinite drives every strategy with settings that overflow float32 and checks that each state can be
// written and read.
func TestStatesStayFinite(t *testing.T) {
	absurd := evolve.Params{"alpha": 1000.0, "l2": 1.0, "optimizer": "sgd", "sigma": 1000.0, "step": 1000.0, "sigma_alpha": 10.0, "shaping": "raw"}
	for _, m := range evolve.Methods() {
		params := evolve.Params{}
		for _, s := range m.Settings {
			if v, ok := absurd[s.Name]; ok {
				if x, number := v.(float64); number {
					v = min(x, s.Max)
				}
				params[s.Name] = v
			}
		}
		full, err := m.Complete(params)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := rollout.NewPlan(rollout.Setup{EnvID: "CartPole-v1", Policy: policy.Spec{Kind: "linear", Head: "argmax"}, Strategy: m.Name, Params: full, Population: 8})
		if err != nil {
			t.Fatal(err)
		}
		s := plan.Initial(1)
		for gen := range uint64(200) {
			results := make([]evolve.Result, 8)
			for i := range results {
				f := int64(1) << 61
				if (gen+uint64(i))%2 == 0 {
					f = -f
				}
				results[i] = evolve.Result{Seed: gen*8 + uint64(i), Fitness: [2]int64{f, -f}, Steps: 10}
			}
			s = plan.Apply(s, results, nil)
			if err := plan.Shape().Check(s); err != nil {
				t.Errorf("%s, generation %d: %v", m.Name, gen, err)
				break
			}
		}
	}
}
