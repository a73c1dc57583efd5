package seedlog

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

// newSuccessor returns the rules of a run that starts from weights, enough of them for two blocks if large.
func newSuccessor(t testing.TB, large bool) (*Rules, *evolve.State) {
	t.Helper()
	spec := newSpec(t, "openai-es")
	if large {
		spec.Policy = policy.Spec{Kind: "mlp", Hidden: []uint64{3000}, Activation: "tanh", Bias: true, Head: "argmax"}
	}
	spec.Observations = &rollout.Observations{Kind: rollout.Frozen, Steps: 100, Clip: 5}
	plan, err := rollout.NewPlan(spec.Setup())
	if err != nil {
		t.Fatal(err)
	}
	weights := plan.Weights().State(make([]float32, plan.Policy.Dim()))
	for i := range weights.Theta {
		weights.Theta[i] = float32(i%17) / 8
	}
	for i := range weights.Slots[1].Values {
		weights.Slots[1].Values[i] = 2
	}
	digest := weights.Digest()
	spec.Successor = &Successor{Run: LinkOf([]byte{1}), Head: LinkOf([]byte{2}), State: digest[:]}
	origin := PeerOf(SoloKey(spec))
	spec.Origin = origin[:]
	r, err := NewSuccessor(spec, weights)
	if err != nil {
		t.Fatal(err)
	}
	return r, weights
}

func TestSuccessorGoesOnFromWeights(t *testing.T) {
	for _, large := range []bool{false, true} {
		rules, weights := newSuccessor(t, large)
		if first := rules.Initial(); !slices.Equal(first.Theta, weights.Theta) || !slices.Equal(first.Slot("obs/std").Values, weights.Slots[1].Values) {
			t.Errorf("the first state is not of the weights")
		}
		chain, state := newChain(t, rules, 2)
		log := rules.AppendBeginning(nil)
		for _, g := range chain {
			log = AppendGeneration(log, g.entry, g.seal, g.claims)
		}
		r, err := Replay(bytes.NewReader(log), ReplayOptions{Check: CheckClaims})
		if err != nil {
			t.Fatal(err)
		}
		if r.State.Digest() != state.Digest() || r.Rules.Run != rules.Run {
			t.Errorf("replay gave another state or run")
		}
		// Any flipped bit of the beginning is found, and any cut.
		beginning := len(rules.AppendBeginning(nil))
		for at := headerLen; at < beginning; at += 1 + beginning/50 {
			damaged := slices.Clone(log)
			damaged[at] ^= 4
			if _, err := Replay(bytes.NewReader(damaged), ReplayOptions{Check: CheckLinks}); err == nil {
				t.Errorf("a flipped bit at %d of %d was not found", at, beginning)
			}
			if _, err := Replay(bytes.NewReader(log[:at]), ReplayOptions{}); !errors.Is(err, ErrTorn) {
				t.Errorf("cut at %d: %v, want ErrTorn", at, err)
			}
		}
	}
}

func TestSuccessorRefuses(t *testing.T) {
	rules, weights := newSuccessor(t, false)
	if _, err := NewRules(rules.Spec); !errors.Is(err, ErrWeights) {
		t.Errorf("without weights: %v, want ErrWeights", err)
	}
	other := weights.Clone()
	other.Theta[0]++
	if _, err := NewSuccessor(rules.Spec, other); !errors.Is(err, ErrWeights) {
		t.Errorf("other weights: %v, want ErrWeights", err)
	}
	short := weights.Clone()
	short.Slots = short.Slots[:1]
	if _, err := NewSuccessor(rules.Spec, short); !errors.Is(err, ErrWeights) {
		t.Errorf("weights without statistics: %v, want ErrWeights", err)
	}
	if _, err := NewSuccessor(newSpec(t, "dises"), weights); !errors.Is(err, ErrWeights) {
		t.Errorf("a spec without a predecessor: %v, want ErrWeights", err)
	}
}
