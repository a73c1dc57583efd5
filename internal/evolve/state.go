package evolve

import (
	"encoding/binary"
	"errors"
	"slices"
)

// Limits of a state.
const (
	// MaxDim is the largest length of theta, equal to policy.MaxDim.
	MaxDim = 16 << 20
	// MaxSlots is the largest number of slots.
	MaxSlots = 24
	// MaxSlotName is the largest length of a slot's name.
	MaxSlotName = 32
)

// ErrState is wrapped by every error about a state.
var ErrState = errors.New("evolve: bad state")

// State is everything that a run carries from one generation to the next.
type State struct {
	// Gen counts the updates made; 0 is the initial theta.
	Gen uint64
	// Theta are the parameters of the mean policy.
	Theta []float32
	// Slots hold the rest: first the slots of the strategy, in the order of its Shape, then what evaluations
	// depend on, such as statistics of observations, which strategies copy unread.
	Slots []Slot
}

// Slot is a named vector of a state, such as one of Adam's moments. It holds values of one type; the other
// two fields are nil.
type Slot struct {
	// Name has 1 to MaxSlotName characters: a-z, 0-9, '-', '.' or '/'.
	Name string
	// Values has 0 to MaxDim finite values.
	Values []float32
	// Reals has 0 to MaxDim finite values.
	Reals []float64
	// Words has 0 to MaxDim values.
	Words []uint64
}

// kind returns the type of the values; Float32 if there are none.
func (t *Slot) kind() Kind {
	switch {
	case len(t.Reals) > 0:
		return Float64
	case len(t.Words) > 0:
		return Uint64
	}
	return Float32
}

// len returns the number of values.
func (t *Slot) len() int { return len(t.Values) + len(t.Reals) + len(t.Words) }

// Clone returns a copy that shares no memory with t.
func (t *Slot) Clone() Slot {
	return Slot{t.Name, slices.Clone(t.Values), slices.Clone(t.Reals), slices.Clone(t.Words)}
}

// Clone returns a copy that shares no memory with s.
func (s *State) Clone() *State {
	c := &State{Gen: s.Gen, Theta: append([]float32(nil), s.Theta...)}
	for i := range s.Slots {
		c.Slots = append(c.Slots, s.Slots[i].Clone())
	}
	return c
}

// Slot returns the slot called name, or nil. It shares memory with s.
func (s *State) Slot(name string) *Slot {
	for i := range s.Slots {
		if s.Slots[i].Name == name {
			return &s.Slots[i]
		}
	}
	return nil
}

// Settle replaces every value of s that is not finite with its value in before, or 0 if it has none. Settings
// that overflow float32 thus freeze a parameter instead of ending the run with a state that cannot be
// encoded. Bit exact.
func (s *State) Settle(before *State) {
	settle(s.Theta, before.Theta)
	for i := range s.Slots {
		var old Slot
		if i < len(before.Slots) {
			old = before.Slots[i]
		}
		settle(s.Slots[i].Values, old.Values)
		settle(s.Slots[i].Reals, old.Reals)
	}
}

func settle[T float32 | float64](x, before []T) {
	for i, v := range x {
		if v-v == 0 {
			continue
		}
		x[i] = 0
		if i < len(before) {
			x[i] = before[i]
		}
	}
}

// ThetaDigest returns the SHA-256 of "evoswarm/theta/1", the length of theta as a little-endian uint64, and
// its values in little-endian order. Canonical.
func (s *State) ThetaDigest() [32]byte {
	e := newDigest()
	e.append([]byte(thetaTag))
	e.append(binary.LittleEndian.AppendUint64(nil, uint64(len(s.Theta))))
	appendAll(e, s.Theta, appendFloat32)
	return e.sum()
}

// Digest returns the SHA-256 of the bytes of MarshalBinary, which begin with "evoswarm/state/1". Canonical.
func (s *State) Digest() [32]byte {
	e := newDigest()
	s.encode(e)
	return e.sum()
}
