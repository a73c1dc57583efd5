//go:build !js

package store

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// Run is the Store of one run in a data folder. It has three files:
//
// <run>.seedlog is the canonical chain, a seed log like any other: the only copy of these blocks.
// <run>.blocks has the blocks that are not in it: those of branches that lost, and evidence. <run>.state has
// the hard state and says where the canonical chain ends.
//
// A chain that grows is written to the log, then to the state. When another branch wins, all blocks of both
// are written next to the log first, then the state, and only then is the log's end replaced: at every moment
// the two files of blocks hold the chain that the state names, and opening the run makes the log whole from
// them. Runs of earlier versions, which kept every block in <run>.blocks, are opened as such a moment.
type Run struct {
	rules *seedlog.Rules
	log   *blockFile
	aside *blockFile
	slots *slots
	notes []string

	mu    sync.RWMutex // guards the indexes of both files and what follows; Save and Close are the only writers
	chain []link
	state []byte
	err   error
}

// link is one height of the canonical chain.
type link struct {
	entry, seal seedlog.Link
	end         int64 // where it ends in the log
}

// OpenRun opens what the folder keeps of the run, or begins it. What a crash tore beyond the recorded fsynced length is
// cut, see [Run.Notes]; damage before it gives ErrCorrupt, and nothing is changed.
func (d *Disk) OpenRun(rules *seedlog.Rules) (*Run, error) {
	r := &Run{rules: rules}
	if err := r.open(d.files, filepath.Join(d.dir, rules.Run.String())); err != nil {
		r.release()
		return nil, err
	}
	return r, nil
}

// open looks at everything before it changes anything.
func (r *Run) open(f filesystem, base string) (err error) {
	sealOf := map[seedlog.Link]seedlog.Link{} // the first seal of each entry; that of the log counts
	see := func(l seedlog.Link, data []byte) {
		if seal, err := seedlog.DecodeSeal(data); err == nil && !sealOf[seal.Entry].Defined() {
			sealOf[seal.Entry] = l
		}
	}
	if r.log, err = openBlocks(f, base+logSuffix, r.rules, see); err != nil {
		if at := new(seedlog.FileError); errors.As(err, &at) && len(sealOf) > 0 {
			at.Height = uint64(len(sealOf)) + 1
		}
		return err
	}
	if r.aside, err = openBlocks(f, base+blocksSuffix, r.rules, see); err != nil {
		return err
	}
	r.slots, err = openSlots(f, base+stateSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		if len(r.log.index) > 1 || len(r.aside.index) > 1 {
			return fmt.Errorf("%w: %s%s is missing; restore it, or move the run's files away to join the run afresh", ErrCorrupt, base, stateSuffix)
		}
		r.slots, err = createSlots(f, base+stateSuffix)
	}
	if err != nil {
		return err
	}
	r.state = r.slots.current.state
	blocks, err := r.readChain(sealOf)
	if err != nil {
		return err
	}
	height, end := r.match(blocks)
	if end < r.log.synced {
		err := fmt.Errorf("%w: %s continues where the run ended; move the run's files away to join the run afresh", ErrCorrupt, r.log.path)
		return &seedlog.FileError{Height: uint64(height) + 1, Offset: end, Err: err}
	}
	return r.repair(blocks[height:], end)
}

// readChain walks from the recorded head down to the genesis, and returns the links of the blocks of each
// height as they belong into the log.
func (r *Run) readChain(sealOf map[seedlog.Link]seedlog.Link) (blocks [][]seedlog.Link, err error) {
	at, seal := r.slots.current.head, r.slots.current.seal
	for at.Defined() && at != r.rules.Run {
		data, ok := r.Block(at)
		if !ok || !seal.Defined() {
			return nil, r.lacks(at)
		}
		e, err := seedlog.DecodeEntry(data)
		if err != nil {
			return nil, fmt.Errorf("%w: entry %s: %w", ErrCorrupt, at, err)
		}
		all := append(slices.Clone(e.Claims), at, seal)
		for _, l := range all {
			if !r.has(l) {
				return nil, r.lacks(l)
			}
		}
		blocks = append(blocks, all)
		r.chain = append(r.chain, link{entry: at, seal: seal})
		at = e.Parent
		seal = sealOf[at]
	}
	slices.Reverse(blocks)
	slices.Reverse(r.chain)
	return blocks, nil
}

// lacks is the error of a canonical block that is in neither file.
func (r *Run) lacks(l seedlog.Link) error {
	err := fmt.Errorf("%w: %s lacks block %s of the canonical chain; move the run's files away to join the run afresh", ErrCorrupt, r.log.path, l)
	if r.log.damage != nil {
		err = fmt.Errorf("%w (offset %d: %w)", err, r.log.good, r.log.damage)
	}
	return err
}

func (r *Run) has(l seedlog.Link) bool { return r.log.has(l) || r.aside.has(l) }

// match returns up to which height the log holds the chain, section by section, and where that ends.
func (r *Run) match(blocks [][]seedlog.Link) (height int, end int64) {
	at := r.log.sections
	if len(at) == 0 {
		return 0, 0
	}
	end, at = at[0].end, at[1:] // the genesis
	for height < len(blocks) {
		want := blocks[height]
		if len(at) < len(want) {
			break
		}
		for i, l := range want {
			if at[i].link != l {
				return height, end
			}
		}
		end, at = at[len(want)-1].end, at[len(want):]
		r.chain[height].end = end
		height++
	}
	return height, end
}

// repair cuts what a crash left, adds the blocks that the log lacks beyond end, and drops those that are kept twice.
func (r *Run) repair(lacking [][]seedlog.Link, end int64) error {
	height := len(r.chain) - len(lacking)
	r.noteCut(r.aside, r.aside.good, "")
	r.noteCut(r.log, end, fmt.Sprintf(" after height %d", height))
	if err := r.aside.repair(r.aside.good); err != nil {
		return err
	}
	tail := make([]record, len(lacking))
	for i, links := range lacking {
		for _, l := range links {
			data, ok := r.Block(l) // the log may have it beyond end
			if !ok {
				return r.lacks(l)
			}
			tail[i].blocks = append(tail[i].blocks, block{l, data})
		}
		tail[i].link = r.chain[height+i]
	}
	if err := r.log.repair(end); err != nil {
		return err
	}
	added, err := r.extend(tail)
	if err != nil {
		return err
	}
	if err := r.log.sync(); err != nil {
		return err
	}
	r.adopt(height, added)
	return r.aside.compact(r.log.has)
}

// noteCut tells of damage that is about to be cut.
func (r *Run) noteCut(b *blockFile, end int64, where string) {
	if end == b.size || b.size == 0 {
		return
	}
	why := ""
	if b.damage != nil {
		why = ": " + b.damage.Error()
	}
	r.notes = append(r.notes, fmt.Sprintf("%s: cut %d bytes that a crash had left%s%s", b.path, b.size-end, where, why))
}

// Block implements [Store].
func (r *Run) Block(l seedlog.Link) ([]byte, bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if data, ok := r.log.read(l); ok {
		return data, true
	}
	return r.aside.read(l)
}

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

// fresh returns the blocks that are not kept yet.
func (r *Run) fresh(blocks [][]byte) ([]block, error) {
	var fresh []block
	seen := map[seedlog.Link]bool{}
	for _, data := range blocks {
		if len(data) == 0 || len(data) > seedlog.MaxBlockBytes {
			return nil, fmt.Errorf("%w: block of %d bytes", ErrBatch, len(data))
		}
		if l := seedlog.LinkOf(data); !seen[l] && !r.has(l) {
			seen[l] = true
			fresh = append(fresh, block{l, data})
		}
	}
	return fresh, nil
}

// putAside keeps blocks next to the log, durably.
func (r *Run) putAside(blocks []block) error {
	if len(blocks) == 0 {
		return nil
	}
	places, err := r.aside.write(blocks)
	if err == nil {
		err = r.aside.sync()
	}
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.Copy(r.aside.index, places)
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

// record is one height with its blocks, in the log's order.
type record struct {
	link   link
	blocks []block
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
		h.head, h.seal = r.chain[m.Fork-1].entry, r.chain[m.Fork-1].seal
	}
	if int(m.Fork) == len(r.chain) {
		return r.grow(tail, fresh, h, state)
	}
	return r.reorganize(int(m.Fork), tail, fresh, h, state)
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
	if err := m.check(len(r.chain), has); err != nil {
		return nil, err
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

func readRecord(entry, seal seedlog.Link, find func(seedlog.Link) ([]byte, bool)) (record, error) {
	g := record{link: link{entry: entry, seal: seal}}
	data, _ := find(entry)
	e, err := seedlog.DecodeEntry(data)
	if err != nil {
		return g, fmt.Errorf("%w: entry %s: %w", ErrBatch, entry, err)
	}
	for _, l := range append(slices.Clone(e.Claims), entry, seal) {
		data, ok := find(l)
		if !ok {
			return g, fmt.Errorf("%w: block %s of height %d was never given for keeping", ErrBatch, l, e.Height)
		}
		g.blocks = append(g.blocks, block{l, data})
	}
	return g, nil
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
	r.adopt(len(r.chain), added)
	// Only now: the log never promises more than the state names.
	return r.log.promise()
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
	end := r.end(fork)
	if err := r.log.lower(end); err != nil {
		return err
	}
	if err := r.writeState(h, state); err != nil {
		return err
	}
	// From here on all blocks are read from the file next to the log until the log has them.
	r.mu.Lock()
	r.chain = r.chain[:fork:fork]
	maps.DeleteFunc(r.log.index, func(_ seedlog.Link, at place) bool { return at.offset >= end })
	r.mu.Unlock()
	if err := r.log.cut(end); err != nil {
		return err
	}
	added, err := r.extend(tail)
	if err != nil {
		return err
	}
	r.adopt(fork, added)
	return r.log.sync()
}

// losing reads the generations above a height.
func (r *Run) losing(fork int) ([]record, error) {
	var all []record
	for _, l := range r.chain[fork:] {
		g, err := readRecord(l.entry, l.seal, r.Block)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrCorrupt, err)
		}
		all = append(all, g)
	}
	return all, nil
}

// end is where a height ends in the log.
func (r *Run) end(height int) int64 {
	if height == 0 {
		return int64(len(r.log.beginning))
	}
	return r.chain[height-1].end
}

// extension is what was written at the end of the log.
type extension struct {
	links  []link
	places map[seedlog.Link]place
}

// extend writes generations at the end of the log. They are not durable yet, and not part of the chain: see adopt.
func (r *Run) extend(tail []record) (extension, error) {
	e := extension{places: map[seedlog.Link]place{}}
	for _, g := range tail {
		written, err := r.log.write(g.blocks)
		if err != nil {
			return e, err
		}
		maps.Copy(e.places, written)
		g.link.end = r.log.size
		e.links = append(e.links, g.link)
	}
	return e, nil
}

// adopt makes what was written the chain above height.
func (r *Run) adopt(height int, e extension) {
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.Copy(r.log.index, e.places)
	r.chain = append(r.chain[:height:height], e.links...)
}

// State implements [Store].
func (r *Run) State() []byte {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.state
}

// Chain implements [Store].
func (r *Run) Chain() (entries, seals []seedlog.Link) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for _, l := range r.chain {
		entries, seals = append(entries, l.entry), append(seals, l.seal)
	}
	return entries, seals
}

// Notes says, for a person, what was repaired when the run was opened; usually nothing.
func (r *Run) Notes() []string { return r.notes }

// LogPath is the name of the canonical seed log. It may be read at any time; it may end within a generation.
func (r *Run) LogPath() string { return r.log.path }

// Close implements [Store].
func (r *Run) Close() error {
	failed := r.err != nil
	r.err = ErrClosed
	if failed { // or closed: what was not kept must not be promised
		r.release()
		return nil
	}
	return errors.Join(r.log.close(), r.aside.close(), explain(r.slots.file.Close(), r.slots.path))
}

// release closes files as they are.
func (r *Run) release() {
	for _, f := range []*blockFile{r.log, r.aside} {
		if f != nil {
			f.release()
		}
	}
	if r.slots != nil {
		r.slots.file.Close()
	}
}
