package peer

import (
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

// writeLog writes the canonical chain of s as a seed log, block by block as they were received.
func writeLog(w io.Writer, rules *seedlog.Rules, s store.Store) error {
	entries, seals := s.Chain()
	if _, err := w.Write(rules.AppendBeginning(nil)); err != nil {
		return err
	}
	var b []byte
	for i, link := range entries {
		var err error
		if b, err = appendGeneration(b[:0], s, link, seals[i]); err != nil {
			return fmt.Errorf("peer: height %d: %w", i+1, err)
		}
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	return nil
}

// appendGeneration appends the claims of an entry, the entry and its seal as sections of a seed log.
func appendGeneration(b []byte, s store.Store, link, seal seedlog.Link) ([]byte, error) {
	data, ok := s.Block(link)
	if !ok {
		return b, fmt.Errorf("entry %s is not in the store", link)
	}
	e, err := seedlog.DecodeEntry(data)
	if err != nil {
		return b, err
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
