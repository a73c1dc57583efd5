package seedlog

import (
	"crypto/ed25519"
	"fmt"
)

// Attestation is a peer's word, in an entry, that it re-ran a claim and got the same results. It answers for a claim
// that the leader did not re-run.
type Attestation struct {
	_         struct{} `cbor:",toarray"`
	Claim     uint64   // its place in the entry, in a batch's block that in the batch
	Peer      Peer
	Signature []byte
}

// MaxAttestations bounds the attestations of one entry that names its claims itself.
const MaxAttestations = 128

// Attest signs that a re-run of claim gave the same results.
func Attest(run, claim Link, key ed25519.PrivateKey) []byte {
	return ed25519.Sign(key, attestMessage(run, claim))
}

func attestMessage(run, claim Link) []byte { return tagged(tagAttest, run.Bytes(), claim.Bytes()) }

// CheckAttest checks what [Attest] signed.
func CheckAttest(run, claim Link, peer Peer, signature []byte) error {
	return checkSignature("attestation", peer, signature, attestMessage(run, claim))
}

// checkAttestations checks attestations of so many claims without their signatures: their claims are there, in order.
func checkAttestations(attestations []Attestation, claims, most int) error {
	if len(attestations) > most {
		return fmt.Errorf("%w: %d attestations, at most %d", ErrTooLarge, len(attestations), most)
	}
	for i, a := range attestations {
		if a.Claim >= uint64(claims) || i > 0 && a.Claim <= attestations[i-1].Claim {
			return fmt.Errorf("%w: attestation of claim %d of %d, out of order or range", ErrMalformed, a.Claim, claims)
		}
	}
	return nil
}

// checkAttested verifies the attestations of an entry of the run.
func (r *Rules) checkAttested(e *Entry) error {
	if len(e.Attestations) > 0 && r.Spec.SpotChecks == nil {
		return fmt.Errorf("%w: attestations, in a run without spot checks", ErrMalformed)
	}
	for _, a := range e.Attestations {
		if err := CheckAttest(r.Run, e.Claims[a.Claim], a.Peer, a.Signature); err != nil {
			return err
		}
	}
	return nil
}
