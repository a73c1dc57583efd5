package peer

import (
	"sync/atomic"

	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/internal/store"
)

// archive is the store in use; it may be another one after a failure.
type archive struct{ current atomic.Pointer[store.Store] }

func (a *archive) set(s store.Store) { a.current.Store(&s) }

func (a *archive) get() store.Store { return *a.current.Load() }

// tidier is a store that keeps what is not canonical until it is told what of it is needed.
type tidier interface {
	Untidy() bool
	Tidy(need []seedlog.Link) error
}

// tidy has the store drop what nobody needs, once after the start and then when there is much.
func (p *Peer) tidy() {
	s, ok := p.archive.get().(tidier)
	if !ok || p.driver.stuck != nil || !s.Untidy() {
		return
	}
	if err := s.Tidy(p.driver.coord.Needs()); err != nil {
		p.log.Warn("tidying the store", "err", err) // the next save fails, and opens it again
	}
}

// Block implements coordinator.Archive.
func (a *archive) Block(link seedlog.Link) ([]byte, bool) { return a.get().Block(link) }

// First implements coordinator.Archive.
func (a *archive) First() uint64 { return a.get().First() }

// At implements coordinator.Archive.
func (a *archive) At(height uint64) (entry, seal seedlog.Link, ok bool) { return a.get().At(height) }

// Height implements coordinator.Archive.
func (a *archive) Height(entry seedlog.Link) (uint64, bool) { return a.get().Height(entry) }

// Summary implements coordinator.Archive.
func (a *archive) Summary(most uint64) (height uint64, data []byte, ok bool) {
	return a.get().Summary(most)
}
