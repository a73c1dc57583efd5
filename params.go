package evoswarm

import (
	"fmt"
	"math"
	"reflect"

	"github.com/evoswarm/evoswarm/internal/evolve"
)

// Params holds settings of a strategy by name, such as {"sigma": 0.1, "optimizer": "adam"}: numbers of any type, and
// strings. What is left out has its default; [Strategies] lists them all.
type Params map[string]any

// evolve returns p with all numbers as float64.
func (p Params) evolve() (evolve.Params, error) {
	q := evolve.Params{}
	for name, value := range p {
		x, err := setting(value)
		if err != nil {
			return nil, fmt.Errorf("%w: %s is %w", ErrParams, name, err)
		}
		q[name] = x
	}
	return q, nil
}

// setting returns value as a float64 or a string.
func setting(value any) (any, error) {
	v := reflect.ValueOf(value)
	switch {
	case value == nil:
		return nil, fmt.Errorf("nil, want a number or a string")
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
			x = math.Abs(x) // a spec knows no -0
		}
		return x, nil
	}
	return nil, fmt.Errorf("a %T, want a number or a string", value)
}

// params returns p as a caller's own.
func params(p evolve.Params) Params {
	q := Params{}
	for name, value := range p {
		q[name] = value
	}
	return q
}
