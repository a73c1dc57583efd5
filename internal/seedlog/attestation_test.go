package seedlog

import (
	"bytes"
	"errors"
	"testing"
)

// attestedEntry is an entry of two claims, the second of them attested, as edit leaves it, with its seal.
func attestedEntry(t *testing.T, rules *Rules, edit func(e *Entry)) (entry, seal []byte) {
	t.Helper()
	chain, _ := newChainOf(t, rules, newKey("a"), 1)
	e := *chain[0].entry
	e.Attestations = []Attestation{{Claim: 1, Peer: PeerOf(newKey("b")), Signature: Attest(rules.Run, e.Claims[1], newKey("b"))}}
	edit(&e)
	return Encode(&e), Encode(NewSeal(&e, newKey("a"), nil))
}

// TestAttestations: an entry of format 2 may name who re-ran its claims, in order and signed; none of format 1 may.
func TestAttestations(t *testing.T) {
	spec := nextSpec(t)
	rules := newRules(t, spec)
	for _, test := range []struct {
		name string
		edit func(e *Entry)
		want error
	}{
		{"one", func(*Entry) {}, nil},
		{"none", func(e *Entry) { e.Attestations = nil }, nil},
		{"of a claim that is not there", func(e *Entry) { e.Attestations[0].Claim = uint64(len(e.Claims)) }, ErrMalformed},
		{"twice", func(e *Entry) { e.Attestations = append(e.Attestations, e.Attestations[0]) }, ErrMalformed},
		{"of another claim", func(e *Entry) { e.Attestations[0].Claim = 0 }, ErrSignature},
		{"by another peer", func(e *Entry) { e.Attestations[0].Peer = PeerOf(newKey("c")) }, ErrSignature},
		{"without a signature", func(e *Entry) { e.Attestations[0].Signature = []byte{} }, ErrSignature},
		{"too many", func(e *Entry) { e.Attestations = make([]Attestation, MaxAttestations+1) }, ErrTooLarge},
	} {
		t.Run(test.name, func(t *testing.T) {
			entry, seal := attestedEntry(t, rules, test.edit)
			if _, err := rules.CheckEntry(entry, seal); !errors.Is(err, test.want) {
				t.Errorf("got %v, want %v", err, test.want)
			}
		})
	}
	chain, _ := newChainOf(t, rules, newKey("a"), 1)
	entry, seal := attestedEntry(t, rules, func(*Entry) {})
	log := rules.AppendBeginning(nil)
	for _, claim := range chain[0].claims {
		log, _ = AppendSection(log, Encode(claim))
	}
	log, _ = AppendSection(log, entry)
	log, _ = AppendSection(log, seal)
	r, err := NewScanner(bytes.NewReader(log))
	if err != nil {
		t.Fatal(err)
	}
	if g, err := r.Next(); err != nil || len(g.Entry.Attestations) != 1 {
		t.Errorf("a log with such an entry: got %+v, %v", g, err)
	}
	old := newRules(t, newSpec(t, "dises"))
	entry, seal = attestedEntry(t, old, func(*Entry) {})
	if _, err := old.CheckEntry(entry, seal); !errors.Is(err, ErrMalformed) {
		t.Errorf("in a run of format 1: got %v, want ErrMalformed", err)
	}
}
