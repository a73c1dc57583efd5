package mesh

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	ma "github.com/multiformats/go-multiaddr"
	"github.com/multiformats/go-multibase"
	"github.com/multiformats/go-multihash"
)

// checkCerthashes finds what is wrong with the hashes of certificates in an address.
func checkCerthashes(a ma.Multiaddr) error {
	hashes, err := certhashes(a)
	if err != nil {
		return err
	}
	for _, c := range a {
		code := c.Protocol().Code
		if (code == ma.P_WEBTRANSPORT || code == ma.P_WEBRTC_DIRECT) && len(hashes) == 0 {
			return errors.New("it lacks the hash of the node's certificate (/certhash/...); copy the address as the node prints it")
		}
	}
	return nil
}

// certhashes lists the SHA-256 of the certificates that an address names.
func certhashes(a ma.Multiaddr) ([][]byte, error) {
	var list [][]byte
	for _, c := range a {
		if c.Protocol().Code != ma.P_CERTHASH {
			continue
		}
		_, data, err := multibase.Decode(c.Value())
		if err != nil {
			return nil, fmt.Errorf("the hash of its certificate: %w", err)
		}
		hash, err := multihash.Decode(data)
		if err != nil {
			return nil, fmt.Errorf("the hash of its certificate: %w", err)
		}
		if hash.Code != multihash.SHA2_256 || len(hash.Digest) != 32 {
			return nil, fmt.Errorf("the hash of its certificate is %s, which browsers do not check; it has to be sha2-256", hash.Name)
		}
		list = append(list, hash.Digest)
	}
	return list, nil
}

// Renews reports whether two full addresses are one place whose certificate was renewed between them.
func Renews(now, before string) bool {
	a, err := ma.NewMultiaddr(now)
	if err != nil {
		return false
	}
	b, err := ma.NewMultiaddr(before)
	return err == nil && renews(a, b)
}

func renews(now, before ma.Multiaddr) bool {
	return !now.Equal(before) && withoutCerthashes(now).Equal(withoutCerthashes(before))
}

func withoutCerthashes(a ma.Multiaddr) ma.Multiaddr {
	return slices.DeleteFunc(slices.Clone(a), func(c ma.Component) bool { return c.Protocol().Code == ma.P_CERTHASH })
}

// confirms reports whether all the hashes of an address are among those that a node names.
func confirms(named, hashes [][]byte) bool {
	for _, h := range hashes {
		if !slices.ContainsFunc(named, func(n []byte) bool {
			d, err := multihash.Decode(n)
			return err == nil && d.Code == multihash.SHA2_256 && bytes.Equal(d.Digest, h)
		}) {
			return false
		}
	}
	return true
}
