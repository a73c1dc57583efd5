package seedlog

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"
)

// scan reads a whole log.
func scan(data []byte) ([]*Record, error) {
	s, err := NewScanner(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	var all []*Record
	for {
		g, err := s.Next()
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		all = append(all, g)
	}
}

func TestScannerReadsWhatWriterWrote(t *testing.T) {
	rules := newRules(t, newSpec(t, "dises"))
	chain, _ := newChain(t, rules, 3)
	var b bytes.Buffer
	w := NewWriter(&b)
	n, err := w.WriteBeginning(rules)
	if err != nil {
		t.Fatal(err)
	}
	offset := int64(n)
	ends := []int64{offset}
	for _, m := range chain {
		n, err := w.AppendEntry(m.entry, m.seal, m.claims)
		if err != nil {
			t.Fatal(err)
		}
		offset += int64(n)
		ends = append(ends, offset)
	}
	records, err := scan(b.Bytes())
	if err != nil || len(records) != 3 {
		t.Fatalf("%d generations, %v", len(records), err)
	}
	again := rules.AppendBeginning(nil)
	for i, r := range records {
		if r.Offset != ends[i] || r.End != ends[i+1] {
			t.Errorf("generation %d lies at %d to %d, want %d to %d", i+1, r.Offset, r.End, ends[i], ends[i+1])
		}
		again = AppendGeneration(again, r.Entry, r.Seal, r.Claims)
	}
	if !bytes.Equal(again, b.Bytes()) {
		t.Errorf("writing what was read gives other bytes")
	}
}

// A flipped bit at every byte is an error that names height and offset, whatever reads the log.
func TestFlippedBitAtEveryByte(t *testing.T) {
	rules := newRules(t, newSpec(t, "dises"))
	chain, _ := newChain(t, rules, 2)
	data := file(rules, chain...)
	starts := []int{len(rules.AppendBeginning(nil)), len(file(rules, chain[0])), len(data)}
	for i := range data {
		height := uint64(0)
		for i >= starts[height] {
			height++
		}
		for _, bit := range []int{0, 3, 6, 7} {
			data[i] ^= 1 << bit
			r, err := Replay(bytes.NewReader(data), ReplayOptions{Check: CheckLinks})
			var at *FileError
			if !errors.As(err, &at) {
				t.Fatalf("byte %d bit %d: %v, %+v", i, bit, err, r)
			}
			if at.Height != height || at.Offset > int64(i) || int64(i)-at.Offset > linkLen+MaxBlockBytes {
				t.Errorf("byte %d bit %d of height %d: error at height %d, offset %d", i, bit, height, at.Height, at.Offset)
			}
			data[i] ^= 1 << bit
		}
	}
}

func TestTornAtEveryByte(t *testing.T) {
	rules := newRules(t, newSpec(t, "dises"))
	chain, _ := newChain(t, rules, 2)
	data := file(rules, chain...)
	genesis, one := len(rules.AppendBeginning(nil)), len(file(rules, chain[0]))
	for n := range data {
		r, err := Replay(bytes.NewReader(data[:n]), ReplayOptions{Check: CheckLinks})
		if n < genesis {
			if !Torn(err) {
				t.Fatalf("cut at %d, within the genesis: %v", n, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("cut at %d: %v", n, err)
		}
		height, whole := uint64(0), n == genesis || n == one
		if n >= one {
			height = 1
		}
		if r.Height != height || r.Truncated == whole {
			t.Fatalf("cut at %d: height %d, truncated %t", n, r.Height, r.Truncated)
		}
		if _, err := Replay(bytes.NewReader(data[:n]), ReplayOptions{Check: CheckLinks, Synced: int64(len(data))}); !Torn(err) {
			t.Fatalf("cut at %d of the fsynced part: %v", n, err)
		}
	}
}

// section appends a block that is framed like any other.
func section(b []byte, v any) []byte {
	b, _ = AppendSection(b, Encode(v))
	return b
}

func TestFileErrors(t *testing.T) {
	rules := newRules(t, newSpec(t, "dises"))
	chain, _ := newChain(t, rules, 3)
	otherSpec := newSpec(t, "dises")
	otherSpec.Seed = 2
	origin := PeerOf(SoloKey(otherSpec))
	otherSpec.Origin = origin[:]
	other := newRules(t, otherSpec)
	otherChain, _ := newChain(t, other, 2)
	foreign, _ := newChainOf(t, rules, newKey("foreign"), 1)
	a := chain[0]
	key := SoloKey(rules.Spec)

	with := func(change func(m *made, e *Entry)) []byte {
		m, e := a, *a.entry
		change(&m, &e)
		m.entry = &e
		m.seal = NewSeal(&e, key, m.seal.Votes)
		return file(rules, m)
	}
	badVersion := *rules.Spec
	badVersion.Format = Format2 + 1
	strange := file(rules)
	strange = append(binary.AppendUvarint(strange, linkLen+MaxBlockBytes+1), make([]byte, linkLen+MaxBlockBytes+1)...)
	random := make([]byte, 0, 1<<20)
	for i := byte(0); len(random) < 1<<20; i++ {
		sum := sha256.Sum256(append(random[max(0, len(random)-32):], i))
		random = append(random, sum[:]...)
	}
	foreignClaim := *a.claims[0]
	foreignClaim.Signature = NewClaim(rules.Run, foreignClaim.Parent, newKey("x"), 0, foreignClaim.Fitness, foreignClaim.Steps).Signature
	voted := a
	voted.seal = NewSeal(a.entry, key, []Vote{NewVote(rules.Run, 1, a.entry.Leader, newKey("v"))})

	for _, c := range []struct {
		name   string
		data   []byte
		height uint64
		err    error
	}{
		{"nothing", nil, 0, ErrTorn},
		{"random bytes", random, 0, ErrNotSeedlog},
		{"CAR version 2", []byte("\x0a\xa1\x67version\x02"), 0, ErrNotSeedlog},
		{"header alone", AppendHeader(nil, rules.Run), 0, ErrTorn},
		{"root of another run", append(AppendHeader(nil, other.Run), file(rules, a)[headerLen:]...), 0, ErrLink},
		{"newer format", file(&Rules{Spec: &badVersion}), 0, ErrVersion},
		{"entry in place of the genesis", section(AppendHeader(nil, LinkOf(Encode(a.entry))), a.entry), 0, ErrMalformed},
		{"oversize section", strange, 1, ErrTooLarge},
		{"empty section", append(file(rules), 0), 1, ErrMalformed},
		{"genesis twice", section(file(rules), rules.Spec), 1, ErrMalformed},
		{"missing claim", section(section(section(file(rules), a.claims[0]), a.entry), a.seal), 1, ErrMissing},
		{"missing entry", section(section(section(file(rules), a.claims[0]), a.claims[1]), a.seal), 1, ErrMissing},
		{"missing seal", append(section(section(section(file(rules), a.claims[0]), a.claims[1]), a.entry), file(rules, chain...)[len(file(rules, a)):]...), 1, ErrMissing},
		{"missing generation", file(rules, a, chain[2]), 2, ErrOrder},
		{"generation twice", file(rules, a, a), 2, ErrOrder},
		{"generations swapped", file(rules, chain[1], a), 1, ErrOrder},
		{"claims swapped", file(rules, made{a.entry, a.seal, []*Claim{a.claims[1], a.claims[0]}, nil}), 1, ErrOrder},
		{"claim too many", section(file(rules), a.claims[0])[:len(section(file(rules), a.claims[0]))], 1, ErrTorn},
		{"claim twice", append(section(file(rules), a.claims[0]), file(rules, a)[len(file(rules)):]...), 1, ErrOrder},
		{"generation of another run", file(rules, a, otherChain[1]), 2, ErrRun},
		{"log of another run", append(file(rules), file(other, otherChain...)[len(file(other)):]...), 1, ErrRun},
		{"foreign leader", file(rules, foreign...), 1, ErrSignature},
		{"foreign seal", file(rules, made{a.entry, NewSeal(a.entry, newKey("x"), nil), a.claims, nil}), 1, ErrSignature},
		{"seal of another entry", file(rules, made{a.entry, chain[1].seal, a.claims, nil}), 1, ErrLink},
		{"foreign claim signature", with(func(m *made, e *Entry) {
			m.claims = []*Claim{&foreignClaim, m.claims[1]}
			_, link := foreignClaim.Encode()
			e.Claims = []Link{link, e.Claims[1]}
		}), 1, ErrSignature},
		{"votes in a solo run", file(rules, voted), 1, ErrOrder},
		{"second term of a solo run", with(func(_ *made, e *Entry) { e.Term = 2 }), 1, ErrOrder},
		{"term zero", with(func(_ *made, e *Entry) { e.Term = 0 }), 1, ErrOrder},
		{"another parent", with(func(_ *made, e *Entry) { e.Parent = other.Run }), 1, ErrLink},
		{"steps miscounted", with(func(_ *made, e *Entry) { e.Steps++ }), 1, ErrCount},
		{"evaluations miscounted", with(func(_ *made, e *Entry) { e.Evaluations++ }), 1, ErrCount},
		{"generation not full", with(func(m *made, e *Entry) {
			m.claims, e.Claims = m.claims[:1], e.Claims[:1]
			e.Evaluations, e.Steps = m.claims[0].Evaluations(), m.claims[0].TotalSteps()
		}), 1, ErrCount},
		{"short digest", with(func(_ *made, e *Entry) { e.Theta = e.Theta[:31] }), 1, ErrMalformed},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := scan(c.data)
			var at *FileError
			if !errors.Is(err, c.err) || !errors.As(err, &at) || at.Height != c.height {
				t.Errorf("got %v, want height %d: %v", err, c.height, c.err)
			}
		})
	}
}

func TestNewerFormatWithNewFields(t *testing.T) {
	var fields map[string]any
	if err := cbor.Unmarshal(Encode(newSpec(t, "dises")), &fields); err != nil {
		t.Fatal(err)
	}
	fields["format"], fields["novelty"] = Format2+1, "x"
	data, err := encMode.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := DecodeSpec(data); !errors.Is(err, ErrVersion) || !bytes.Contains([]byte(err.Error()), []byte("newer evonode")) {
		t.Errorf("got %v, want %v and what to do", err, ErrVersion)
	}
}

// TestDraftsOfFormat2: runs of before it was finished are refused by name.
func TestDraftsOfFormat2(t *testing.T) {
	var fields map[string]any
	if err := cbor.Unmarshal(Encode(nextSpec(t)), &fields); err != nil {
		t.Fatal(err)
	}
	fields["draft"] = 6
	data, err := encMode.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := DecodeSpec(data); !errors.Is(err, ErrVersion) || !strings.Contains(err.Error(), "draft 6 of format 2, which was for trials: begin a new run") {
		t.Errorf("got %v, want %v and what to do", err, ErrVersion)
	}
}

// TestFieldsOfNewerBuilds: who has a build that does not know a field of a run's spec learns what to do.
func TestFieldsOfNewerBuilds(t *testing.T) {
	var fields map[string]any
	if err := cbor.Unmarshal(Encode(nextSpec(t)), &fields); err != nil {
		t.Fatal(err)
	}
	fields["generation"].(map[any]any)["newer"] = true
	data, err := encMode.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := DecodeSpec(data); !errors.Is(err, ErrVersion) || !strings.Contains(err.Error(), "use a newer evonode") {
		t.Errorf("got %v, want %v and what to do", err, ErrVersion)
	}
}

// A solo run's key follows from its spec; a run that names another is refused.
func TestSoloOfForeignKey(t *testing.T) {
	spec := newSpec(t, "dises")
	origin := PeerOf(newKey("foreign"))
	spec.Origin = origin[:]
	if _, err := scan(file(newRules(t, spec))); !errors.Is(err, ErrSignature) {
		t.Errorf("got %v, want %v", err, ErrSignature)
	}
}
