// This file takes the place of those of libp2p's core/crypto that know kinds of keys other than Ed25519, in the tab's
// program alone (wasm/slim). Peers of a run have Ed25519 keys (docs/spec/protocol.md), so a tab has nothing to say to
// others, and refuses them here, before it looks at a signature.

package crypto

import (
	"fmt"
	"io"
)

// otherKind refuses a key.
func otherKind(kind string) error {
	return fmt.Errorf("%w: a tab knows Ed25519 keys, and this is one of %s", ErrBadKeyType, kind)
}

// GenerateRSAKeyPair fails.
func GenerateRSAKeyPair(int, io.Reader) (PrivKey, PubKey, error) { return nil, nil, otherKind("RSA") }

// GenerateECDSAKeyPair fails.
func GenerateECDSAKeyPair(io.Reader) (PrivKey, PubKey, error) { return nil, nil, otherKind("ECDSA") }

// GenerateSecp256k1Key fails.
func GenerateSecp256k1Key(io.Reader) (PrivKey, PubKey, error) {
	return nil, nil, otherKind("secp256k1")
}

// UnmarshalRsaPrivateKey fails.
func UnmarshalRsaPrivateKey([]byte) (PrivKey, error) { return nil, otherKind("RSA") }

// UnmarshalECDSAPrivateKey fails.
func UnmarshalECDSAPrivateKey([]byte) (PrivKey, error) { return nil, otherKind("ECDSA") }

// UnmarshalSecp256k1PrivateKey fails.
func UnmarshalSecp256k1PrivateKey([]byte) (PrivKey, error) { return nil, otherKind("secp256k1") }

// UnmarshalRsaPublicKey fails.
func UnmarshalRsaPublicKey([]byte) (PubKey, error) { return nil, otherKind("RSA") }

// UnmarshalECDSAPublicKey fails.
func UnmarshalECDSAPublicKey([]byte) (PubKey, error) { return nil, otherKind("ECDSA") }

// UnmarshalSecp256k1PublicKey fails.
func UnmarshalSecp256k1PublicKey([]byte) (PubKey, error) { return nil, otherKind("secp256k1") }

// RsaPublicKey is never made; what surrounds this file names it.
type RsaPublicKey struct {
	PubKey
	cached []byte
}
