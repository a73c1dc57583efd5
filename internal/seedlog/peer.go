package seedlog

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
)

// ErrSignature is returned for a signature that its stated signer did not make.
var ErrSignature = errors.New("seedlog: wrong signature")

// Domain tags: each hash and signature covers its own, so that none passes for another.
const (
	tagClaim        = "evoswarm/claim/1"
	tagSeal         = "evoswarm/seal/1"
	tagVote         = "evoswarm/vote/1"
	tagVouch        = "evoswarm/vouch/1"
	tagAttest       = "evoswarm/attestation/1"
	tagProof        = "evoswarm/proof/1"
	tagContribution = "evoswarm/contribution/1"
	tagPerturb      = "evoswarm/perturb/1"
	tagTrain        = "evoswarm/episode/train/1"
	tagValidate     = "evoswarm/episode/validate/1"
	tagObserve      = "evoswarm/episode/observe/1"
	tagTest         = "evoswarm/episode/test/1"
	tagHeldOut      = "evoswarm/episode/heldout/1"
	tagShare        = "evoswarm/heldout/1"
	tagInit         = "evoswarm/init/1"
	tagSolo         = "evoswarm/solo/1"
)

// Peer is the Ed25519 public key of a peer.
type Peer [ed25519.PublicKeySize]byte

// PeerOf returns the public half of key.
func PeerOf(key ed25519.PrivateKey) Peer {
	return Peer(key.Public().(ed25519.PublicKey))
}

// String is the key in hexadecimal.
func (p Peer) String() string { return hex.EncodeToString(p[:]) }

// Short is the first eight hexadecimal digits, for people.
func (p Peer) Short() string { return hex.EncodeToString(p[:4]) }

// Compare orders peers by their key's bytes.
func (p Peer) Compare(q Peer) int { return bytes.Compare(p[:], q[:]) }

// tagged returns the bytes that a signature under tag covers: the tag, a zero byte, and the parts.
func tagged(tag string, parts ...[]byte) []byte {
	n := len(tag) + 1
	for _, p := range parts {
		n += len(p)
	}
	b := make([]byte, 0, n)
	b = append(append(b, tag...), 0)
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

func hashTagged(tag string, parts ...[]byte) [32]byte {
	return sha256.Sum256(tagged(tag, parts...))
}

func checkSignature(what string, signer Peer, signature, message []byte) error {
	if len(signature) != ed25519.SignatureSize || !ed25519.Verify(signer[:], message, signature) {
		return fmt.Errorf("%w: %s of %s", ErrSignature, what, signer.Short())
	}
	return nil
}
