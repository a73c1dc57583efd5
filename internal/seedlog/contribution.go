package seedlog

import (
	"crypto/ed25519"
	"encoding/binary"
)

// Contribution says what the owner of a key did for a run up to an entry: a count of the log, signed with the
// key, so that nobody else can show it as his own. It is no block.
type Contribution struct {
	Run         Link
	Peer        Peer
	Evaluations uint64 // of the claims of Peer in the log up to Head
	Steps       uint64 // env-steps of them
	Height      uint64 // of Head
	Head        Link
	Signature   []byte // of Peer
}

// Sign signs it with key, which must be that of Peer.
func (c *Contribution) Sign(key ed25519.PrivateKey) { c.Signature = ed25519.Sign(key, c.signed()) }

// Check reports whether the owner of the key made it. What it says of the log only the log can show.
func (c *Contribution) Check() error {
	return checkSignature("contribution", c.Peer, c.Signature, c.signed())
}

func (c *Contribution) signed() []byte {
	var numbers []byte
	for _, n := range []uint64{c.Evaluations, c.Steps, c.Height} {
		numbers = binary.LittleEndian.AppendUint64(numbers, n)
	}
	return tagged(tagContribution, c.Run.Bytes(), c.Peer[:], numbers, c.Head.Bytes())
}
