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
	// ErrCut is returned where the chain changed while its log was copied: try again later.
	ErrCut = errors.New("the log changed while it was copied")
	// ErrClosed is returned by calls to a store that was closed, or that failed to write: it then takes nothing more.
	ErrClosed = errors.New("the store is closed")
)

// Store keeps one run. Save and Close are called by one goroutine; the other methods are safe for concurrent use with
// everything.
type Store interface {
	// Block returns the block that link names. It is read-only, and costs one read of a file at most.
	Block(link seedlog.Link) ([]byte, bool)
	// Save stores a batch. All of it is durable when Save returns without an error; after an error the store
	// refuses more.
	Save(batch Batch) error
	// State returns the hard state that was saved last; nil if there was none. It is read-only.
	State() []byte
	// Length is the height of the newest canonical entry.
	Length() uint64
	// First is the height of the lowest canonical entry that is kept: 1, unless older ones were dropped.
	First() uint64
	// At returns the canonical entry of a height from First on and its seal, as Head moved them.
	At(height uint64) (entry, seal seedlog.Link, ok bool)
	// Height returns the height of a canonical entry.
	Height(entry seedlog.Link) (height uint64, ok bool)
	// SaveSummary keeps what a peer needs to restart at a height without reading what lies below, opaque, in place of
	// an older one. It is no part of what Save promises: it may be lost, and a failure harms nothing.
	SaveSummary(height uint64, data []byte) error
	// Summary returns the newest summary kept of a height up to most. It may be damaged, or of another branch.
	Summary(most uint64) (height uint64, data []byte, ok bool)
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
func (m *HeadMove) check(length uint64, has func(seedlog.Link) bool) error {
	if m.Fork > length {
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
