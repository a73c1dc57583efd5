package seedlog

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/fxamacker/cbor/v2"
	"github.com/ipfs/go-cid"
	"github.com/multiformats/go-multihash"
)

var (
	// ErrMalformed is returned for bytes that are not one block of the expected kind.
	ErrMalformed = errors.New("seedlog: malformed block")
	// ErrNotCanonical is returned for bytes that decode but are not the canonical DAG-CBOR of what they say.
	ErrNotCanonical = errors.New("seedlog: not canonical DAG-CBOR")
	// ErrTooLarge is returned for a block, list or file over its limit.
	ErrTooLarge = errors.New("seedlog: over the size limit")
)

// Limits of single blocks, in bytes of their encoding.
const (
	MaxSpecBytes  = 16 << 10
	MaxClaimBytes = 16 << 10
	MaxEntryBytes = 64 << 10
	MaxBatchBytes = 40 << 10
	MaxSealBytes  = 16 << 10
	MaxProofBytes = 4 << 10
	// MaxBlockBytes bounds any block.
	MaxBlockBytes = MaxEntryBytes
)

var encMode, decMode = mustModes()

func mustModes() (cbor.EncMode, cbor.DecMode) {
	enc, err := cbor.EncOptions{
		Sort:          cbor.SortLengthFirst, // DAG-CBOR's map order
		ShortestFloat: cbor.ShortestFloatNone,
		NaNConvert:    cbor.NaNConvertReject,
		InfConvert:    cbor.InfConvertReject,
		IndefLength:   cbor.IndefLengthForbidden,
		NilContainers: cbor.NilContainerAsEmpty,
	}.EncMode()
	if err != nil {
		panic("seedlog: " + err.Error())
	}
	dec, err := cbor.DecOptions{
		DupMapKey:         cbor.DupMapKeyEnforcedAPF,
		IndefLength:       cbor.IndefLengthForbidden,
		ExtraReturnErrors: cbor.ExtraDecErrorUnknownField,
		UTF8:              cbor.UTF8RejectInvalid,
		MaxArrayElements:  1 << 14,
		MaxMapPairs:       64,
		MaxNestedLevels:   6,
	}.DecMode()
	if err != nil {
		panic("seedlog: " + err.Error())
	}
	return enc, dec
}

// Encode returns the canonical DAG-CBOR of v, which must be one of the package's blocks. Canonical.
func Encode(v any) []byte {
	data, err := TryEncode(v)
	if err != nil {
		panic("seedlog: encoding: " + err.Error()) // blocks hold nothing that cannot be encoded once checked
	}
	return data
}

// TryEncode is Encode for values read from strangers that are not checked yet: a link in them may be
// undefined, which is an error wrapping ErrMalformed. Canonical.
func TryEncode(v any) ([]byte, error) {
	data, err := encMode.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrMalformed, err)
	}
	return data, nil
}

// decode fills v from data and refuses anything that Encode would not have written.
func decode(data []byte, limit int, v any) error {
	if len(data) > limit {
		return fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, len(data), limit)
	}
	if err := decMode.Unmarshal(data, v); err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	again, err := TryEncode(v)
	if err != nil {
		return err
	}
	if !bytes.Equal(again, data) {
		return ErrNotCanonical
	}
	return nil
}

// Link is the CID of a block of this package: version 1, dag-cbor, sha2-256. The zero Link is undefined and
// does not encode.
type Link struct{ cid.Cid }

const linkLen = 36 // version, codec, hash code, hash length, 32 bytes of digest

// linkHead is what precedes the CID's bytes: tag 42, a byte string of 37, and the multibase identity prefix.
var linkHead = [5]byte{0xd8, 0x2a, 0x58, 0x25, 0x00}

// LinkOf returns the link that names data.
func LinkOf(data []byte) Link {
	sum, err := multihash.Sum(data, multihash.SHA2_256, -1)
	if err != nil {
		panic("seedlog: " + err.Error())
	}
	return Link{cid.NewCidV1(cid.DagCBOR, sum)}
}

// ParseLink reads the text form of a link, such as a run id.
func ParseLink(s string) (Link, error) {
	c, err := cid.Decode(s)
	if err != nil {
		return Link{}, fmt.Errorf("seedlog: %.80q is not a CID: %w", s, err) // a stranger may send any length
	}
	return checkLink(c)
}

// LinkFromBytes reads the binary form of a link.
func LinkFromBytes(b []byte) (Link, error) {
	c, err := cid.Cast(b)
	if err != nil {
		return Link{}, fmt.Errorf("%w: %v", ErrMalformed, err)
	}
	return checkLink(c)
}

func checkLink(c cid.Cid) (Link, error) {
	p := c.Prefix()
	if p.Version != 1 || p.Codec != cid.DagCBOR || p.MhType != multihash.SHA2_256 || p.MhLength != 32 {
		return Link{}, fmt.Errorf("%w: CID %s is not v1 dag-cbor sha2-256", ErrMalformed, c)
	}
	return Link{c}, nil
}

// MarshalCBOR writes the link as DAG-CBOR does: tag 42 around the binary CID.
func (l Link) MarshalCBOR() ([]byte, error) {
	if !l.Defined() {
		return nil, errors.New("seedlog: undefined link")
	}
	return append(linkHead[:], l.Bytes()...), nil
}

// UnmarshalCBOR reads what MarshalCBOR writes and nothing else.
func (l *Link) UnmarshalCBOR(b []byte) error {
	if len(b) != len(linkHead)+linkLen || !bytes.Equal(b[:len(linkHead)], linkHead[:]) {
		return fmt.Errorf("%w: not a link", ErrMalformed)
	}
	link, err := LinkFromBytes(b[len(linkHead):])
	if err != nil {
		return err
	}
	*l = link
	return nil
}

// looseMode looks at single fields of a block whose other fields may be unknown.
var looseMode = func() cbor.DecMode {
	m, err := cbor.DecOptions{MaxArrayElements: 1 << 14, MaxMapPairs: 64, MaxNestedLevels: 8, IndefLength: cbor.IndefLengthForbidden}.DecMode()
	if err != nil {
		panic("seedlog: " + err.Error())
	}
	return m
}()
