//go:build !js

package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"sync"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// Run is the Store of one run in a data folder. Three files hold it:
//
// <run>.blocks has every block once, in the order in which they came, and is only appended to. Its fsync is what makes
// blocks durable. <run>.state has the hard state and the end of the canonical chain. <run>.seedlog is the canonical
// chain for people and programs; it follows from the other two and is made whole from them when the run is opened.
type Run struct {
	rules  *seedlog.Rules
	blocks *appendFile
	slots  *slots
	log    *appendFile
	notes  []string

	mu     sync.RWMutex // guards what follows; Save and Close are its only writers
	index  map[seedlog.Link]place
	chain  []link
	state  []byte
	err    error
	sealOf map[seedlog.Link]seedlog.Link // while opening: the first seal of each entry
}

// place is where a block lies in the blocks file.
type place struct {
	offset int64
	size   int32
}

// link is one height of the canonical chain.
type link struct {
	entry, seal seedlog.Link
	end         int64 // where it ends in the log file
}

// logEvery is after how many heights the log file is fsynced. What is lost of it is made again from the blocks.
const logEvery = 64

// OpenRun opens what the folder keeps of the run, or begins it. What a crash tore beyond the recorded fsynced length is
// cut, see [Run.Notes]; damage before it gives ErrCorrupt, or a *seedlog.FileError for the log, and nothing is changed.
func (d *Disk) OpenRun(rules *seedlog.Rules) (*Run, error) {
	r := &Run{rules: rules, index: map[seedlog.Link]place{}, sealOf: map[seedlog.Link]seedlog.Link{}}
	if err := r.open(filepath.Join(d.dir, rules.Run.String())); err != nil {
		r.release()
		return nil, err
	}
	r.sealOf = nil
	return r, nil
}

func (r *Run) open(base string) (err error) {
	if r.blocks, err = openAppend(base + blocksSuffix); err != nil {
		return err
	}
	if err := r.openBlocks(); err != nil {
		return err
	}
	var existed bool
	if r.slots, existed, err = openSlots(base + stateSuffix); err != nil {
		return err
	}
	if !existed && len(r.index) > 1 {
		return fmt.Errorf("%w: %s%s is missing; restore it, or move the run's files away to join the run afresh", ErrCorrupt, base, stateSuffix)
	}
	r.state = r.slots.current.state
	if err := r.openChain(); err != nil {
		return err
	}
	if r.log, err = openAppend(base + logSuffix); err != nil {
		return err
	}
	return r.openLog()
}

func (r *Run) note(format string, args ...any) {
	r.notes = append(r.notes, fmt.Sprintf(format, args...))
}

// openBlocks indexes the blocks file.
func (r *Run) openBlocks() error {
	f := r.blocks
	head := r.rules.AppendBeginning(nil)
	if f.synced == 0 && f.size < int64(len(head)) {
		if err := f.begin(); err != nil {
			return err
		}
		if err := f.cut(0); err != nil {
			return err
		}
		if err := f.append(head); err != nil {
			return err
		}
		if err := f.sync(); err != nil {
			return err
		}
	}
	end, err := r.scanBlocks()
	if err != nil && end < f.synced {
		return fmt.Errorf("%w: %s, offset %d: %w; move the run's files away to join the run afresh", ErrCorrupt, f.path, end, err)
	}
	if err := f.begin(); err != nil {
		return err
	}
	if err != nil {
		r.note("%s: cut %d bytes that a crash had torn, after %d blocks: %v", f.path, f.size-end, len(r.index), err)
		return f.cut(end)
	}
	return f.sync()
}

// scanBlocks reads the whole file; end is where the last good block ends.
func (r *Run) scanBlocks() (end int64, err error) {
	sections, root, err := seedlog.NewSections(newBuffered(r.blocks.reader()))
	if err != nil {
		return 0, err
	}
	if root != r.rules.Run {
		return 0, fmt.Errorf("%w: %s", seedlog.ErrRun, root)
	}
	for {
		end = sections.Offset()
		data, l, err := sections.Next()
		if err == io.EOF {
			if r.blocks.size < r.blocks.synced {
				return end, fmt.Errorf("%w, but %d bytes had been written for good", seedlog.ErrTorn, r.blocks.synced)
			}
			return end, nil
		}
		if err != nil {
			return end, err
		}
		r.remember(l, data, sections.Offset())
	}
}

// remember indexes a block that ends at end in the blocks file.
func (r *Run) remember(l seedlog.Link, data []byte, end int64) {
	r.index[l] = place{end - int64(len(data)), int32(len(data))}
	if r.sealOf == nil {
		return
	}
	if seal, err := seedlog.DecodeSeal(data); err == nil && !r.sealOf[seal.Entry].Defined() {
		r.sealOf[seal.Entry] = l
	}
}

// openChain walks from the recorded head down to the genesis.
func (r *Run) openChain() error {
	at := r.slots.current.head
	seal := r.slots.current.seal
	if !at.Defined() {
		return nil
	}
	for at != r.rules.Run {
		data, ok := r.Block(at)
		if !ok || !seal.Defined() {
			return fmt.Errorf("%w: %s lacks the canonical entry %s or its seal; move the run's files away to join the run afresh", ErrCorrupt, r.blocks.path, at)
		}
		e, err := seedlog.DecodeEntry(data)
		if err != nil {
			return fmt.Errorf("%w: %s: %w", ErrCorrupt, r.blocks.path, err)
		}
		r.chain = append(r.chain, link{entry: at, seal: seal})
		at = e.Parent
		seal = r.sealOf[at]
	}
	slices.Reverse(r.chain)
	return nil
}

// openLog holds the log file to the chain and makes it whole.
func (r *Run) openLog() error {
	f := r.log
	same, err := r.compareLog()
	if err != nil {
		return err
	}
	good := r.logEnd(same)
	if good < f.synced {
		return &seedlog.FileError{Height: uint64(same) + 1, Offset: good, Err: fmt.Errorf("%w: %s goes on where the run ended; move it away and it is made again from the blocks", ErrCorrupt, f.path)}
	}
	if err := f.begin(); err != nil {
		return err
	}
	if f.size > good {
		r.note("%s: cut %d bytes after height %d that a crash had left", f.path, f.size-good, same)
		if err := f.cut(good); err != nil {
			return err
		}
	}
	if f.size == 0 {
		if err := f.append(r.rules.AppendBeginning(nil)); err != nil {
			return err
		}
	}
	if err := r.extendLog(same); err != nil {
		return err
	}
	return f.sync()
}

// logEnd is where height ends in the log file; 0 in an empty file.
func (r *Run) logEnd(height int) int64 {
	if height > 0 {
		return r.chain[height-1].end
	}
	return min(r.log.size, int64(len(r.rules.AppendBeginning(nil))))
}

// compareLog returns up to which height the log file holds the canonical chain, byte for byte. A difference in
// its fsynced part is an error.
func (r *Run) compareLog() (same int, err error) {
	in := newBuffered(r.log.reader())
	want := r.rules.AppendBeginning(nil)
	end := int64(0)
	for height := 0; ; height++ {
		if height > 0 {
			if height > len(r.chain) {
				return len(r.chain), nil
			}
			if want, err = r.generation(want[:0], r.chain[height-1]); err != nil {
				return 0, err
			}
		}
		got := make([]byte, len(want))
		n, err := io.ReadFull(in, got)
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return 0, explain(err, r.log.path)
		}
		if n < len(want) || !bytes.Equal(got, want) {
			if end < r.log.synced {
				at := end + int64(firstDifference(got[:n], want))
				return 0, &seedlog.FileError{Height: uint64(height), Offset: at, Err: fmt.Errorf("%w: %s is not what was written; move it away and it is made again from the blocks", ErrCorrupt, r.log.path)}
			}
			if height == 0 && r.log.size > 0 {
				return 0, r.log.cut(0)
			}
			return max(height-1, 0), nil
		}
		end += int64(len(want))
		if height > 0 {
			r.chain[height-1].end = end
		}
	}
}

func firstDifference(a, b []byte) int {
	for i := range a {
		if a[i] != b[i] {
			return i
		}
	}
	return len(a)
}

// generation appends the sections of one height to b: claims, entry, seal.
func (r *Run) generation(b []byte, l link) ([]byte, error) {
	data, ok := r.Block(l.entry)
	seal, ok2 := r.Block(l.seal)
	if !ok || !ok2 {
		return nil, fmt.Errorf("%w: entry %s or its seal is missing", ErrBatch, l.entry)
	}
	e, err := seedlog.DecodeEntry(data)
	if err != nil {
		return nil, err
	}
	for _, c := range e.Claims {
		claim, ok := r.Block(c)
		if !ok {
			return nil, fmt.Errorf("%w: claim %s of height %d is missing", ErrBatch, c, e.Height)
		}
		b, _ = seedlog.AppendSection(b, claim)
	}
	b, _ = seedlog.AppendSection(b, data)
	b, _ = seedlog.AppendSection(b, seal)
	return b, nil
}

// extendLog writes the chain above height to the log file.
func (r *Run) extendLog(height int) error {
	for i := height; i < len(r.chain); i++ {
		b, err := r.generation(nil, r.chain[i])
		if err != nil {
			return err
		}
		if err := r.log.append(b); err != nil {
			return err
		}
		r.chain[i].end = r.log.size
	}
	return nil
}

// Block implements [Store].
func (r *Run) Block(l seedlog.Link) ([]byte, bool) {
	r.mu.RLock()
	at, ok := r.index[l]
	r.mu.RUnlock()
	if !ok {
		return nil, false
	}
	data := make([]byte, at.size)
	if _, err := r.blocks.file.ReadAt(data, at.offset); err != nil {
		return nil, false
	}
	return data, true
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
	if err := r.saveBlocks(batch.Blocks); err != nil {
		return err
	}
	h := r.slots.current
	if batch.State != nil {
		h.state = slices.Clone(batch.State)
	}
	if batch.Head != nil {
		if err := r.prepareMove(batch.Head, &h); err != nil {
			return err
		}
	}
	if batch.State != nil || batch.Head != nil {
		if err := r.slots.write(h); err != nil {
			return err
		}
	}
	r.mu.Lock()
	r.state = h.state
	r.mu.Unlock()
	if batch.Head == nil {
		return nil
	}
	return r.move(batch.Head)
}

// saveBlocks appends the blocks that are new and makes them durable.
func (r *Run) saveBlocks(blocks [][]byte) error {
	var b []byte
	added := map[seedlog.Link]place{}
	for _, data := range blocks {
		if len(data) == 0 || len(data) > seedlog.MaxBlockBytes {
			return fmt.Errorf("%w: block of %d bytes", ErrBatch, len(data))
		}
		l := seedlog.LinkOf(data)
		if _, known := r.index[l]; known || added[l].size > 0 {
			continue
		}
		b, _ = seedlog.AppendSection(b, data)
		added[l] = place{r.blocks.size + int64(len(b)-len(data)), int32(len(data))}
	}
	if len(b) == 0 {
		return nil
	}
	if err := r.blocks.append(b); err != nil {
		return err
	}
	if err := r.blocks.sync(); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for l, at := range added {
		r.index[l] = at
	}
	return nil
}

// prepareMove checks a move, takes back what the log file promised above the fork, and puts the new head into h.
func (r *Run) prepareMove(m *HeadMove, h *hardState) error {
	has := func(l seedlog.Link) bool { _, ok := r.index[l]; return ok }
	if err := m.check(len(r.chain), has); err != nil {
		return err
	}
	for i, l := range m.Entries {
		if _, err := r.generation(nil, link{entry: l, seal: m.Seals[i]}); err != nil {
			return err
		}
	}
	h.head, h.seal = seedlog.Link{}, seedlog.Link{}
	if n := len(m.Entries); n > 0 {
		h.head, h.seal = m.Entries[n-1], m.Seals[n-1]
	} else if m.Fork > 0 {
		h.head, h.seal = r.chain[m.Fork-1].entry, r.chain[m.Fork-1].seal
	}
	return r.log.lower(r.logEnd(int(m.Fork)))
}

// move changes the chain and lets the log file follow. That file is made durable only now and then, since it follows from
// what is durable already.
func (r *Run) move(m *HeadMove) error {
	fork := int(m.Fork)
	if err := r.log.cut(r.logEnd(fork)); err != nil {
		return err
	}
	r.mu.Lock()
	r.chain = r.chain[:fork:fork]
	for i, l := range m.Entries {
		r.chain = append(r.chain, link{entry: l, seal: m.Seals[i]})
	}
	r.mu.Unlock()
	if err := r.extendLog(fork); err != nil {
		return err
	}
	if len(r.chain)/logEvery != fork/logEvery {
		return r.log.sync()
	}
	return nil
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
	if errors.Is(r.err, ErrClosed) {
		return nil
	}
	r.err = ErrClosed
	return errors.Join(r.blocks.close(), r.log.close(), explain(r.slots.file.Close(), r.slots.path))
}

// release closes files as they are.
func (r *Run) release() {
	for _, f := range []*appendFile{r.blocks, r.log} {
		if f != nil {
			f.release()
		}
	}
	if r.slots != nil {
		r.slots.file.Close()
	}
}
