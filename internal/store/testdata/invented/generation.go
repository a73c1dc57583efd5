// Package invented makes generations of invented results for tests of stores: of the form and the size of real ones, but
// nobody measured or signed them.
package invented

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// Generation is one entry with its blocks.
type Generation struct {
	Blocks      []seedlog.RawBlock // entry, seal, claims
	Entry, Seal seedlog.Link
	Height      uint64
}

// After makes the generation above parent, with so many claims of so many counters each.
func After(run, parent seedlog.Link, height uint64, claims, counters int) Generation {
	noise := sha256.Sum256(binary.LittleEndian.AppendUint64(parent.Bytes(), height))
	e := &seedlog.Entry{Run: run, Height: height, Parent: parent, Term: 1, Theta: noise[:], State: noise[:]}
	var blocks []seedlog.RawBlock
	for i := range claims {
		c := &seedlog.Claim{Parent: parent, Chunk: uint64(i), Signature: make([]byte, 64)}
		for range counters {
			noise = sha256.Sum256(noise[:])
			c.Fitness = append(c.Fitness, int64(binary.LittleEndian.Uint32(noise[:])>>4))
			c.Steps = append(c.Steps, uint64(noise[9])+24)
		}
		copy(c.Signature, noise[:])
		b := seedlog.NewRawBlock(seedlog.Encode(c))
		e.Claims = append(e.Claims, b.Link())
		blocks = append(blocks, b)
	}
	data, link := e.Encode()
	seal := seedlog.NewRawBlock(seedlog.Encode(&seedlog.Seal{Entry: link, Signature: noise[:], Votes: []seedlog.Vote{}}))
	return Generation{append([]seedlog.RawBlock{seedlog.NewRawBlock(data), seal}, blocks...), link, seal.Link(), height}
}

// Kept is a store that gave back what it was given.
type Kept interface {
	At(height uint64) (entry, seal seedlog.Link, ok bool)
	Height(entry seedlog.Link) (uint64, bool)
	Block(link seedlog.Link) ([]byte, bool)
}

// Compare compares a height of a chain of invented generations with what a store has of it.
func Compare(k Kept, run seedlog.Link, height uint64, claims, counters int) error {
	parent := run
	if height > 1 {
		parent, _, _ = k.At(height - 1)
	}
	g := After(run, parent, height, claims, counters)
	if entry, seal, ok := k.At(height); !ok || entry != g.Entry || seal != g.Seal {
		return fmt.Errorf("height %d is another", height)
	}
	if at, ok := k.Height(g.Entry); !ok || at != height {
		return fmt.Errorf("the entry of height %d is found at %d", height, at)
	}
	for _, b := range g.Blocks {
		if data, ok := k.Block(b.Link()); !ok || !bytes.Equal(data, b.Bytes()) {
			return fmt.Errorf("a block of height %d is missing or another", height)
		}
	}
	return nil
}
