//go:build !js

package store

import (
	"errors"
	"fmt"
	"slices"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// Save implements [Store].
func (r *Run) Save(batch Batch) error {
	if r.err != nil {
		return r.err
	}
	err := r.save(batch)
	if err != nil && !errors.Is(err, ErrBatch) {
		r.err = err
	}
	return err
}

func (r *Run) save(batch Batch) error {
	if len(batch.State) > MaxState {
		return fmt.Errorf("%w: hard state of %d bytes, at most %d", ErrBatch, len(batch.State), MaxState)
	}
	fresh, err := r.fresh(batch.Blocks)
	if err != nil {
		return err
	}
	if batch.Head != nil {
		return r.move(batch.Head, fresh, batch.State)
	}
	if err := r.putAside(fresh); err != nil {
		return err
	}
	return r.writeState(r.slots.current, batch.State)
}

// fresh returns the blocks that the run does not hold yet.
func (r *Run) fresh(blocks []seedlog.RawBlock) ([]block, error) {
	var fresh []block
	seen := map[seedlog.Link]bool{}
	for _, b := range blocks {
		if n := len(b.Bytes()); n == 0 || n > seedlog.MaxBlockBytes {
			return nil, fmt.Errorf("%w: block of %d bytes", ErrBatch, n)
		}
		if !seen[b.Link()] && !r.has(b.Link()) {
			seen[b.Link()] = true
			fresh = append(fresh, block{b.Link(), b.Bytes()})
		}
	}
	return fresh, nil
}

// putAside writes blocks to the file next to the log, durably.
func (r *Run) putAside(blocks []block) error {
	if len(blocks) == 0 {
		return nil
	}
	written, err := r.aside.write(blocks)
	if err == nil {
		err = r.aside.sync()
	}
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, p := range written {
		r.aside.insert(p)
		r.seeSeal(p.link, blocks[i].data)
	}
	return nil
}

// writeState makes h durable, with a new state unless that is nil.
func (r *Run) writeState(h hardState, state []byte) error {
	if state != nil {
		h.state = slices.Clone(state)
	}
	if state == nil && h.head == r.slots.current.head && h.seal == r.slots.current.seal {
		return nil
	}
	if err := r.slots.write(h); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state = h.state
	return nil
}

// move changes the canonical chain.
func (r *Run) move(m *HeadMove, fresh []block, state []byte) error {
	tail, err := r.read(m, fresh)
	if err != nil {
		return err
	}
	h := r.slots.current
	h.head, h.seal = seedlog.Link{}, seedlog.Link{}
	if n := len(tail); n > 0 {
		h.head, h.seal = tail[n-1].link.entry, tail[n-1].link.seal
	} else if m.Fork > 0 {
		at := r.linkAt(int(m.Fork))
		if !at.entry.Defined() || !at.seal.Defined() {
			return fmt.Errorf("%w: %s cannot be read at height %d", ErrCorrupt, r.log.path, m.Fork)
		}
		h.head, h.seal = at.entry, at.seal
	}
	if int(m.Fork) == r.log.heights.height() {
		err = r.grow(tail, fresh, h, state)
	} else {
		err = r.reorganize(int(m.Fork), tail, fresh, h, state)
	}
	if err != nil {
		return err
	}
	return r.resettle(m.Fork)
}

// read gathers the blocks of the generations that a move names.
func (r *Run) read(m *HeadMove, fresh []block) ([]record, error) {
	given := make(map[seedlog.Link][]byte, len(fresh))
	for _, b := range fresh {
		given[b.link] = b.data
	}
	find := func(l seedlog.Link) ([]byte, bool) {
		if data, ok := given[l]; ok {
			return data, true
		}
		return r.Block(l)
	}
	has := func(l seedlog.Link) bool { return given[l] != nil || r.has(l) }
	if err := m.check(r.Length(), has); err != nil {
		return nil, err
	}
	if b := r.log.base; b != nil && m.Fork < b.At {
		return nil, fmt.Errorf("%w: head moves above height %d, the log begins with the state of %d", ErrBatch, m.Fork, b.At)
	}
	var tail []record
	for i, entry := range m.Entries {
		g, err := readRecord(entry, m.Seals[i], find)
		if err != nil {
			return nil, err
		}
		tail = append(tail, g)
	}
	return tail, nil
}

// grow appends to the chain: the log takes the blocks, and the state makes them count.
func (r *Run) grow(tail []record, fresh []block, h hardState, state []byte) error {
	logged := map[seedlog.Link]bool{}
	for _, g := range tail {
		for _, b := range g.blocks {
			logged[b.link] = true
		}
	}
	rest := slices.DeleteFunc(fresh, func(b block) bool { return logged[b.link] })
	if err := r.putAside(rest); err != nil {
		return err
	}
	added, err := r.extend(tail)
	if err != nil {
		return err
	}
	if err := r.log.flush(); err != nil {
		return err
	}
	if err := r.writeState(h, state); err != nil {
		return err
	}
	r.adopt(added)
	// Only now: the log never promises more than the state names.
	if err := r.log.promise(); err != nil {
		return err
	}
	r.log.saved.grow(r.log.heights, r.log.file)
	return nil
}

// reorganize replaces the chain above height fork.
func (r *Run) reorganize(fork int, tail []record, fresh []block, h hardState, state []byte) error {
	losing, err := r.losing(fork)
	if err != nil {
		return err
	}
	rest := slices.Clone(fresh)
	seen := map[seedlog.Link]bool{}
	for _, b := range fresh {
		seen[b.link] = true
	}
	for _, g := range append(slices.Clone(losing), tail...) {
		for _, b := range g.blocks {
			if !seen[b.link] && !r.aside.has(b.link) {
				seen[b.link] = true
				rest = append(rest, b)
			}
		}
	}
	if err := r.putAside(rest); err != nil {
		return err
	}
	r.mu.Lock()
	for _, g := range losing { // of several seals the log's counts
		r.seals[g.link.entry] = g.link.seal
	}
	r.mu.Unlock()
	lost, err := r.name(fork, losing)
	if err != nil {
		return err
	}
	end := r.log.heights.endOf(fork)
	if err := r.log.saved.cut(fork); err != nil {
		return err
	}
	if err := r.log.lower(end); err != nil {
		return err
	}
	if err := r.writeState(h, state); err != nil {
		return err
	}
	// From here on all blocks are read from the file next to the log until the log has them.
	r.mu.Lock()
	r.log.drop(end)
	r.cuts++
	r.mu.Unlock()
	if err := r.log.cut(end); err != nil {
		return err
	}
	added, err := r.extend(tail)
	if err != nil {
		return err
	}
	r.adopt(added)
	if err := r.log.sync(); err != nil {
		return err
	}
	if lost != nil && r.named.tell != nil {
		lost.Come = uint64(len(tail))
		r.named.tell(*lost)
	}
	return nil
}

// losing reads the generations above a height.
func (r *Run) losing(fork int) ([]record, error) {
	var all []record
	for height := fork + 1; height <= r.log.heights.height(); height++ {
		l := r.linkAt(height)
		g, err := readRecord(l.entry, l.seal, r.Block)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
		}
		all = append(all, g)
	}
	return all, nil
}

// extend writes generations at the end of the log. They are not durable yet, and not part of the chain: see adopt.
func (r *Run) extend(tail []record) (written [][]placed, err error) {
	for _, g := range tail {
		places, err := r.log.write(g.blocks)
		if err != nil {
			return nil, err
		}
		written = append(written, places)
	}
	return written, nil
}

// adopt makes the generations that were written at the end of the log part of the chain.
func (r *Run) adopt(written [][]placed) {
	r.mu.Lock()
	defer r.mu.Unlock()
	x := r.log.heights
	for _, g := range written {
		for _, p := range g {
			r.log.insert(p)
		}
		x.entries = append(x.entries, uint32(len(x.tags)-2))
	}
}
