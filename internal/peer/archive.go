package peer

import (
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/internal/store"
)

// archive is the store in use; it may be another one after a failure.
type archive struct{ current atomic.Pointer[store.Store] }

func (a *archive) set(s store.Store) { a.current.Store(&s) }

func (a *archive) get() store.Store { return *a.current.Load() }

// Block implements coordinator.Archive.
func (a *archive) Block(link seedlog.Link) ([]byte, bool) { return a.get().Block(link) }

// At implements coordinator.Archive.
func (a *archive) At(height uint64) (entry, seal seedlog.Link, ok bool) { return a.get().At(height) }

// Height implements coordinator.Archive.
func (a *archive) Height(entry seedlog.Link) (uint64, bool) { return a.get().Height(entry) }

// Summary implements coordinator.Archive.
func (a *archive) Summary(most uint64) (height uint64, data []byte, ok bool) {
	return a.get().Summary(most)
}

// writeLog writes the canonical chain of s as a seed log, block by block as they were received.
func writeLog(w io.Writer, rules *seedlog.Rules, s store.Store) error {
	if _, err := w.Write(rules.AppendBeginning(nil)); err != nil {
		return err
	}
	var b []byte
	parent := rules.Run
	for height, end := uint64(1), s.Length(); height <= end; height++ {
		entry, seal, ok := s.At(height)
		if !ok {
			break // a shorter branch won meanwhile
		}
		var err error
		if b, err = appendGeneration(b[:0], s, entry, seal, parent); err != nil {
			return fmt.Errorf("peer: height %d: %w", height, err)
		}
		parent = entry
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	return nil
}

// errMoved says that another branch won while the log was written.
var errMoved = errors.New("another branch became the canonical one meanwhile; try again")

// appendGeneration appends the claims of an entry on parent, the entry and its seal as sections of a seed log.
func appendGeneration(b []byte, s store.Store, link, seal, parent seedlog.Link) ([]byte, error) {
	data, ok := s.Block(link)
	if !ok {
		return b, fmt.Errorf("entry %s is not in the store", link)
	}
	e, err := seedlog.DecodeEntry(data)
	if err != nil {
		return b, err
	}
	if e.Parent != parent {
		return b, errMoved
	}
	for _, l := range e.Claims {
		claim, ok := s.Block(l)
		if !ok {
			return b, fmt.Errorf("claim %s is not in the store", l)
		}
		b = seedlog.AppendLinked(b, l, claim)
	}
	b = seedlog.AppendLinked(b, link, data)
	sealed, ok := s.Block(seal)
	if !ok {
		return b, fmt.Errorf("seal %s is not in the store", seal)
	}
	return seedlog.AppendLinked(b, seal, sealed), nil
}
