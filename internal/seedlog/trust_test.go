package seedlog

import (
	"bytes"
	"errors"
	"slices"
	"testing"
)

// newTrustedRun makes a run that trusts the first two keys of newStaleRun, the first of which began it.
func newTrustedRun(t *testing.T, maxStale uint64) *staleRun {
	spec := nextSpec(t)
	keys := newStaleRun(t, spec).keys
	spec.SpotChecks, spec.Generation.MaxStale = nil, maxStale
	spec.Trust = []Peer{PeerOf(keys[0]), PeerOf(keys[1])}
	spec.Origin = spec.Trust[0][:]
	return newStaleRun(t, spec)
}

// TestTrustIsRefused: what a spec may not say of its trusted keys.
func TestTrustIsRefused(t *testing.T) {
	good := newTrustedRun(t, 0).rules.Spec
	if got, err := DecodeSpec(Encode(good)); err != nil || !slices.Equal(got.Trust, good.Trust) {
		t.Fatalf("got %+v, %v", got, err)
	}
	for name, edit := range map[string]func(*Spec){
		"out of order":       func(s *Spec) { slices.Reverse(s.Trust) },
		"twice":              func(s *Spec) { s.Trust = append(s.Trust, s.Trust[1]) },
		"without the origin": func(s *Spec) { s.Trust = s.Trust[1:] },
		"spot checks":        func(s *Spec) { s.SpotChecks = &SpotChecks{First: 1, Share: 32} },
		"run on one machine": func(s *Spec) { s.Nonce = make([]byte, 16) },
		"format 1":           func(s *Spec) { trust := s.Trust; *s = *newSpec(t, "dises"); s.Trust = trust },
		"too many": func(s *Spec) {
			for i := range MaxTrusted {
				s.Trust = append(s.Trust, Peer{0xff, 0xff, byte(i >> 8), byte(i)})
			}
		},
	} {
		spec := *good
		spec.Trust = slices.Clone(spec.Trust)
		edit(&spec)
		if _, err := DecodeSpec(Encode(&spec)); !errors.Is(err, ErrSpec) && !(name == "too many" && errors.Is(err, ErrTooLarge)) {
			t.Errorf("%s: got %v, want %v", name, err, ErrSpec)
		}
	}
}

// TestMostTrusted: a spec may list as many keys as it says, and only such a one may be so long.
func TestMostTrusted(t *testing.T) {
	spec := *newTrustedRun(t, 0).rules.Spec
	for i := len(spec.Trust); i < MaxTrusted; i++ {
		spec.Trust = append(spec.Trust, Peer{0xff, 0xff, byte(i >> 8), byte(i)})
	}
	if _, err := DecodeSpec(Encode(&spec)); err != nil {
		t.Errorf("%d keys: %v", MaxTrusted, err)
	}
	long := *nextSpec(t)
	long.Policy.Head = string(bytes.Repeat([]byte{'x'}, MaxSpecBytes))
	if _, err := DecodeSpec(Encode(&long)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a spec of more than %d bytes without keys: %v", MaxSpecBytes, err)
	}
}

// TestUntrusted: claims and entries of other keys are invalid, and so are votes, on the wire and in a file; a log of
// trusted keys replays, and all that it claims can be re-run.
func TestUntrusted(t *testing.T) {
	for _, maxStale := range []uint64{0, 2} {
		r := newTrustedRun(t, maxStale)
		trusted, other, stranger := r.keys[0], r.keys[1], r.keys[2]
		r.add(r.claim(trusted, 0, 0), r.claim(other, 0, 0))
		r.add(r.claim(trusted, 1, 0), r.claim(trusted, 1, 1))
		log := file(r.rules, r.all...)
		if _, err := Replay(bytes.NewReader(log), ReplayOptions{Check: CheckClaims}); err != nil {
			t.Fatal(err)
		}

		foreign := r.claim(stranger, 2, 0)
		block, _ := foreign.Encode()
		if _, err := r.rules.CheckClaim(block); !errors.Is(err, ErrUntrusted) {
			t.Errorf("a stranger's claim: %v", err)
		}
		refused := func(what string, want error, e *Entry, seal *Seal, claims ...*Claim) {
			t.Helper()
			entry, _ := e.Encode()
			sealed, _ := seal.Encode()
			if _, err := r.rules.CheckEntry(entry, sealed); len(claims) == 0 && !errors.Is(err, want) {
				t.Errorf("%s: %v", what, err)
			}
			if len(claims) == 0 {
				claims = []*Claim{r.claim(trusted, 2, 0), r.claim(trusted, 2, 1)}
			}
			bad := AppendGeneration(bytes.Clone(log), e, seal, claims)
			if _, err := Replay(bytes.NewReader(bad), ReplayOptions{Check: CheckLinks}); !errors.Is(err, want) {
				t.Errorf("%s, in a file: %v", what, err)
			}
		}
		good, _, _ := r.entry(r.claim(trusted, 2, 0), r.claim(trusted, 2, 1))
		usurped := *good.Value()
		usurped.Leader = PeerOf(stranger)
		refused("a stranger's entry", ErrUntrusted, &usurped, NewSeal(&usurped, stranger, nil))
		votes := []Vote{NewVote(r.rules.Run, good.Value().Term, PeerOf(trusted), other)}
		refused("an entry with votes", ErrMalformed, good.Value(), NewSeal(good.Value(), trusted, votes))
		mixed, _, _ := r.entry(r.claim(trusted, 2, 0), foreign)
		refused("an entry with a stranger's claim", ErrUntrusted, mixed.Value(), mixed.Seal().Value(), r.claim(trusted, 2, 0), foreign)
	}
}
