package seedlog

import "bytes"

// How many bytes a Checker remembers. In a node the claims of one entry, which come in a message of less than 1
// MiB, have room in half of theirs.
const (
	checkedClaims  = 8 << 20 / memoDivisor
	checkedEntries = 4 << 20 / memoDivisor
	checkedProofs  = 1 << 20 / memoDivisor
	// checkedExtra is about what a checked block takes besides twice its bytes, and checkedLink what a link takes.
	checkedExtra, checkedLink = 512, 64
)

// Checker checks blocks as [Rules.CheckClaim] and [Rules.CheckEntry] do, and remembers some thousands of
// them: the same block comes from several peers, and its signatures are verified once. Strangers sign as many as they
// like, and a page is open for hours, so what is remembered is bounded by its bytes. Not safe for concurrent use.
type Checker struct {
	rules   *Rules
	claims  memo[CheckedClaim]
	entries memo[CheckedEntry]
	proofs  memo[CheckedProof]
}

// NewChecker returns a checker for a run that remembers nothing yet.
func NewChecker(rules *Rules) *Checker {
	return &Checker{rules, newMemo[CheckedClaim](checkedClaims), newMemo[CheckedEntry](checkedEntries), newMemo[CheckedProof](checkedProofs)}
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
	if c, ok := k.claims.get(raw.link); ok {
		return c, nil
	}
	c, err := k.rules.checkedClaim(raw)
	if err == nil {
		k.claims.put(raw.link, c, 2*len(data)+checkedExtra)
	}
	return c, err
}

// Entry checks an entry and its seal.
func (k *Checker) Entry(entry, seal []byte) (CheckedEntry, error) {
	raw := NewRawBlock(entry)
	if e, ok := k.entries.get(raw.link); ok && bytes.Equal(e.seal.data, seal) {
		return e, nil
	}
	e, err := k.rules.checkedEntry(raw, seal)
	if err == nil {
		k.remember(e)
	}
	return e, err
}

func (k *Checker) remember(e CheckedEntry) {
	k.entries.put(e.link, e, 2*(len(e.data)+len(e.seal.data))+checkedExtra+checkedLink*len(e.value.Claims))
}

// Join adds to an entry the batches that it names, and checks these.
func (k *Checker) Join(entry CheckedEntry, batches [][]byte) (CheckedEntry, error) {
	joined, err := k.rules.Join(entry, batches)
	if _, ok := k.entries.get(entry.link); ok && err == nil {
		k.remember(joined)
	}
	return joined, err
}

// Proof checks a proof about a claim. Every segment carries the newest ones.
func (k *Checker) Proof(data []byte, claim CheckedClaim) (CheckedProof, error) {
	link := LinkOf(data)
	if p, ok := k.proofs.get(link); ok && p.value.Claim == claim.link {
		return p, nil
	}
	p, err := k.rules.CheckProof(data, claim)
	if err == nil {
		k.proofs.put(link, p, 2*len(data)+checkedExtra)
	}
	return p, err
}
