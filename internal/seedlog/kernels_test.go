package seedlog

import (
	"testing"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/golden"
	"github.com/evoswarm/evoswarm/internal/kernel"
	"github.com/evoswarm/evoswarm/internal/policy"
)

// A run of any strategy has one head with every kernel, on every target. The layers are such that they fill vectors and
// leave some rest.
func TestGoldenKernels(t *testing.T) {
	before := kernel.Active()
	defer func() {
		if err := kernel.Use(before); err != nil {
			t.Error(err)
		}
	}()
	const generations = 15
	actor := policy.Spec{Kind: "mlp", Hidden: []uint64{22}, Activation: "tanh", Bias: true, Head: "argmax"}
	for _, k := range kernel.All() {
		if err := kernel.Use(k.Name); err != nil {
			t.Fatal(err)
		}
		for _, method := range evolve.Methods() {
			t.Run(k.Name+"/"+method.Name, func(t *testing.T) {
				rules := newRules(t, strategySpec(t, method, actor))
				chain, _ := newChain(t, rules, generations)
				_, head := chain[generations-1].entry.Encode()
				golden.Check(t, "kernels/"+method.Name, head.Bytes())
			})
		}
	}
}
