package evolve

import (
	"encoding/binary"
	"errors"
	"slices"
)

// Limits of a state.
const (
	// MaxDim is the largest length of theta: that of policy.MaxDim.
	MaxDim = 16 << 20
	// MaxSlots is the largest number of slots.
	MaxSlots = 24
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
	// Slots hold what is remembered beside theta: first what the strategy does, in the
	// order of its Shape, then what the evaluation of candidates depends on, such as
	// statistics of observations, which strategies carry on without looking.
	Slots []Slot
}

// Slot is a named vector of a state, such as one of Adam's moments. It holds values of
// one type; the other two are nil.
type Slot struct {
	// Name has 1 to MaxSlotName letters a-z, digits, '-', '.' or '/'.
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

// Slot returns the slot of that name, or nil.
func (s *State) Slot(name string) *Slot {
	for i := range s.Slots {
		if s.Slots[i].Name == name {
			return &s.Slots[i]
		}
	}
	return nil
}

// Settle puts the value of before, or 0 where that has none, in the place of every one
// in s that is not finite: settings that make steps beyond float32 stop a parameter
// rather than the run, whose states nobody could check or send. Bit exact.
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

// ThetaDigest returns SHA-256 over "evoswarm/theta/1", the length of theta as
// little-endian uint64 and the little-endian bits of its values. Canonical.
func (s *State) ThetaDigest() [32]byte {
	e := newDigest()
	e.append([]byte(thetaTag))
	e.append(binary.LittleEndian.AppendUint64(nil, uint64(len(s.Theta))))
	appendAll(e, s.Theta, appendFloat32)
	return e.sum()
}

// Digest returns SHA-256 over the bytes of MarshalBinary, which begin with
// "evoswarm/state/1". Canonical.
func (s *State) Digest() [32]byte {
	e := newDigest()
	s.encode(e)
	return e.sum()
}
