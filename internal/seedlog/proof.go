package seedlog

import (
	"crypto/ed25519"
	"fmt"
	"slices"
)

// Proof is a fraud proof: it says that one result of a claim is false, and what the re-run gave. Every peer
// re-runs it before acting on it.
type Proof struct {
	Claim     Link    `cbor:"claim"`
	Counter   uint64  `cbor:"counter"`
	Fitness   []int64 `cbor:"fitness"` // one value, or two when antithetic
	Steps     uint64  `cbor:"steps"`
	Accuser   Peer    `cbor:"accuser"`
	Signature []byte  `cbor:"signature"`
}

// NewProof builds and signs a proof of run.
func NewProof(run, claim Link, counter uint64, fitness []int64, steps uint64, key ed25519.PrivateKey) *Proof {
	p := &Proof{Claim: claim, Counter: counter, Fitness: slices.Clone(fitness), Steps: steps, Accuser: PeerOf(key), Signature: []byte{}}
	p.Signature = ed25519.Sign(key, p.signed(run))
	return p
}

func (p *Proof) signed(run Link) []byte {
	body := *p
	body.Signature = []byte{}
	return tagged(tagProof, run.Bytes(), Encode(&body))
}

// check verifies the accuser's signature, and that the proof is about a counter of the claim.
func (p *Proof) check(r *Rules, claim Block[Claim]) error {
	c := claim.value
	if claim.link != p.Claim {
		return fmt.Errorf("%w: proof of %s with claim %s", ErrLink, p.Claim, claim.link)
	}
	if first := r.First(c); p.Counter < first || p.Counter-first >= uint64(len(c.Steps)) || len(p.Fitness)*len(c.Steps) != len(c.Fitness) {
		return fmt.Errorf("%w: counter %d is not in the claim", ErrMalformed, p.Counter)
	}
	return checkSignature("proof", p.Accuser, p.Signature, p.signed(r.Run))
}

// Contradicts reports whether a proof's re-run differs from what the claim states.
func (r *Rules) Contradicts(p *Proof, c *Claim) bool {
	fitness, steps := r.At(c, p.Counter)
	return steps != p.Steps || !slices.Equal(fitness, p.Fitness)
}

// At returns the fitness values and steps that the claim states for counter, which must be one of its own.
func (r *Rules) At(c *Claim, counter uint64) (fitness []int64, steps uint64) {
	i, signs := counter-r.First(c), uint64(r.signs(c))
	return c.Fitness[i*signs : (i+1)*signs], c.Steps[i]
}

// Encode returns the proof's block and its link.
func (p *Proof) Encode() ([]byte, Link) {
	data := Encode(p)
	return data, LinkOf(data)
}

// DecodeProof reads a proof block. It checks the form; [Rules.CheckProof] checks the rest.
func DecodeProof(data []byte) (*Proof, error) {
	p := new(Proof)
	if err := decode(data, MaxProofBytes, p); err != nil {
		return nil, fmt.Errorf("proof: %w", err)
	}
	return p, nil
}
