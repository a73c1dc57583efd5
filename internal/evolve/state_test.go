package evolve_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"pgregory.net/rapid"
)

func small() *evolve.State {
	return &evolve.State{Gen: 258, Theta: []float32{1, -2}, Slots: []evolve.Slot{{Name: "adam/m", Values: []float32{0.5}}}}
}

const smallBytes = "65766f737761726d2f73746174652f31" + // evoswarm/state/1
	"0201000000000000" + "02000000" + "0000803f" + "000000c0" + // Gen 258, theta 1, -2
	"01" + "06" + "6164616d2f6d" + "01000000" + "0000003f" // one slot, adam/m, 0.5

func TestStateBytes(t *testing.T) {
	b, err := small().MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	if got := hex.EncodeToString(b); got != smallBytes {
		t.Errorf("got  %s\nwant %s", got, smallBytes)
	}
	if got, want := small().Digest(), sha256.Sum256(b); got != want {
		t.Errorf("Digest = %x, want %x", got, want)
	}
	want := sha256.Sum256([]byte("evoswarm/theta/1\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80\x3f\x00\x00\x00\xc0"))
	if got := small().ThetaDigest(); got != want {
		t.Errorf("ThetaDigest = %x, want %x", got, want)
	}
}

func TestStateRoundTrip(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		floats := func(least int, name string) []float32 {
			x := rapid.SliceOfN(rapid.Float32(), least, 20).Draw(r, name)
			if len(x) == 0 {
				return nil
			}
			return x
		}
		s := &evolve.State{Gen: rapid.Uint64().Draw(r, "gen"), Theta: floats(1, "theta")}
		names := rapid.SliceOfNDistinct(rapid.StringMatching(`[a-z0-9/.-]{1,32}`), 0, evolve.MaxSlots, rapid.ID[string]).Draw(r, "names")
		for _, name := range names {
			slot := evolve.Slot{Name: name}
			switch rapid.IntRange(0, 2).Draw(r, "kind") {
			case 0:
				slot.Values = floats(0, "values")
			case 1:
				slot.Reals = rapid.SliceOfN(rapid.Float64(), 1, 20).Draw(r, "reals")
			case 2:
				slot.Words = rapid.SliceOfN(rapid.Uint64(), 1, 20).Draw(r, "words")
			}
			s.Slots = append(s.Slots, slot)
		}
		b, err := s.MarshalBinary()
		if err != nil {
			r.Fatal(err)
		}
		got := new(evolve.State)
		if err := got.UnmarshalBinary(b); err != nil {
			r.Fatal(err)
		}
		if !reflect.DeepEqual(got, s) || got.Digest() != s.Digest() || got.ThetaDigest() != s.ThetaDigest() {
			r.Fatalf("got %+v, want %+v", got, s)
		}
		if c := s.Clone(); c.Digest() != s.Digest() {
			r.Fatalf("clone %+v, want %+v", c, s)
		}
	})
}

func TestBadStates(t *testing.T) {
	nan := float32(math.NaN())
	for name, change := range map[string]func(s *evolve.State){
		"no theta":      func(s *evolve.State) { s.Theta = nil },
		"NaN":           func(s *evolve.State) { s.Theta[0] = nan },
		"infinite slot": func(s *evolve.State) { s.Slots[0].Values[0] = float32(math.Inf(-1)) },
		"NaN in wide":   func(s *evolve.State) { s.Slots[0] = evolve.Slot{Name: "a", Reals: []float64{1, math.NaN()}} },
		"wide infinity": func(s *evolve.State) { s.Slots[0] = evolve.Slot{Name: "a", Reals: []float64{math.Inf(1)}} },
		"two types":     func(s *evolve.State) { s.Slots[0].Words = []uint64{1} },
		"three types": func(s *evolve.State) {
			s.Slots[0] = evolve.Slot{Name: "a", Values: []float32{1}, Reals: []float64{1}, Words: []uint64{1}}
		},
		"no name":    func(s *evolve.State) { s.Slots[0].Name = "" },
		"long name":  func(s *evolve.State) { s.Slots[0].Name = "abcdefghijklmnopqrstuvwxyz0123456" },
		"odd name":   func(s *evolve.State) { s.Slots[0].Name = "Adam" },
		"name twice": func(s *evolve.State) { s.Slots = append(s.Slots, s.Slots[0]) },
		"many slots": func(s *evolve.State) {
			for c := range evolve.MaxSlots {
				s.Slots = append(s.Slots, evolve.Slot{Name: string(rune('a' + c))})
			}
		},
	} {
		s := small()
		change(s)
		if _, err := s.MarshalBinary(); !errors.Is(err, evolve.ErrState) {
			t.Errorf("%s: MarshalBinary gives %v, want ErrState", name, err)
		}
	}
}

// TestTruncatedState cuts and lengthens encoded states everywhere.
func TestTruncatedState(t *testing.T) {
	for _, whole := range []*evolve.State{small(), wide()} {
		b, err := whole.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		for n := range b {
			s := small()
			if err := s.UnmarshalBinary(b[:n]); !errors.Is(err, evolve.ErrState) {
				t.Errorf("%d bytes: %v, want ErrState", n, err)
			}
			if !reflect.DeepEqual(s, small()) {
				t.Errorf("%d bytes: an error changed the state", n)
			}
		}
		if err := new(evolve.State).UnmarshalBinary(append(b, 0)); !errors.Is(err, evolve.ErrState) {
			t.Errorf("one byte more: %v, want ErrState", err)
		}
	}
}

// TestWideLengths: the two upper bits of a slot's number have one meaning each, and a
// large number asks for no memory before its bytes are there.
func TestWideLengths(t *testing.T) {
	head, _ := hex.DecodeString(smallBytes)
	head = head[:len(head)-8] // up to the number of values of the only slot
	for _, test := range []struct {
		number uint32
		values int // bytes that follow
		ok     bool
	}{
		{1, 4, true}, {1, 8, false}, {1 << 31, 0, false}, {1 << 30, 0, false}, {0, 0, true},
		{1<<31 | 1, 8, true}, {1<<31 | 1, 4, false}, {1<<30 | 1, 8, true}, {1<<30 | 2, 8, false},
		{3<<30 | 1, 8, false}, {3 << 30, 0, false},
		{evolve.MaxDim + 1, 0, false}, {1<<31 | (evolve.MaxDim + 1), 0, false}, {1<<30 | evolve.MaxDim, 8, false}, {1<<31 - 1, 8, false},
	} {
		b := binary.LittleEndian.AppendUint32(append([]byte(nil), head...), test.number)
		b = append(b, make([]byte, test.values)...)
		err := new(evolve.State).UnmarshalBinary(b)
		if (err == nil) != test.ok || err != nil && !errors.Is(err, evolve.ErrState) {
			t.Errorf("number %#x with %d bytes: %v", test.number, test.values, err)
		}
	}
}

func FuzzState(f *testing.F) {
	b, _ := hex.DecodeString(smallBytes)
	f.Add(b)
	f.Add(b[:20])
	w, _ := wide().MarshalBinary()
	f.Add(w)
	f.Add(bytes.Replace(w, []byte{2, 0, 0, 0x80}, []byte{2, 0, 0, 0xc0}, 1))
	f.Add(bytes.Replace(w, []byte{1, 0, 0, 0x40}, []byte{1, 0, 0, 0x80}, 1))
	f.Add(append(append([]byte(nil), b[:24]...), 0xff, 0xff, 0xff, 0xff))
	f.Fuzz(func(t *testing.T, b []byte) {
		s := new(evolve.State)
		if err := s.UnmarshalBinary(b); err != nil {
			if !errors.Is(err, evolve.ErrState) {
				t.Fatalf("error %v is not ErrState", err)
			}
			return
		}
		again, err := s.MarshalBinary()
		if err != nil || !bytes.Equal(again, b) {
			t.Fatalf("decoded %x, encoded %x, %v", b, again, err)
		}
		if s.Digest() != sha256.Sum256(b) || s.Clone().Digest() != s.Digest() {
			t.Fatalf("the digest of %x is not that of its bytes", b)
		}
	})
}
