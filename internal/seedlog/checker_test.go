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

// TestCheckerKeepsProofs: a proof is verified once, and only with its own claim.
func TestCheckerKeepsProofs(t *testing.T) {
	rules := newRules(t, newSpec(t, "dises"))
	chain, _ := newChain(t, rules, 1)
	k := NewChecker(rules)
	claim, other := rules.OwnClaim(chain[0].claims[0]), rules.OwnClaim(chain[0].claims[1])
	proof := NewProof(rules.Run, claim.Link(), claim.Value().Chunk*uint64(len(claim.Value().Steps)), claim.Value().Fitness[:rules.Signs()], 1, newKey("accuser"))
	data, _ := proof.Encode()
	first, err := k.Proof(data, claim)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := k.Proof(data, claim); err != nil || again.Value() != first.Value() {
		t.Errorf("the proof was read a second time: %v", err)
	}
	if _, err := k.Proof(data, other); !errors.Is(err, ErrLink) {
		t.Errorf("with another claim: got %v, want ErrLink", err)
	}
	data[len(data)-1] ^= 1
	if _, err := k.Proof(data, claim); err == nil {
		t.Error("a proof with a wrong signature was accepted")
	}
}

// TestCheckerKeepsBatches: an entry whose batches came once is given again with them.
func TestCheckerKeepsBatches(t *testing.T) {
	r := newStaleRun(t, batchSpec(t))
	own, _ := batchedEntry(t, r)
	k := NewChecker(r.rules)
	entry, err := k.Entry(own.Bytes(), own.Seal().Bytes())
	if err != nil || entry.Joined() {
		t.Fatalf("an entry alone: joined %v, %v", entry.Joined(), err)
	}
	var batches [][]byte
	for _, b := range own.Batches() {
		batches = append(batches, b.Bytes())
	}
	if _, err := k.Join(entry, batches); err != nil {
		t.Fatal(err)
	}
	if again, err := k.Entry(own.Bytes(), own.Seal().Bytes()); err != nil || !again.Joined() {
		t.Errorf("the same entry later: joined %v, %v", again.Joined(), err)
	}
}
