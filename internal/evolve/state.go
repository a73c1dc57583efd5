package evolve

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Limits of a state.
const (
	// MaxDim is the largest length of theta: that of policy.MaxDim.
	MaxDim = 16 << 20
	// MaxSlots is the largest number of slots.
	MaxSlots = 8
	// MaxSlotName is the largest length of a slot's name.
	MaxSlotName = 32
)

// ErrState is wrapped by every error about a state.
var ErrState = errors.New("evolve: bad state")

// State is everything that a run knows after a generation.
type State struct {
	// Gen counts the updates made; 0 is the initial theta.
	Gen uint64
	// Theta are the parameters of the mean policy.
	Theta []float32
	// Slots hold what the strategy remembers beside theta, in an order that the
	// strategy fixes.
	Slots []Slot
}

// Slot is a named vector of a state, such as one of Adam's moments.
type Slot struct {
	// Name has 1 to MaxSlotName letters a-z, digits, '-', '.' or '/'.
	Name string
	// Values has 0 to MaxDim finite values.
	Values []float32
}

// Clone returns a copy that shares no memory with s.
func (s *State) Clone() *State {
	c := &State{Gen: s.Gen, Theta: append([]float32(nil), s.Theta...)}
	for _, slot := range s.Slots {
		c.Slots = append(c.Slots, Slot{slot.Name, append([]float32(nil), slot.Values...)})
	}
	return c
}

// ThetaDigest returns SHA-256 over "evoswarm/theta/1", the length of theta as
// little-endian uint64 and the little-endian bits of its values. Canonical.
func (s *State) ThetaDigest() [32]byte {
	b := make([]byte, 0, len(thetaTag)+8+4*len(s.Theta))
	b = append(b, thetaTag...)
	b = binary.LittleEndian.AppendUint64(b, uint64(len(s.Theta)))
	return sha256.Sum256(appendFloats(b, s.Theta))
}

// Digest returns SHA-256 over the bytes of MarshalBinary, which begin with
// "evoswarm/state/1". Canonical.
func (s *State) Digest() [32]byte { return sha256.Sum256(s.append(nil)) }

// shape returns an error that wraps ErrState unless theta and the slots have the
// lengths and names given, slot by slot.
func (s *State) shape(dim int, names ...string) error {
	if len(s.Theta) != dim {
		return fmt.Errorf("%w: theta has %d values, want %d", ErrState, len(s.Theta), dim)
	}
	if len(s.Slots) != len(names) {
		return fmt.Errorf("%w: %d slots, want %d", ErrState, len(s.Slots), len(names))
	}
	for i, name := range names {
		slot := &s.Slots[i]
		if slot.Name != name || len(slot.Values) != dim {
			return fmt.Errorf("%w: slot %d is %q with %d values, want %q with %d",
				ErrState, i, slot.Name, len(slot.Values), name, dim)
		}
	}
	return nil
}

// appendFloats appends the little-endian bits of x to b.
func appendFloats(b []byte, x []float32) []byte {
	for _, v := range x {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	return b
}
