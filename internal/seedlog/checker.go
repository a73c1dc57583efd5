package seedlog

import "bytes"

const (
	maxCheckedClaims  = 1 << 12 // more where an entry may name more
	maxCheckedEntries = 1 << 9
	maxCheckedProofs  = 1 << 10
)

// Checker checks blocks as [Rules.CheckClaim] and [Rules.CheckEntry] do, and remembers some thousands of
// them: the same block comes from several peers, and its signatures are verified once. Not safe for
// concurrent use.
type Checker struct {
	rules   *Rules
	claims  map[Link]CheckedClaim
	entries map[Link]CheckedEntry
	proofs  map[Link]CheckedProof
}

// NewChecker returns a checker for a run that remembers nothing yet.
func NewChecker(rules *Rules) *Checker {
	return &Checker{rules: rules, claims: make(map[Link]CheckedClaim), entries: make(map[Link]CheckedEntry), proofs: make(map[Link]CheckedProof)}
}

// Vouch checks what [NewVouch] signed.
func (k *Checker) Vouch(height uint64, entry Link, signer Peer, signature []byte) error {
	return checkSignature("vouch", signer, signature, vouchMessage(k.rules.Run, height, entry))
}

// Run names the run whose blocks are checked.
func (k *Checker) Run() Link { return k.rules.Run }

// Claim checks a claim.
func (k *Checker) Claim(data []byte) (CheckedClaim, error) {
	raw := NewRawBlock(data)
	if c, ok := k.claims[raw.link]; ok {
		return c, nil
	}
	c, err := k.rules.checkedClaim(raw)
	if err == nil {
		if uint64(len(k.claims)) >= max(maxCheckedClaims, 2*k.rules.MostClaims()) {
			clear(k.claims)
		}
		k.claims[raw.link] = c
	}
	return c, err
}

// Entry checks an entry and its seal.
func (k *Checker) Entry(entry, seal []byte) (CheckedEntry, error) {
	raw := NewRawBlock(entry)
	if e, ok := k.entries[raw.link]; ok && bytes.Equal(e.seal.data, seal) {
		return e, nil
	}
	e, err := k.rules.checkedEntry(raw, seal)
	if err == nil {
		if len(k.entries) >= maxCheckedEntries {
			clear(k.entries)
		}
		k.entries[raw.link] = e
	}
	return e, err
}

// Join adds to an entry the batches that it names, and checks these.
func (k *Checker) Join(entry CheckedEntry, batches [][]byte) (CheckedEntry, error) {
	joined, err := k.rules.Join(entry, batches)
	if _, ok := k.entries[entry.link]; ok && err == nil {
		k.entries[entry.link] = joined
	}
	return joined, err
}

// Proof checks a proof about a claim. Every segment carries the newest ones.
func (k *Checker) Proof(data []byte, claim CheckedClaim) (CheckedProof, error) {
	link := LinkOf(data)
	if p, ok := k.proofs[link]; ok && p.value.Claim == claim.link {
		return p, nil
	}
	p, err := k.rules.CheckProof(data, claim)
	if err == nil {
		if len(k.proofs) >= maxCheckedProofs {
			clear(k.proofs)
		}
		k.proofs[link] = p
	}
	return p, err
}
