// Package refused is code that the translator must refuse: the marks say with which words.
package refused

import (
	"math"
	"strconv"

	"github.com/evoswarm/evoswarm/internal/kernel"
	"github.com/evoswarm/evoswarm/internal/noise"
)

type counter struct {
	n    int32
	list [4]int32
}

func (c *counter) next() int32 {
	c.n++
	return c.n
}

func (c *counter) peek() int32 { return c.n }

func pair(a, b int32) int32 { return a - b }

func two(c *counter) (a, b int32) { return c.n, c.n }

// Order has what C, or Go itself, does not put in order.
func Order(c *counter, rng *noise.Stream, x []int32) int32 {
	a := pair(c.next(), c.next())                // want: two calls in one statement, of which one writes: next and next
	b := c.peek() + c.next()                     // want: two calls in one statement, of which one writes: peek and next
	d := c.n + c.next()                          // want: c.n is read next to a call that writes: next
	c.n += c.next()                              // want: c.n is read next to a call that writes: next
	x[c.n] = c.next()                            // want: c.n is read next to a call that writes: next
	e := rng.Uniform() - rng.Uniform()           // want: two calls in one statement, of which one writes: Uniform and Uniform
	list := [2]int32{c.next(), c.next()}         // want: two calls in one statement, of which one writes: next and next
	f, g := c.next(), c.n                        // want: c.n is read next to a call that writes: next
	if c.next() > 3 && c.next() > c.n+c.next() { // want: two calls in one statement, of which one writes: next and next
		return c.n
	}
	var own counter
	h := own.n + own.next() // want: own.n is read next to a call that writes: next
	// All of these are in order.
	if c.n > 3 && c.next() > 3 || c.next() > c.peek()-9 { // want: two calls in one statement, of which one writes: next and peek
		a++
	}
	if c.next() > 3 && c.n > 3 {
		a++
	}
	a = pair(c.next(), a)
	x[a] = c.next()
	c.n = c.next()
	return a + b + d + int32(e) + list[0] + f + g + h
}

// Places assigns what depends on the same statement.
func Places(c *counter, x []int32) {
	i := int32(0)
	x[c.next()]++                              // want: a call that writes, next, in a place that is read and written
	x[c.next()] += 2                           // want: a call that writes, next, in a place that is read and written
	i, x[i] = 1, 2                             // want: the place x[i] depends on a variable that the same statement assigns
	c.n, x[c.n] = 1, 2                         // want: has an index that is read from memory
	for i, j := 0, 9; i < j; i, j = i+1, j-1 { // want: post statement of more than one assignment
		x[i] = x[j]
	}
}

func even(n int32) bool { // want: recursion through even
	return n == 0 || odd(n-1)
}

func odd(n int32) bool {
	return n != 0 && even(n-1)
}

func wide(n int32) int32 { // want: stack: the variables of wide take
	var room [5000]int32
	room[n] = n
	return room[n/2]
}

func half(n int32) int32 {
	var room [3000]int32
	room[n] = n
	return room[n/2]
}

func both(n int32) int32 { // want: together more than 16384
	var room [3000]int32
	room[n] = half(n)
	return room[n/2]
}

var scale = 1.5

var computed = [1]float64{math.Sqrt(2)} // want: no literal

type node struct {
	next *node
}

// Rest has the other constructs.
func Rest(c *counter, x []int32, other counter, rng *noise.Stream, weights []float32) float64 {
	if *c == other { // want: comparison of
		return 0
	}
	if x == nil { // want: comparison of
		return 0
	}
	y := math.Sin(1)      // want: math.Sin is not the same on every target
	y += scale            // want: package-level variable scale
	y += computed[0]      //
	s := strconv.Itoa(1)  // want: call of strconv.Itoa, which is not in this module
	f := func() {}        // want: closure
	f()                   // want: call of a function value
	g := pair             // want: function value pair
	x = append(x, 1)      // want: builtin append
	z := make([]int32, 1) // want: builtin make
	p := &counter{}       // want: address of a literal
	q := []int32{1}       // want: literal of type []int32
	for {                 // want: for without a condition
	}
	defer pair(1, 2) // want: defer
	goto end         // want: goto
end: // want: a label
	panic(s)
	kernel.Dense(weights, weights, nil, nil) // nil is an empty slice
	for i := 0; i < 3; i++ {                 // want: the address of the loop variable i is taken
		keep(&i)
	}
	return y + float64(g(1, 2)+z[0]+p.n+q[0]+int32(uint8(3)/uint8(c.n))) // want: call of a function value
}

func keep(p *int) { *p++ }

// Stored has a pointer in a struct.
func Stored(n node) bool { // want: field next
	return n.next == nil // want: comparison of
}

// Generic is generic.
func Generic[T any](x T) {} // want: generic

// Variadic is variadic.
func Variadic(x ...int32) {} // want: variadic
