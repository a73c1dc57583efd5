// Package bound takes an interface in whose place a world is put.
package bound

// Env is the interface.
type Env interface {
	Reset() int32
	Step(x int32) int32
	Other()
}

// State is the world.
type State struct{ n int32 }

// Begin resets.
func (s *State) Begin() int32 { s.n = 0; return 0 }

// Act steps.
func (s *State) Act(x int32) int32 { s.n += x; return s.n }

// Play is fine.
func Play(list []Env, x int32) int32 {
	sum := int32(0)
	for i := range list {
		e := list[i]
		e.Reset()
		sum += advance(e, x)
	}
	return sum
}

func advance(e Env, x int32) int32 { return e.Step(x) }

// Swap is refused: the elements are states.
func Swap(list []Env) {
	list[0] = list[1]        // want: assignment to an element of []
	for _, e := range list { // want: range over the values of []
		e.Other() // want: call through an interface: Other
	}
	list[0].Other() // want: call through an interface: Other
}

type keeper struct{ e Env }

// Unbound has no world.
func Unbound(x int32) int32 {
	var k keeper // want: field e
	_ = k
	return advance(nil, x) // want: where no world is bound
}
