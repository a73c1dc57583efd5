package evolve

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Domain tags of the digests; stateTag also begins an encoded state.
const (
	thetaTag = "evoswarm/theta/1"
	stateTag = "evoswarm/state/1"
)

// MarshalBinary returns the one encoding of s: "evoswarm/state/1", then in little
// endian Gen (8 bytes), the length of theta (4) and its values (4 each), the number
// of slots (1), and for each slot the length of its name (1), the name, the number
// of values (4) and the values. It refuses states that UnmarshalBinary would.
// Canonical.
func (s *State) MarshalBinary() ([]byte, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	return s.append(nil), nil
}

// append appends the encoding of s to b.
func (s *State) append(b []byte) []byte {
	size := len(stateTag) + 8 + 4 + 4*len(s.Theta) + 1
	for _, slot := range s.Slots {
		size += 1 + len(slot.Name) + 4 + 4*len(slot.Values)
	}
	if b == nil {
		b = make([]byte, 0, size)
	}
	b = append(b, stateTag...)
	b = binary.LittleEndian.AppendUint64(b, s.Gen)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(s.Theta)))
	b = appendFloats(b, s.Theta)
	b = append(b, byte(len(s.Slots)))
	for _, slot := range s.Slots {
		b = append(b, byte(len(slot.Name)))
		b = append(b, slot.Name...)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(slot.Values)))
		b = appendFloats(b, slot.Values)
	}
	return b
}

// UnmarshalBinary replaces s by the state that b encodes; it keeps no reference to
// b. It refuses, with an error that wraps ErrState, whatever MarshalBinary would not
// have written: other tags, sizes beyond the limits, values that are not finite,
// names that are not allowed or stand twice, and bytes left over. On error s is
// unchanged.
func (s *State) UnmarshalBinary(b []byte) error {
	d := decoder{rest: b}
	d.tag(stateTag)
	t := State{Gen: d.uint64(), Theta: d.floats()}
	n := int(d.byte())
	if d.err == nil && n > MaxSlots {
		d.fail("%d slots, at most %d", n, MaxSlots)
	}
	for i := 0; i < n && d.err == nil; i++ {
		name := string(d.take(int(d.byte())))
		t.Slots = append(t.Slots, Slot{name, d.floats()})
	}
	if d.err == nil && len(d.rest) != 0 {
		d.fail("%d bytes left over", len(d.rest))
	}
	if d.err == nil {
		d.err = t.check()
	}
	if d.err != nil {
		return d.err
	}
	*s = t
	return nil
}

// check returns an error that wraps ErrState unless s can be encoded.
func (s *State) check() error {
	if len(s.Theta) == 0 || len(s.Theta) > MaxDim {
		return fmt.Errorf("%w: theta has %d values, want 1 to %d", ErrState, len(s.Theta), MaxDim)
	}
	if i := firstNotFinite(s.Theta); i >= 0 {
		return fmt.Errorf("%w: theta[%d] is not finite", ErrState, i)
	}
	if len(s.Slots) > MaxSlots {
		return fmt.Errorf("%w: %d slots, at most %d", ErrState, len(s.Slots), MaxSlots)
	}
	for i := range s.Slots {
		if err := s.Slots[i].check(); err != nil {
			return err
		}
		for j := range i {
			if s.Slots[j].Name == s.Slots[i].Name {
				return fmt.Errorf("%w: slot %q stands twice", ErrState, s.Slots[i].Name)
			}
		}
	}
	return nil
}

// check returns an error that wraps ErrState unless t can be encoded.
func (t *Slot) check() error {
	ok := len(t.Name) >= 1 && len(t.Name) <= MaxSlotName
	for _, c := range []byte(t.Name) {
		ok = ok && (c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '.' || c == '/')
	}
	if !ok {
		return fmt.Errorf("%w: slot name %q", ErrState, t.Name)
	}
	if len(t.Values) > MaxDim {
		return fmt.Errorf("%w: slot %s has %d values, at most %d", ErrState, t.Name, len(t.Values), MaxDim)
	}
	if i := firstNotFinite(t.Values); i >= 0 {
		return fmt.Errorf("%w: %s[%d] is not finite", ErrState, t.Name, i)
	}
	return nil
}

// firstNotFinite returns the index of the first NaN or infinity in x, or -1.
func firstNotFinite(x []float32) int {
	for i, v := range x {
		if v-v != 0 {
			return i
		}
	}
	return -1
}

// decoder takes values from the front of rest until the first error.
type decoder struct {
	rest []byte
	err  error
}

func (d *decoder) fail(format string, args ...any) {
	d.err = fmt.Errorf("%w: "+format, append([]any{ErrState}, args...)...)
	d.rest = nil
}

// take returns the next n bytes, or nil after an error.
func (d *decoder) take(n int) []byte {
	if d.err != nil {
		return nil
	}
	if n > len(d.rest) {
		d.fail("%d bytes missing", n-len(d.rest))
		return nil
	}
	b := d.rest[:n]
	d.rest = d.rest[n:]
	return b
}

func (d *decoder) tag(tag string) {
	if b := d.take(len(tag)); d.err == nil && string(b) != tag {
		d.fail("begins with %q, want %q", b, tag)
	}
}

func (d *decoder) byte() byte {
	if b := d.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (d *decoder) uint64() uint64 {
	if b := d.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// floats takes a length and that many values; nil if there are none.
func (d *decoder) floats() []float32 {
	b := d.take(4)
	if b == nil {
		return nil
	}
	n := binary.LittleEndian.Uint32(b)
	if n > MaxDim {
		d.fail("vector of %d values, at most %d", n, MaxDim)
		return nil
	}
	// The bytes are there before the memory is: a short message cannot ask for much.
	b = d.take(4 * int(n))
	if len(b) == 0 {
		return nil
	}
	x := make([]float32, n)
	for i := range x {
		x[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return x
}
