// Package step holds step code outside the kernel subset.
package step

import (
	"strconv"

	"github.com/evoswarm/evoswarm/internal/exact"
	"github.com/evoswarm/evoswarm/internal/kernel"
	"github.com/evoswarm/evoswarm/internal/noise"
)

// State is not flat.
type State struct {
	X     float64
	Draws noise.Stream // flat, so fine
	Next  *State       // want: pointer
	Names []int32      // want: slice
	Deep  [2]struct {  // want: map
		M map[int32]bool
	}
	Small uint8  // want: uint8
	F     func() // want: func
}

type list[T any] struct{ v T } // want: generic

type any1 interface{ M() } // want: interface

var good = [2]float64{1, 2}

var changed = [2]float64{1, 2} // want: changed

var scalar = 1.0 // want: scalar

var computed = [1]float64{exact.Sqrt(2)} // want: computed

func pick[T any](x T) T { // want: generic
	return x
}

func init() { // want: init
}

// Step breaks one rule a line.
func Step(s *State, act []float32, obs []float32) float64 {
	f := func() {}          // want: step code
	f()                     // want: function value f
	g := helper             // want: step code
	_ = g                   //
	defer helper(1)         // want: defer
	go helper(1)            // want: go
	b := make([]float32, 2) // want: builtin make
	b = append(b, 1)        // want: builtin append
	p := new(State)         // want: step code
	p = &State{}            // want: address of a literal
	c := []float32{1}       // want: allocates
	m := map[int32]bool{}   // want: step code
	name := strconv.Itoa(1) // want: step code
	for {                   // want: without a condition
		break
	}
	var i any = s          // want: interface
	_ = i.(*State)         // want: interface
	s.X += scalar          // want: scalar
	s.X += changed[0]      // want: changed
	changed[1] = s.X       // want: changed
	kernel.Use("portable") // want: step code
	outside()              // want: not in a step file
	panic(1)               // want: builtin panic
	goto end               // want: goto
end:
	select {}                   // want: select
	_ = []any{b, p, c, m, name} // want: allocates
	return good[0]
}

func helper(x float64) float64 {
	return exact.Sqrt(x)
}

func even(n int32) bool { // want: recursion
	return n == 0 || odd(n-1)
}

func odd(n int32) bool { // want: recursion
	return n != 0 && even(n-1)
}
