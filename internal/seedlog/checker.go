package seedlog

import "bytes"

const (
	maxCheckedClaims  = 1 << 12
	maxCheckedEntries = 1 << 9
)

// Checker checks blocks as [Rules.CheckClaim] and [Rules.CheckEntry] do, and remembers some thousands of
// them: the same block comes from several peers, and its signatures are verified once. Not safe for
// concurrent use.
type Checker struct {
	rules   *Rules
	claims  map[Link]CheckedClaim
	entries map[Link]CheckedEntry
}

// NewChecker returns a checker for a run that remembers nothing yet.
func NewChecker(rules *Rules) *Checker {
	return &Checker{rules: rules, claims: make(map[Link]CheckedClaim), entries: make(map[Link]CheckedEntry)}
}

// Claim checks a claim.
func (k *Checker) Claim(data []byte) (CheckedClaim, error) {
	raw := NewRawBlock(data)
	if c, ok := k.claims[raw.link]; ok {
		return c, nil
	}
	c, err := k.rules.checkedClaim(raw)
	if err == nil {
		if len(k.claims) >= maxCheckedClaims {
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

// Proof checks a proof about a claim.
func (k *Checker) Proof(data []byte, claim CheckedClaim) (CheckedProof, error) {
	return k.rules.CheckProof(data, claim)
}
