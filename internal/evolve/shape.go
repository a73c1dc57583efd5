package evolve

import "fmt"

// Kind is the type of a slot's values.
type Kind uint8

// The kinds of slots.
const (
	Float32 Kind = iota // Slot.Values
	Float64             // Slot.Reals
	Uint64              // Slot.Words
)

// String returns the name of the Go type.
func (k Kind) String() string { return [...]string{"float32", "float64", "uint64"}[k] }

// size returns the length of one value [bytes].
func (k Kind) size() int {
	if k == Float32 {
		return 4
	}
	return 8
}

// AnyLen is the Len of a slot whose length varies from generation to generation.
const AnyLen = -1

// SlotShape is the name, type and length of a slot.
type SlotShape struct {
	Name string
	Kind Kind
	Len  int // or AnyLen
}

// Shape is the layout that all states of a strategy share.
type Shape struct {
	Dim   int         // length of theta
	Slots []SlotShape // in the order of State.Slots
}

// State returns the state of generation 0 with parameters theta and all slots zero. It takes ownership of
// theta and panics unless its length is Dim.
func (sh Shape) State(theta []float32) *State {
	if len(theta) != sh.Dim {
		panic(fmt.Sprintf("evolve: theta has %d values, want %d", len(theta), sh.Dim))
	}
	s := &State{Theta: theta}
	for _, slot := range sh.Slots {
		s.Slots = append(s.Slots, slot.zero())
	}
	return s
}

func (sh SlotShape) zero() Slot {
	n := max(sh.Len, 0)
	switch sh.Kind {
	case Float64:
		return Slot{Name: sh.Name, Reals: make([]float64, n)}
	case Uint64:
		return Slot{Name: sh.Name, Words: make([]uint64, n)}
	}
	return Slot{Name: sh.Name, Values: make([]float32, n)}
}

// Check returns an error that wraps ErrState unless s has this shape and its values are finite. States from
// other peers must pass it before use.
func (sh Shape) Check(s *State) error {
	if len(s.Theta) != sh.Dim {
		return fmt.Errorf("%w: theta has %d values, want %d", ErrState, len(s.Theta), sh.Dim)
	}
	if len(s.Slots) != len(sh.Slots) {
		return fmt.Errorf("%w: %d slots, want %d", ErrState, len(s.Slots), len(sh.Slots))
	}
	for i, want := range sh.Slots {
		slot := &s.Slots[i]
		length := slot.len()
		if slot.Name != want.Name || length > 0 && slot.kind() != want.Kind || want.Len != AnyLen && length != want.Len {
			return fmt.Errorf("%w: slot %d is %q with %d values of type %v, want %q with %d of type %v",
				ErrState, i, slot.Name, length, slot.kind(), want.Name, want.Len, want.Kind)
		}
	}
	return s.check()
}

// Bytes returns the memory that a state of this shape takes [bytes], not counting slots of length AnyLen.
func (sh Shape) Bytes() int64 {
	n := 4 * int64(sh.Dim)
	for _, slot := range sh.Slots {
		n += int64(max(slot.Len, 0)) * int64(slot.Kind.size())
	}
	return n
}
