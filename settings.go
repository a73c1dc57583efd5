package evoswarm

import (
	"errors"
	"fmt"
	"math"
	"reflect"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/internal/runspec"
)

// Params holds settings of a strategy by name, such as {"sigma": 0.1, "optimizer": "adam"}: numbers of any type, and
// strings. Settings that are left out have their defaults; [Strategies] lists them all.
type Params map[string]any

// Policy says how observations become actions. As part of Options, what is zero or nil is the preset's. Here as in the
// structures below, tags name the flags of the command, whose help and ranges hold for the fields too.
type Policy struct {
	Kind       string `setting:"policy"`     // "linear", or "mlp": a multilayer perceptron
	Hidden     []int  `setting:"hidden"`     // widths of the hidden layers of an mlp
	Activation string `setting:"activation"` // after each hidden layer: "tanh" or "relu"
	Bias       *bool  `setting:"bias"`       // whether layers have a bias
	Head       string `setting:"head"`       // "argmax" for discrete actions; "clip" or "bins" for real ones
	Bins       int    `setting:"bins"`       // values that a bins head chooses from in each dimension
	VBN        *bool  `setting:"vbn"`        // virtual batch normalization of the hidden units of an mlp with biases
}

// Episodes say how candidates are evaluated. As part of Options, what is zero or nil is the preset's.
type Episodes struct {
	// Count is the number of episodes of each evaluation; its fitness is their mean return.
	Count int `setting:"episodes"`
	// Shared says whether all candidates of a generation meet the same episodes.
	Shared *bool `setting:"shared"`
	// ActionNoise is the standard deviation of the Gaussian noise that is added to real actions, in training only.
	ActionNoise *float64 `setting:"action-noise"`
	// SubtractAliveBonus is subtracted from the reward of each step, such as a reward for staying alive, in
	// training only.
	SubtractAliveBonus *float64 `setting:"subtract-alive-bonus"`
	// MaxPenalty bounds what a step can cost: a reward below -MaxPenalty counts as -MaxPenalty, in training
	// only; 0: no bound.
	MaxPenalty *float64 `setting:"max-penalty"`
	// Cap ends an episode after so many times the running mean of their lengths, in training only; 0: never.
	Cap *float64 `setting:"cap"`
	// Horizon ends an episode after so many steps, in training only; 0: never.
	Horizon *int `setting:"horizon"`
	// HorizonGrowth is by how many steps the horizon grows in each generation.
	HorizonGrowth *float64 `setting:"horizon-growth"`
	// FrameSkip is the number of steps that each action is held for.
	FrameSkip int `setting:"frame-skip"`
	// Observations says how observations are normalized.
	Observations Observations
}

// Observations says how observations are normalized before the policy sees them: (x - mean) / std, held to ±Clip.
type Observations struct {
	// Kind is where mean and standard deviation come from: "frozen", from a random policy before training;
	// "running", from episodes of the mean policy so far; or "none".
	Kind     string  `setting:"observations"`
	Steps    int     `setting:"observe-steps"`    // observations that frozen statistics are taken from; 0: the preset's, or 10,000
	Episodes int     `setting:"observe-episodes"` // that each generation adds to running statistics; 0: the preset's, or 1
	Clip     float64 `setting:"observe-clip"`     // 0: the preset's, or 10
}

// policyOf describes the policy of a run.
func policyOf(s policy.Spec) (p Policy) {
	fill(&p, runspec.PolicySettings(s))
	return p
}

// eachSetting calls f for each field of v, and of the structures in it, that is a setting of runs, with the
// setting's name.
func eachSetting(v reflect.Value, f func(name string, field reflect.Value)) {
	for i := range v.NumField() {
		field := v.Field(i)
		if name := v.Type().Field(i).Tag.Get("setting"); name != "" {
			f(name, field)
		} else if field.Kind() == reflect.Struct {
			eachSetting(field, f)
		}
	}
}

// settings returns the settings of runs that are not zero in from, a structure.
func settings(from any) runspec.Settings {
	all := runspec.Settings{}
	eachSetting(reflect.ValueOf(from), func(name string, field reflect.Value) {
		empty := field.Kind() == reflect.Slice && field.Len() == 0
		if !field.IsZero() && !empty {
			all[name] = asked(reflect.Indirect(field))
		}
	})
	return all
}

// asked returns a field's value with the type that settings of runs have; a number below 0 stays an int,
// which they refuse.
func asked(v reflect.Value) any {
	switch x := v.Interface().(type) {
	case int:
		if x >= 0 {
			return uint64(x)
		}
	case []int:
		all := make([]uint64, len(x))
		for i, n := range x {
			if n < 0 {
				return x
			}
			all[i] = uint64(n)
		}
		return all
	}
	return v.Interface()
}

// fill sets those fields of to, a pointer to a structure, that all has values for.
func fill(to any, all runspec.Settings) {
	eachSetting(reflect.ValueOf(to).Elem(), func(name string, field reflect.Value) {
		v, ok := all[name]
		if !ok {
			return
		}
		if field.Kind() == reflect.Pointer {
			field.Set(reflect.New(field.Type().Elem()))
			field = field.Elem()
		}
		switch x := v.(type) {
		case uint64:
			field.SetInt(int64(x))
		case []uint64:
			for _, n := range x {
				field.Set(reflect.Append(field, reflect.ValueOf(int(n))))
			}
		default:
			field.Set(reflect.ValueOf(x))
		}
	})
}

// evolve returns p with all numbers as float64.
func (p Params) evolve() (evolve.Params, error) {
	q := evolve.Params{}
	for name, value := range p {
		x, err := param(value)
		if err != nil {
			return nil, fmt.Errorf("%w: %s is %w", ErrParams, name, err)
		}
		q[name] = x
	}
	return q, nil
}

// world returns p as parameters of an environment.
func (p Params) world() (envs.Params, error) {
	q := envs.Params{}
	for name, value := range p {
		if on, ok := value.(bool); ok {
			if q[name] = 0; on {
				q[name] = 1
			}
			continue
		}
		x, err := param(value)
		number, ok := x.(float64)
		if err != nil || !ok {
			return nil, fmt.Errorf("%w: %s is %v, want a number or a bool", ErrEnvParams, name, value)
		}
		q[name] = number
	}
	return q, nil
}

// param returns value as a float64 or a string.
func param(value any) (any, error) {
	v := reflect.ValueOf(value)
	switch {
	case value == nil:
		return nil, errors.New("nil, want a number or a string")
	case v.Kind() == reflect.String:
		return v.String(), nil
	case v.CanInt():
		return float64(v.Int()), nil
	case v.CanUint():
		return float64(v.Uint()), nil
	case v.CanFloat():
		x := v.Float()
		if v.Kind() == reflect.Float32 {
			// 0.1 as float32 means 0.1, not the 0.10000000149 that it is.
			if _, err := fmt.Sscan(fmt.Sprint(float32(x)), &x); err != nil {
				return nil, fmt.Errorf("%v: %w", value, err)
			}
		}
		if x == 0 {
			x = math.Abs(x) // a spec has no -0
		}
		return x, nil
	}
	return nil, fmt.Errorf("a %T, want a number or a string", value)
}
