package seedlog

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"pgregory.net/rapid"
)

var (
	drawLink   = rapid.Custom(func(t *rapid.T) Link { return LinkOf(rapid.SliceOf(rapid.Byte()).Draw(t, "named")) })
	drawPeer   = rapid.Custom(func(t *rapid.T) Peer { return Peer(draw32.Draw(t, "key")) })
	draw32     = rapid.SliceOfN(rapid.Byte(), 32, 32)
	draw64     = rapid.SliceOfN(rapid.Byte(), 64, 64)
	drawSteps  = rapid.SliceOfN(rapid.Uint64(), 0, 40)
	drawValues = rapid.SliceOfN(rapid.Int64(), 0, 80)
	drawParams = rapid.MapOfN(rapid.StringN(0, 12, 30), rapid.OneOf(
		rapid.Map(rapid.Float64().Filter(func(x float64) bool { return x-x == 0 && (x != 0 || 1/x > 0) }), func(x float64) any { return x }),
		rapid.Map(rapid.StringN(0, 12, 30), func(s string) any { return s })), 0, 20)
)

// roundTrip draws blocks and holds decode(encode(x)) and encode(decode(b)) to be the identity.
func roundTrip[T any](t *testing.T, draw func(*rapid.T) *T, decode func([]byte) (*T, error)) {
	rapid.Check(t, func(t *rapid.T) {
		want := Encode(draw(t))
		v, err := decode(want)
		if err != nil {
			t.Fatalf("%x: %v", want, err)
		}
		if got := Encode(v); !bytes.Equal(got, want) {
			t.Fatalf("got %x, want %x", got, want)
		}
		n := rapid.IntRange(0, len(want)-1).Draw(t, "cut")
		if _, err := decode(want[:n]); err == nil {
			t.Fatalf("the first %d bytes of %d were accepted", n, len(want))
		}
		if _, err := decode(append(bytes.Clone(want), 0)); err == nil {
			t.Fatal("a byte too many was accepted")
		}
	})
}

func TestRoundTrips(t *testing.T) {
	t.Run("claim", func(t *testing.T) {
		roundTrip(t, func(t *rapid.T) *Claim {
			return &Claim{Parent: drawLink.Draw(t, "parent"), Peer: drawPeer.Draw(t, "peer"), Chunk: rapid.Uint64().Draw(t, "chunk"),
				Fitness: drawValues.Draw(t, "fitness"), Steps: drawSteps.Draw(t, "steps"), Signature: draw64.Draw(t, "signature")}
		}, DecodeClaim)
	})
	t.Run("entry", func(t *testing.T) {
		roundTrip(t, func(t *rapid.T) *Entry {
			return &Entry{Run: drawLink.Draw(t, "run"), Height: rapid.Uint64().Draw(t, "height"), Parent: drawLink.Draw(t, "parent"),
				Term: rapid.Uint64().Draw(t, "term"), Leader: drawPeer.Draw(t, "leader"), Claims: rapid.SliceOfN(drawLink, 0, 20).Draw(t, "claims"),
				Evaluations: rapid.Uint64().Draw(t, "evaluations"), Steps: rapid.Uint64().Draw(t, "steps"),
				Theta: draw32.Draw(t, "theta"), State: draw32.Draw(t, "state")}
		}, DecodeEntry)
	})
	t.Run("seal", func(t *testing.T) {
		roundTrip(t, func(t *rapid.T) *Seal {
			s := &Seal{Entry: drawLink.Draw(t, "entry"), Signature: draw64.Draw(t, "signature"), Votes: []Vote{}}
			for i := range rapid.IntRange(0, MaxVotes).Draw(t, "votes") {
				s.Votes = append(s.Votes, Vote{Voter: Peer{byte(i), 1}, Signature: draw64.Draw(t, "vote")})
			}
			return s
		}, DecodeSeal)
	})
	t.Run("proof", func(t *testing.T) {
		roundTrip(t, func(t *rapid.T) *Proof {
			return &Proof{Claim: drawLink.Draw(t, "claim"), Counter: rapid.Uint64().Draw(t, "counter"), Fitness: drawValues.Draw(t, "fitness"),
				Steps: rapid.Uint64().Draw(t, "steps"), Accuser: drawPeer.Draw(t, "accuser"), Signature: draw64.Draw(t, "signature")}
		}, DecodeProof)
	})
	t.Run("spec", func(t *testing.T) {
		base := newSpec(t, "dises")
		roundTrip(t, func(t *rapid.T) *Spec {
			s := *base
			s.Seed = rapid.Uint64().Draw(t, "seed")
			s.Origin, s.Nonce = draw32.Draw(t, "origin"), draw32.Draw(t, "nonce")[:16]
			s.Strategy.Params = evolve.Params(drawParams.Draw(t, "params"))
			if rapid.Bool().Draw(t, "successor") {
				s.Successor = &Successor{Run: drawLink.Draw(t, "run"), Head: drawLink.Draw(t, "head"), State: draw32.Draw(t, "state")}
			}
			return &s
		}, DecodeSpec)
	})
}

// Equal meaning has one encoding: every other one is refused.
func TestNotCanonical(t *testing.T) {
	spec := Encode(newSpec(t, "dises"))
	replace := func(old, new string) []byte {
		if !bytes.Contains(spec, []byte(old)) {
			t.Fatalf("the spec has no %q", old)
		}
		return bytes.Replace(spec, []byte(old), []byte(new), 1)
	}
	for _, c := range []struct {
		name string
		data []byte
	}{
		{"unknown field", replace("dseed", "dsead")},
		{"integer not in its shortest form", replace("dseed\x01", "dseed\x18\x01")},
		{"float32", replace("esigma\xfb", "esigma\xfa")},
		{"integer for a real", replace("esigma\xfb"+string(spec[bytes.Index(spec, []byte("esigma"))+7:][:8]), "esigma\x01")},
		{"-0", replace("esigma\xfb"+string(spec[bytes.Index(spec, []byte("esigma"))+7:][:8]), "esigma\xfb\x80\x00\x00\x00\x00\x00\x00\x00")},
		{"NaN", replace("esigma\xfb"+string(spec[bytes.Index(spec, []byte("esigma"))+7:][:8]), "esigma\xfb\x7f\xf8\x00\x00\x00\x00\x00\x00")},
		{"null", replace("dseed\x01", "dseed\xf6")},
		{"indefinite map", append(append([]byte{0xbf}, spec[1:]...), 0xff)},
		{"two items", append(bytes.Clone(spec), spec...)},
		{"nothing", nil},
	} {
		if s, err := DecodeSpec(c.data); err == nil {
			t.Errorf("%s was accepted: %+v", c.name, s)
		}
	}
	if _, err := DecodeClaim(make([]byte, MaxClaimBytes+1)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("got %v, want %v", err, ErrTooLarge)
	}
}

// fuzzBlocks gives a fuzz target the blocks of a real log as seeds.
func fuzzBlocks(f *testing.F) {
	data, err := os.ReadFile(smallLog)
	if err != nil {
		f.Fatal(err)
	}
	s, _, err := NewSections(bytes.NewReader(data))
	if err != nil {
		f.Fatal(err)
	}
	for {
		block, _, err := s.Next()
		if err == io.EOF {
			return
		}
		if err != nil {
			f.Fatal(err)
		}
		f.Add(block)
	}
}

// fuzzDecoder holds a decoder to accept only what encoding gives back.
func fuzzDecoder[T any](f *testing.F, decode func([]byte) (*T, error)) {
	fuzzBlocks(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		if v, err := decode(data); err == nil {
			if again := Encode(v); !bytes.Equal(again, data) {
				t.Errorf("%x decodes but encodes to %x", data, again)
			}
		}
	})
}

func FuzzDecodeClaim(f *testing.F) { fuzzDecoder(f, DecodeClaim) }

func FuzzDecodeEntry(f *testing.F) {
	e, _ := batchedEntry(f, newStaleRun(f, batchSpec(f)))
	f.Add(e.data)
	fuzzDecoder(f, DecodeEntry)
}

func FuzzDecodeSeal(f *testing.F) { fuzzDecoder(f, DecodeSeal) }

func FuzzDecodeProof(f *testing.F) {
	run := LinkOf([]byte("run"))
	f.Add(Encode(NewProof(run, LinkOf([]byte("claim")), 3, []int64{-5}, 9, newKey("p"))))
	fuzzDecoder(f, DecodeProof)
}

func FuzzDecodeSpec(f *testing.F) {
	f.Add(Encode(newSpec(f, "openai-es")))
	f.Add(Encode(conditioned(f)))
	f.Add(Encode(windySpec(f)))
	fuzzDecoder(f, DecodeSpec)
}

func FuzzHeader(f *testing.F) {
	f.Add(AppendHeader(nil, LinkOf([]byte("run"))))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, root, err := NewSections(bytes.NewReader(data))
		if err == nil && !bytes.Equal(AppendHeader(nil, root), data[:s.Offset()]) {
			t.Errorf("%x is taken for the header of %s", data[:s.Offset()], root)
		}
	})
}

// A file that is accepted is what the writer writes of what was read.
func FuzzFile(f *testing.F) {
	data, err := os.ReadFile(smallLog)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add(data[:len(data)-7])
	_, batched := batchedLog(f)
	f.Add(batched)
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := NewScanner(bytes.NewReader(data))
		if err != nil {
			return
		}
		again := s.Rules().AppendBeginning(nil)
		for {
			g, err := s.Next()
			if err == nil {
				again = AppendRecord(again, g)
				continue
			}
			if !bytes.Equal(again, data[:s.Offset()]) && err == io.EOF {
				t.Errorf("read %x, would write %x", data, again)
			}
			return
		}
	})
}

// TestLinksInErrors: what is no link is shown as far as it helps, whatever its length.
func TestLinksInErrors(t *testing.T) {
	_, err := ParseLink(strings.Repeat("a", 1<<20))
	if err == nil || len(err.Error()) > 500 || !strings.Contains(err.Error(), `"aaaa`) {
		t.Errorf("%d characters: %.200v", len(err.Error()), err)
	}
}
