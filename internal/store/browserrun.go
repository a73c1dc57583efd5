package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/evoswarm/evoswarm/internal/fair"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// BrowserRun is the Store of one run in the browser. In memory are the links of the newest entries and the blocks that
// were saved or read last, so that a run of any length takes the same; all else is read from the database when it is
// asked for. Its methods wait for the database, so they must not be called from within a JavaScript callback.
type BrowserRun struct {
	rules   *seedlog.Rules
	rows    rows
	genesis []byte

	saving sync.Mutex // held while something is written

	mu      sync.Mutex // guards what follows; it is not held while the database is asked
	state   []byte
	length  uint64
	tail    []chainRow              // of the newest heights
	heights map[seedlog.Link]uint64 // of the entries in tail
	page    page
	moves   int                                         // how often the chain changed
	readTo  uint64                                      // height of the last generation that was read
	recent  *fair.Table[seedlog.Link, struct{}, []byte] // blocks that were saved or read last
	sums    [summarySlots]uint64                        // heights of the summaries
	begins
	err error
}

const (
	// tailEntries is how many of the newest heights are in memory at least: those that a coordinator has there, too.
	tailEntries = 1 << 10
	// blocksInMemory is how many bytes of blocks are in memory at most. What a coordinator reads at a start has room,
	// unless entries hold hundreds of claims: then it reads some twice.
	blocksInMemory = 4 << 20
	// blockExtra is about what a block takes in memory in addition to its bytes.
	blockExtra = 256
	// generationExtra is about what a generation takes in the database in addition to its blocks, and tagExtra each of
	// them.
	generationExtra, tagExtra = 512, 64
	// looseMost is how many blocks may get rows of their own before those go that nobody needs.
	looseMost = 4 << 10
)

// openBrowserRun opens what rows has of a run. ErrCorrupt: it is not whole.
func openBrowserRun(rules *seedlog.Rules, rows rows) (*BrowserRun, error) {
	r := &BrowserRun{rules: rules, rows: rows, genesis: seedlog.Encode(rules.Spec), heights: make(map[seedlog.Link]uint64),
		recent: fair.NewTable[seedlog.Link, struct{}, []byte](blocksInMemory)}
	err := r.open()
	if err == nil {
		err = r.verify()
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

func (r *BrowserRun) open() (err error) {
	if r.state, err = r.rows.state(); err != nil {
		return err
	}
	if r.sums, err = r.rows.summaries(); err != nil {
		return err
	}
	if err := r.openBase(); err != nil {
		return err
	}
	low, high, whole, err := r.rows.ends()
	if err != nil {
		return err
	}
	r.length, r.swept = high, max(low, 1)-1
	r.scattered = high > 0 && (whole == 0 || whole > r.below()+1)
	r.loose = !r.scattered
	if low > r.below()+1 || r.begun != nil && high < r.begun.At {
		return r.damaged(fmt.Errorf("the chain has heights %d to %d", low, high))
	}
	if high == 0 {
		return nil
	}
	from := max(r.below()+1, high-min(high, tailEntries-1))
	tail, err := r.readRows(from, high)
	if err != nil {
		return err
	}
	for i, row := range tail {
		r.heights[row.entry] = from + uint64(i)
	}
	r.tail = tail
	return r.measure()
}

// damaged is the error for a database that is not whole.
func (r *BrowserRun) damaged(err error) error {
	return fmt.Errorf("%w: what this browser keeps of run %s: %w", ErrCorrupt, r.rules.Run, err)
}

// verifyMost is how many of the newest generations opening a run verifies.
const verifyMost = 2 << 10

// verify checks that the blocks are there that a coordinator reads when it starts.
func (r *BrowserRun) verify() error {
	from := r.below() + 1
	if slot, ok := newestUpTo(&r.sums, r.length); ok {
		from = max(from, r.sums[slot]-min(r.sums[slot], uint64(cutWindow)))
	}
	if b := r.begun; b != nil {
		from = max(from, b.At-uint64(cutWindow)+1)
	}
	for height := max(from, r.length-min(r.length, verifyMost)+1, 1); height <= r.length; height++ {
		row, ok := r.rowAt(height)
		if !ok {
			return r.damaged(fmt.Errorf("height %d is missing", height))
		}
		if _, err := readRecord(row.entry, row.seal, r.Block); err != nil {
			return r.damaged(err)
		}
	}
	return nil
}

// State implements [Store].
func (r *BrowserRun) State() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.state
}

// Length implements [Store].
func (r *BrowserRun) Length() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.length
}

// Save implements [Store]: one transaction of strict durability, and Save waits for it.
func (r *BrowserRun) Save(batch Batch) error {
	r.saving.Lock()
	defer r.saving.Unlock()
	if err := r.failed(); err != nil {
		return err
	}
	c, err := r.plan(batch)
	if err != nil {
		return err
	}
	if len(c.put) == 0 && c.state == nil && !c.moved {
		return nil
	}
	if err := r.rows.write(c); err != nil {
		return r.fail(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, b := range c.put {
		r.remember(b)
	}
	for _, g := range c.generations {
		for _, b := range g.blocks {
			r.remember(b)
		}
	}
	if r.added += int64(len(c.put)); r.added > looseMost && !r.scattered {
		r.loose = true
	}
	if c.state != nil {
		r.state = c.state
	}
	if c.moved {
		r.move(c.fork, c.chain)
	}
	return nil
}

// plan says what a batch writes, and refuses one that contradicts what is kept.
func (r *BrowserRun) plan(batch Batch) (*change, error) {
	if len(batch.State) > MaxState {
		return nil, fmt.Errorf("%w: hard state of %d bytes, at most %d", ErrBatch, len(batch.State), MaxState)
	}
	c := &change{state: slices.Clone(batch.State)}
	given := make(map[seedlog.Link][]byte, len(batch.Blocks))
	for _, b := range batch.Blocks {
		if given[b.Link()] == nil {
			given[b.Link()] = slices.Clone(b.Bytes())
		}
	}
	if batch.Head != nil {
		if err := r.planMove(c, batch.Head, given); err != nil {
			return nil, err
		}
	}
	for _, g := range c.generations {
		for _, b := range g.blocks {
			delete(given, b.link)
		}
	}
	for _, b := range batch.Blocks { // in their order
		if data, ok := given[b.Link()]; ok {
			delete(given, b.Link())
			c.put = append(c.put, block{b.Link(), data})
		}
	}
	return c, nil
}

// fetch reads the blocks that a move names and that do not come with it, many at once.
func (r *BrowserRun) fetch(m *HeadMove, given map[seedlog.Link][]byte) {
	var links []seedlog.Link
	for _, l := range slices.Concat(m.Entries, m.Seals) {
		if given[l] == nil {
			links = append(links, l)
		}
	}
	found := r.load(links)
	links = nil
	for _, entry := range m.Entries {
		data := given[entry]
		if data == nil {
			data = found[entry]
		}
		links = append(links, slices.DeleteFunc(r.named(data, given), func(l seedlog.Link) bool { return given[l] != nil })...)
	}
	r.load(links)
}

// planMove adds a move of the head to a change, given the blocks that come with it.
func (r *BrowserRun) planMove(c *change, m *HeadMove, given map[seedlog.Link][]byte) error {
	find := func(l seedlog.Link) ([]byte, bool) {
		if data, ok := given[l]; ok {
			return data, true
		}
		return r.Block(l)
	}
	r.fetch(m, given)
	if err := m.check(r.Length(), func(l seedlog.Link) bool { _, ok := find(l); return ok }); err != nil {
		return err
	}
	if b := r.begun; b != nil && m.Fork < b.At {
		return fmt.Errorf("%w: head moves above height %d, the log begins with the state of %d", ErrBatch, m.Fork, b.At)
	}
	end, err := r.endOf(m.Fork)
	if err != nil {
		return err
	}
	c.moved, c.fork = true, m.Fork
	for i, entry := range m.Entries {
		g, err := readRecord(entry, m.Seals[i], find)
		if err != nil {
			return err
		}
		end += g.room()
		c.chain, c.generations = append(c.chain, chainRow{g.link, end}), append(c.generations, g)
	}
	return r.putAside(m.Fork)
}

// room is about what a generation takes in the database.
func (g record) room() int64 {
	size := int64(generationExtra)
	for _, b := range g.blocks {
		size += int64(len(b.data)) + tagExtra
	}
	return size
}

// putAside gives the blocks of the generations above a height, which are about to be replaced, rows of their own.
func (r *BrowserRun) putAside(fork uint64) error {
	for length := r.Length(); fork < length; fork += sweepEntries {
		var c change
		for height := fork + 1; height <= min(fork+sweepEntries, length); height++ {
			row, ok := r.rowAt(height)
			if !ok {
				return r.fail(r.damaged(fmt.Errorf("height %d cannot be read", height)))
			}
			if g, err := readRecord(row.entry, row.seal, r.Block); err == nil { // else a part of it is damaged
				c.put = append(c.put, g.blocks...)
			}
		}
		if err := r.rows.write(&c); err != nil {
			return r.fail(err)
		}
		r.mu.Lock()
		r.added += int64(len(c.put))
		r.mu.Unlock()
	}
	return nil
}

// move changes the chain in memory. The lock is held.
func (r *BrowserRun) move(fork uint64, chain []chainRow) {
	low := r.length - uint64(len(r.tail))
	keep := int(max(fork, low) - low)
	for _, row := range r.tail[keep:] {
		delete(r.heights, row.entry)
	}
	r.tail = append(r.tail[:keep], chain...)
	for i, row := range chain {
		r.heights[row.entry] = fork + uint64(i) + 1
	}
	r.length = fork + uint64(len(chain))
	r.page, r.readTo = page{}, 0
	r.moves++
	if len(r.tail) > 2*tailEntries {
		for _, row := range r.tail[:len(r.tail)-tailEntries] {
			delete(r.heights, row.entry)
		}
		r.tail = slices.Clone(r.tail[len(r.tail)-tailEntries:])
	}
}

// failed is why nothing is written any more; nil: it is.
func (r *BrowserRun) failed() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// fail has the run take nothing more until it is opened again.
func (r *BrowserRun) fail(err error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = err
	}
	return err
}

// summaryBytes is how many bytes of summaries of one size the browser keeps.
const summaryBytes = 16 << 20

// SaveSummary implements [Store].
func (r *BrowserRun) SaveSummary(height uint64, data []byte) error {
	if err := r.failed(); err != nil {
		return err
	}
	slot := summarySlot(height, len(data), summaryBytes)
	if err := r.rows.write(&change{slot: slot, sum: append(binary.LittleEndian.AppendUint64(nil, height), data...)}); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sums[slot] = height
	return nil
}

// Summary implements [Store]. The last resort is what the log begins with.
func (r *BrowserRun) Summary(most uint64) (height uint64, data []byte, ok bool) {
	r.mu.Lock()
	slot, ok := newestUpTo(&r.sums, most)
	begun := r.begun
	if ok {
		height = r.sums[slot]
	}
	r.mu.Unlock()
	if begun != nil && begun.At <= most && (!ok || height < begun.At) {
		_, data, err := r.readBase()
		return begun.At, data, err == nil
	}
	if !ok {
		return 0, nil, false
	}
	// One that cannot be read is returned empty, which is damaged: the caller asks for an older one.
	if row, err := r.rows.summary(slot); err == nil && len(row) >= 8 && bytes.Equal(row[:8], binary.LittleEndian.AppendUint64(nil, height)) {
		data = row[8:]
	}
	return height, data, true
}

// Close implements [Store]. The database stays open.
func (r *BrowserRun) Close() error {
	r.saving.Lock()
	defer r.saving.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err, r.cutting = ErrClosed, nil
	return nil
}

// measure finds out what the chain takes, where its rows do not say, by a sample.
func (r *BrowserRun) measure() error {
	if r.tail[len(r.tail)-1].end > 0 {
		return nil
	}
	const samples = 16
	first, total, n := r.below()+1, int64(0), int64(0)
	for i := range uint64(samples) {
		row, ok := r.rowAt(first + (r.length-first)*i/(samples-1))
		if !ok {
			continue
		}
		g, err := readRecord(row.entry, row.seal, r.Block)
		if errors.Is(err, ErrBatch) {
			continue // verify finds out
		}
		n++
		total += g.room()
	}
	r.each = total / max(n, 1)
	return nil
}
