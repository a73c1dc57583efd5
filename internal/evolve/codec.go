package evolve

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"math"
)

// Domain tags of the digests. An encoded state begins with stateTag.
const (
	thetaTag = "evoswarm/theta/1"
	stateTag = "evoswarm/state/1"
)

// The two upper bits of a slot's value count say the type of its values.
const (
	lenReals = 1 << 31
	lenWords = 1 << 30
)

// MarshalBinary returns the only valid encoding of s: "evoswarm/state/1", then in little-endian order Gen (8
// bytes), the length of theta (4) and its values (4 each), the number of slots (1), and for each slot the
// length of its name (1), the name, the number of values (4) and the values. Values are float32 (4 bytes
// each), float64 (8) if bit 31 of their number is set, or uint64 (8) if bit 30 is; an empty slot sets
// neither. States that UnmarshalBinary would reject return an error that wraps ErrState. Canonical.
func (s *State) MarshalBinary() ([]byte, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	e := &buffer{bytes: make([]byte, 0, s.EncodedLen())}
	s.encode(e)
	return e.bytes, nil
}

// EncodedLen returns the length of the encoding of s [bytes]. It depends on the shape of s alone.
func (s *State) EncodedLen() int {
	size := len(stateTag) + 8 + 4 + 4*len(s.Theta) + 1
	for i := range s.Slots {
		slot := &s.Slots[i]
		size += 1 + len(slot.Name) + 4 + slot.kind().size()*slot.len()
	}
	return size
}

// sink receives an encoding piece by piece, so that hashing a large state needs no copy of it.
type sink interface{ append(piece []byte) }

// buffer is a sink that keeps everything.
type buffer struct{ bytes []byte }

func (b *buffer) append(piece []byte) { b.bytes = append(b.bytes, piece...) }

// digest is a sink that keeps a SHA-256.
type digest struct{ hash hash.Hash }

func newDigest() *digest { return &digest{sha256.New()} }

func (d *digest) append(piece []byte) { d.hash.Write(piece) }

func (d *digest) sum() (sum [32]byte) {
	d.hash.Sum(sum[:0])
	return sum
}

// encode writes the encoding of s to e.
func (s *State) encode(e sink) {
	head := append([]byte(stateTag), make([]byte, 12)...)
	binary.LittleEndian.PutUint64(head[len(stateTag):], s.Gen)
	binary.LittleEndian.PutUint32(head[len(stateTag)+8:], uint32(len(s.Theta)))
	e.append(head)
	appendAll(e, s.Theta, appendFloat32)
	e.append([]byte{byte(len(s.Slots))})
	for i := range s.Slots {
		s.Slots[i].encode(e)
	}
}

func (t *Slot) encode(e sink) {
	n := uint32(t.len())
	switch t.kind() {
	case Float64:
		n |= lenReals
	case Uint64:
		n |= lenWords
	}
	head := append([]byte{byte(len(t.Name))}, t.Name...)
	e.append(binary.LittleEndian.AppendUint32(head, n))
	appendAll(e, t.Values, appendFloat32)
	appendAll(e, t.Reals, appendFloat64)
	appendAll(e, t.Words, binary.LittleEndian.AppendUint64)
}

func appendFloat32(b []byte, x float32) []byte {
	return binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
}

func appendFloat64(b []byte, x float64) []byte {
	return binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
}

// appendAll writes the encodings of all x to e, a few kilobytes at a time.
func appendAll[T any](e sink, x []T, encode func([]byte, T) []byte) {
	const piece = 1024
	var b [8 * piece]byte
	for len(x) > 0 {
		n := min(len(x), piece)
		part := b[:0]
		for _, v := range x[:n] {
			part = encode(part, v)
		}
		e.append(part)
		x = x[n:]
	}
}

// UnmarshalBinary replaces s with the state that b encodes and keeps no reference to b. It rejects everything
// that MarshalBinary would not have written, with an error that wraps ErrState: other tags, sizes beyond the
// limits, values that are not finite, invalid or repeated names, and trailing bytes. On error s is unchanged.
func (s *State) UnmarshalBinary(b []byte) error {
	d := decoder{rest: b}
	d.tag(stateTag)
	t := State{Gen: d.uint64()}
	t.Theta = takeAll(&d, d.uint32(), 4, float32At)
	n := int(d.byte())
	if d.err == nil && n > MaxSlots {
		d.fail("%d slots, at most %d", n, MaxSlots)
	}
	for i := 0; i < n && d.err == nil; i++ {
		t.Slots = append(t.Slots, d.slot())
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
				return fmt.Errorf("%w: two slots are called %q", ErrState, s.Slots[i].Name)
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
	if t.len() > MaxDim {
		return fmt.Errorf("%w: slot %s has %d values, at most %d", ErrState, t.Name, t.len(), MaxDim)
	}
	if n := max(len(t.Values), len(t.Reals), len(t.Words)); n != t.len() {
		return fmt.Errorf("%w: slot %s has values of more than one type", ErrState, t.Name)
	}
	if i := max(firstNotFinite(t.Values), firstNotFinite(t.Reals)); i >= 0 {
		return fmt.Errorf("%w: %s[%d] is not finite", ErrState, t.Name, i)
	}
	return nil
}

// firstNotFinite returns the index of the first NaN or infinity in x, or -1.
func firstNotFinite[T float32 | float64](x []T) int {
	for i, v := range x {
		if v-v != 0 {
			return i
		}
	}
	return -1
}

// decoder reads values from the front of rest until the first error.
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

func (d *decoder) uint32() uint32 {
	if b := d.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (d *decoder) slot() Slot {
	t := Slot{Name: string(d.take(int(d.byte())))}
	n := d.uint32()
	switch {
	case n == lenReals || n == lenWords:
		d.fail("slot %s is empty but has a type", t.Name)
	case n&lenReals != 0:
		t.Reals = takeAll(d, n&^lenReals, 8, float64At)
	case n&lenWords != 0:
		t.Words = takeAll(d, n&^lenWords, 8, binary.LittleEndian.Uint64)
	default:
		t.Values = takeAll(d, n, 4, float32At)
	}
	return t
}

func float32At(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) }

func float64At(b []byte) float64 { return math.Float64frombits(binary.LittleEndian.Uint64(b)) }

// takeAll reads n values of size bytes each; nil if n is 0.
func takeAll[T any](d *decoder, n uint32, size int, decode func([]byte) T) []T {
	if n > MaxDim {
		d.fail("vector of %d values, at most %d", n, MaxDim)
		return nil
	}
	// Check that the bytes exist before allocating, so that a short message cannot claim much memory.
	b := d.take(size * int(n))
	if len(b) == 0 {
		return nil
	}
	x := make([]T, n)
	for i := range x {
		x[i] = decode(b[size*i:])
	}
	return x
}
