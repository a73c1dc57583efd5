// Package policy turns observations into actions: linear maps and multilayer
// perceptrons over one flat float32 parameter vector.
//
// Floor 1, environments: floors 1 to 6 import it.
//
// A policy is stateless. Its parameters theta belong to the caller, who can perturb, average and store them
// without knowing what they mean; [Policy.Layout] tells. docs/spec/policy.md specifies the layout, the heads
// and their tie-breaking.
//
// # Determinism
//
// Act and Init are bit exact: the same bits on every target.
package policy

import (
	"errors"
	"fmt"

	"github.com/evoswarm/evoswarm/envs"
)

// Limits of a policy.
const (
	// MaxHidden is the largest number of hidden layers.
	MaxHidden = maxLayers - 1
	// MaxWidth is the largest width of a hidden layer.
	MaxWidth = 4096
	// MaxBins is the largest number of values that a bins head can choose from.
	MaxBins = 256
	// MaxDim is the largest number of parameters.
	MaxDim = 16 << 20
)

// ErrSpec is wrapped by every error about a Spec. The message names the field, the value and what is allowed.
var ErrSpec = errors.New("policy: bad spec")

// Spec describes a policy. Together with the environment it determines the layout of theta. It is part of a
// run's genesis block, so it has no defaults.
type Spec struct {
	// Kind is "linear" or "mlp".
	Kind string `cbor:"kind" json:"kind"`
	// Hidden holds the widths of the hidden layers, each 1 to MaxWidth: none for "linear", 1 to MaxHidden of
	// them for "mlp".
	Hidden []uint64 `cbor:"hidden" json:"hidden"`
	// Activation follows each hidden layer: "tanh" or "relu" for "mlp", "" for "linear".
	Activation string `cbor:"activation" json:"activation"`
	// Bias gives every layer a bias.
	Bias bool `cbor:"bias" json:"bias"`
	// Head turns outputs into an action: "argmax" for discrete actions, "clip" or "bins" for continuous ones.
	Head string `cbor:"head" json:"head"`
	// Bins is the number of evenly spaced values per action dimension from which a bins head chooses, 2 to
	// MaxBins; 0 for other heads.
	Bins uint64 `cbor:"bins" json:"bins"`
	// VBN selects virtual batch normalization: the input of every hidden activation is normalized by its mean
	// and variance over a reference batch (Policy.Fold). It requires an mlp with biases.
	VBN bool `cbor:"vbn,omitempty" json:"vbn,omitempty"`
}

// outputs returns the number of outputs of s in env.
func (s *Spec) outputs(env *envs.Spec) int {
	switch s.Head {
	case "argmax":
		return env.Action.N
	case "bins":
		return env.Action.Dim * int(s.Bins)
	}
	return env.Action.Dim
}

// check returns an error that wraps ErrSpec unless s is a policy for env.
func (s *Spec) check(env *envs.Spec) error {
	switch s.Kind {
	case "linear":
		if len(s.Hidden) != 0 {
			return fault("hidden", s.Hidden, "none for a linear policy")
		}
		if s.Activation != "" {
			return fault("activation", s.Activation, `"" for a linear policy`)
		}
	case "mlp":
		if err := s.checkHidden(); err != nil {
			return err
		}
	default:
		return fault("kind", s.Kind, `"linear" and "mlp"`)
	}
	if s.VBN && (s.Kind != "mlp" || !s.Bias) {
		return fault("vbn", s.VBN, "false, unless the policy is an mlp with biases: virtual batch normalization applies to hidden units and is folded into their biases")
	}
	return s.checkHead(env)
}

// checkHidden checks the hidden layers of an mlp.
func (s *Spec) checkHidden() error {
	if n := len(s.Hidden); n == 0 || n > MaxHidden {
		return fault("hidden", s.Hidden, fmt.Sprintf("1 to %d layers", MaxHidden))
	}
	for i, w := range s.Hidden {
		if w == 0 || w > MaxWidth {
			return fault(fmt.Sprintf("hidden[%d]", i), w, fmt.Sprintf("1 to %d", MaxWidth))
		}
	}
	if s.Activation != "tanh" && s.Activation != "relu" {
		return fault("activation", s.Activation, `"tanh" and "relu"`)
	}
	return nil
}

// checkHead checks that the head fits the actions of env.
func (s *Spec) checkHead(env *envs.Spec) error {
	switch {
	case env.Action.Discrete && s.Head != "argmax":
		return fault("head", s.Head, `"argmax" for the discrete actions of `+env.ID)
	case !env.Action.Discrete && s.Head != "bins" && s.Head != "clip":
		return fault("head", s.Head, `"bins" and "clip" for the real actions of `+env.ID)
	case s.Head == "bins" && (s.Bins < 2 || s.Bins > MaxBins):
		return fault("bins", s.Bins, fmt.Sprintf("2 to %d", MaxBins))
	case s.Head != "bins" && s.Bins != 0:
		return fault("bins", s.Bins, "0 without a bins head")
	}
	return nil
}

// fault returns the error for a field with an invalid value.
func fault(field string, value any, allowed string) error {
	return fmt.Errorf("%w: %s is %#v; allowed: %s", ErrSpec, field, value, allowed)
}
