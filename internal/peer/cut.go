package peer

import (
	"errors"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/internal/store"
)

// cutter is a store that may take so many bytes, and drops the older part of its chain for that.
type cutter interface {
	// Excess says where to cut, at a height up to most, if the store takes too much.
	Excess(most uint64) (height uint64, ok bool)
	// Prepare copies what stays. It takes long, and is called outside the loop.
	Prepare(c store.Cut) error
	// Cut puts that in place. Blocks that need lists stay.
	Cut(need []seedlog.Link) error
}

// cut has the store drop the older part of the chain if that takes too much: what is to stay is copied outside the
// loop.
func (p *Peer) cut() {
	s, ok := p.archive.get().(cutter)
	if !ok || p.driver.stuck != nil || p.driver.cutting {
		return
	}
	height, ok := s.Excess(p.driver.coord.Cuttable())
	if !ok {
		return
	}
	p.driver.cutting = true
	go func() {
		b, err := coordinator.Summaries{Rules: p.rules, Archive: &p.archive}.Beginning(height)
		if err == nil {
			err = s.Prepare(store.Cut{Height: b.Height, Data: b.Data, Start: b.Start, Len: b.Len, Evaluations: b.Evaluations, Steps: b.Steps})
		}
		p.inbox.post(func() { p.cutAt(s, height, err) })
	}()
}

// cutAt puts the copy in place, if the chain still may begin there.
func (p *Peer) cutAt(s cutter, height uint64, err error) {
	d := &p.driver
	d.cutting = false
	if any(p.archive.get()) != any(s) || d.stuck != nil || d.coord.Cuttable() < height {
		return
	}
	if err == nil {
		err = s.Cut(d.coord.Needs())
	}
	switch {
	case errors.Is(err, store.ErrCut): // soon again
	case err != nil:
		p.log.Warn("cannot drop the older part of the chain", "err", err) // a failed store is opened again
	default:
		first := p.archive.First()
		p.log.Info("dropped the older part of the chain", "first", first)
		if p.cfg.Dropped != nil {
			p.cfg.Dropped(first, d.coord.Elsewhere())
		}
	}
}
