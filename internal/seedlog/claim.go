package seedlog

import (
	"crypto/ed25519"
	"fmt"

	"github.com/evoswarm/evoswarm/internal/evolve"
)

// Claim says what one peer measured on one parent, for one chunk of C counters, in format 2 for one or more: for the
// counters from Chunk*C on, as many as it has steps. It is a tuple, since there are many claims. The run is not
// included (the parent determines it), but the signature covers it.
type Claim struct {
	_         struct{} `cbor:",toarray"`
	Parent    Link     // entry (or genesis) whose state was perturbed
	Peer      Peer     // author, whose key is part of the names of the seeds
	Chunk     uint64   // k, the first one; counts only together with chunks 0 to k-1 of the same peer and parent
	Fitness   []int64  // fixed point 2^-20, one per counter, or two (sign +1, sign -1) when antithetic
	Steps     []uint64 // env-steps, one per counter (both signs together)
	Signature []byte   // 64 bytes
}

// NewClaim builds and signs a claim of run.
func NewClaim(run, parent Link, key ed25519.PrivateKey, chunk uint64, fitness []int64, steps []uint64) *Claim {
	c := &Claim{Parent: parent, Peer: PeerOf(key), Chunk: chunk, Fitness: fitness, Steps: steps, Signature: []byte{}}
	c.Signature = ed25519.Sign(key, c.signed(run))
	return c
}

func (c *Claim) signed(run Link) []byte {
	body := *c
	body.Signature = []byte{}
	return tagged(tagClaim, run.Bytes(), Encode(&body))
}

// Encode returns the claim's block and its link.
func (c *Claim) Encode() ([]byte, Link) {
	data := Encode(c)
	return data, LinkOf(data)
}

// DecodeClaim reads a claim block. It checks the form; [Rules.CheckClaim] checks the rest.
func DecodeClaim(data []byte) (*Claim, error) {
	c := new(Claim)
	if err := decode(data, MaxClaimBytes, c); err != nil {
		return nil, fmt.Errorf("claim: %w", err)
	}
	return c, nil
}

// Evaluations counts the fitness values of the claim (both signs of a pair count).
func (c *Claim) Evaluations() uint64 { return uint64(len(c.Fitness)) }

// TotalSteps adds the env-steps of the claim.
func (c *Claim) TotalSteps() uint64 {
	var n uint64
	for _, s := range c.Steps {
		n += s
	}
	return n
}

// Best returns the highest fitness of the claim and which of its results has it; invalid fitness ranks last.
func (c *Claim) Best() (fitness int64, result uint64) {
	fitness = evolve.InvalidFitness
	perCounter := len(c.Fitness) / max(len(c.Steps), 1)
	for i, f := range c.Fitness {
		if f > fitness {
			fitness, result = f, uint64(i/max(perCounter, 1))
		}
	}
	return fitness, result
}
