package seedlog

import (
	"errors"
	"testing"
)

// TestCheckerChecksOnce: what was checked is given again as it is; another seal of the same entry is checked
// for itself, and nothing wrong is remembered.
func TestCheckerChecksOnce(t *testing.T) {
	rules := newRules(t, newSpec(t, "dises"))
	chain, _ := newChain(t, rules, 1)
	claim := chain[0]
	k := NewChecker(rules)
	data := Encode(claim.claims[0])
	first, err := k.Claim(data)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := k.Claim(data); err != nil || again.Value() != first.Value() {
		t.Errorf("the claim was read a second time: %v", err)
	}
	entry, seal := Encode(claim.entry), Encode(claim.seal)
	e, err := k.Entry(entry, seal)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := k.Entry(entry, seal); err != nil || again.Value() != e.Value() {
		t.Errorf("the entry was read a second time: %v", err)
	}
	foreign := Encode(NewSeal(claim.entry, newKey("x"), nil))
	for range 2 {
		if _, err := k.Entry(entry, foreign); !errors.Is(err, ErrSignature) {
			t.Errorf("with a foreign seal: got %v, want ErrSignature", err)
		}
		data[len(data)-1] ^= 1
		if _, err := k.Claim(data); !errors.Is(err, ErrSignature) {
			t.Errorf("with a wrong signature: got %v, want ErrSignature", err)
		}
		data[len(data)-1] ^= 1
	}
}
