package store

import (
	"errors"
	"fmt"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

var (
	// ErrBatch is returned for a batch that contradicts what is stored: a programming error of the caller.
	ErrBatch = errors.New("bad batch")
	// ErrFull is returned when the disk is full or the browser's quota is used up.
	ErrFull = errors.New("no space left")
	// ErrReadOnly is returned when the folder or the browser's database cannot be written.
	ErrReadOnly = errors.New("not writable")
	// ErrLocked is returned when another process uses the same folder or log.
	ErrLocked = errors.New("in use by another process")
	// ErrCorrupt is returned for a file whose fsynced part is not what was written.
	ErrCorrupt = errors.New("damaged file")
	// ErrClosed is returned by calls to a store that was closed, or that failed to write: it then takes nothing more.
	ErrClosed = errors.New("the store is closed")
)

// Store keeps one run. Block, State and Chain are safe for concurrent use with everything; Save and Close are called
// by one goroutine.
type Store interface {
	// Block returns the block that link names. It is read-only, and costs one read of a file at most.
	Block(link seedlog.Link) ([]byte, bool)
	// Save stores a batch. All of it is durable when Save returns without an error; after an error the store
	// refuses more.
	Save(batch Batch) error
	// State returns the hard state that was saved last; nil if there was none. It is read-only.
	State() []byte
	// Chain returns the canonical entries of heights 1, 2, ... and their seals, as Head moved them. They are copies.
	Chain() (entries, seals []seedlog.Link)
	// Close makes everything durable and releases the store.
	Close() error
}

// Batch is what Save stores at once.
type Batch struct {
	Blocks []seedlog.RawBlock // any blocks of the run, any branch; known ones are ignored
	State  []byte             // hard state, opaque, at most MaxState bytes; nil: unchanged
	Head   *HeadMove          // the canonical chain changed; nil: unchanged
}

// HeadMove replaces the canonical entries above height Fork. The blocks of the entries, of their seals and of the
// claims that the entries name must be in the batch or kept already.
type HeadMove struct {
	Fork    uint64         // height of the last common entry; 0: genesis
	Entries []seedlog.Link // of heights Fork+1, Fork+2, ...
	Seals   []seedlog.Link // of Entries, in the same order
}

// MaxState bounds a hard state, in bytes.
const MaxState = 1 << 20

// check reports whether m can move a chain of the given length, with all blocks at hand.
func (m *HeadMove) check(length int, has func(seedlog.Link) bool) error {
	if m.Fork > uint64(length) {
		return fmt.Errorf("%w: head moves above height %d, the chain has %d", ErrBatch, m.Fork, length)
	}
	if len(m.Entries) != len(m.Seals) {
		return fmt.Errorf("%w: %d entries and %d seals", ErrBatch, len(m.Entries), len(m.Seals))
	}
	for i, link := range m.Entries {
		if !has(link) || !has(m.Seals[i]) {
			return fmt.Errorf("%w: head moves to height %d, whose entry or seal was never saved", ErrBatch, m.Fork+uint64(i)+1)
		}
	}
	return nil
}
