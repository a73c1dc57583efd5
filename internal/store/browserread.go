package store

import (
	"fmt"
	"slices"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// What is no longer in memory is read from the database, a request at a time. Who reads one generation after the other
// gets several at once.

const (
	// readAhead is how many generations are read at once where the one before was read last, if they take no more than
	// aheadBytes: hashing these keeps the thread for some 5 ms.
	readAhead  = 16
	aheadBytes = 256 << 10
	// pageRows is how many rows of the chain are read at once then.
	pageRows = 64
	// readsAtOnce bounds the blocks of one request: copying them keeps the thread for some 5 ms.
	readsAtOnce = 256
)

// page is a part of the chain that was read last.
type page struct {
	from uint64
	rows []chainRow
}

func (p page) at(height uint64) (chainRow, bool) {
	if height < p.from || height-p.from >= uint64(len(p.rows)) {
		return chainRow{}, false
	}
	return p.rows[height-p.from], true
}

// At implements [Store].
func (r *BrowserRun) At(height uint64) (entry, seal seedlog.Link, ok bool) {
	row, ok := r.rowAt(height)
	return row.entry, row.seal, ok
}

// Height implements [Store]. Of an entry that is not in memory it reads the height that it names, and what the chain
// has there.
func (r *BrowserRun) Height(entry seedlog.Link) (height uint64, ok bool) {
	r.mu.Lock()
	height, ok = r.heights[entry]
	r.mu.Unlock()
	if ok {
		return height, true
	}
	data, ok := r.Block(entry)
	if !ok {
		return 0, false
	}
	e, err := seedlog.DecodeEntry(data)
	if err != nil {
		return 0, false
	}
	if row, ok := r.rowAt(e.Height); !ok || row.entry != entry {
		return 0, false
	}
	return e.Height, true
}

// inMemory is the row of a height as far as it is in memory. The lock is held.
func (r *BrowserRun) inMemory(height uint64) (chainRow, bool) {
	if low := r.length - uint64(len(r.tail)); height > low && height <= r.length {
		return r.tail[height-low-1], true
	}
	return r.page.at(height)
}

// rowAt returns the links of a height; false where it is not kept, or cannot be read.
func (r *BrowserRun) rowAt(height uint64) (chainRow, bool) {
	r.mu.Lock()
	if height <= r.below() || height > r.length {
		r.mu.Unlock()
		return chainRow{}, false
	}
	if row, ok := r.inMemory(height); ok {
		r.mu.Unlock()
		return row, true
	}
	moves, high := r.moves, height
	if height == r.page.from+uint64(len(r.page.rows)) {
		high = min(height+pageRows-1, r.length)
	}
	r.mu.Unlock()
	rows, err := r.readRows(height, high)
	if err != nil {
		return chainRow{}, false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if moves == r.moves {
		r.page = page{height, rows}
	}
	return rows[0], true
}

// readRows reads rows of the chain from the database, all of which must be there.
func (r *BrowserRun) readRows(low, high uint64) ([]chainRow, error) {
	data, err := r.rows.chain(low, high)
	if err != nil {
		return nil, r.fail(err)
	}
	rows := make([]chainRow, len(data))
	for i, b := range data {
		ok := false
		if rows[i], ok = decodeChainRow(b, low+uint64(i)); !ok {
			return nil, r.damaged(fmt.Errorf("height %d cannot be read", low+uint64(i)))
		}
	}
	if uint64(len(rows)) != high+1-low {
		return nil, r.damaged(fmt.Errorf("of heights %d to %d there are %d", low, high, len(rows)))
	}
	return rows, nil
}

// Block implements [Store].
func (r *BrowserRun) Block(l seedlog.Link) ([]byte, bool) {
	if data, ok := r.held(l); ok {
		return data, true
	}
	if !l.Defined() {
		return nil, false
	}
	low, along := r.along(l)
	if len(along) > 0 {
		if data, ok := r.readGenerations(l, low, low+uint64(len(along))-1); ok {
			return data, true
		}
		if r.scattered {
			return r.readScattered(l, along)
		}
	}
	data, heights, err := r.rows.find(l)
	if err != nil {
		r.fail(err)
		return nil, false
	}
	if data != nil && seedlog.LinkOf(data) == l {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.remember(block{l, data})
		return data, true
	}
	for _, height := range heights {
		if data, ok := r.readGenerations(l, height, height); ok {
			return data, true
		}
	}
	return nil, false
}

// readGenerations keeps the blocks of some generations in memory, and returns one of them.
func (r *BrowserRun) readGenerations(l seedlog.Link, low, high uint64) (found []byte, ok bool) {
	rows, err := r.rows.generations(low, high)
	if err != nil {
		r.fail(err)
		return nil, false
	}
	for _, row := range rows {
		blocks := decodeGeneration(row)
		r.mu.Lock()
		for _, b := range blocks {
			r.remember(b)
			if b.link == l {
				found, ok = b.data, true
			}
		}
		r.mu.Unlock()
	}
	return found, ok
}

// readScattered does the same with generations that a database of before version 3 has, whose blocks have rows of their
// own. One whose bytes are damaged is not there.
func (r *BrowserRun) readScattered(l seedlog.Link, rows []chainRow) ([]byte, bool) {
	links := []seedlog.Link{l}
	for _, row := range rows {
		links = append(links, row.entry, row.seal)
	}
	found := r.load(links)
	links = nil
	for _, row := range rows {
		links = append(links, r.named(found[row.entry], nil)...)
	}
	r.load(links)
	data, ok := found[l]
	return data, ok
}

// named lists the blocks that an entry names, given those that need not be read.
func (r *BrowserRun) named(entry []byte, given map[seedlog.Link][]byte) []seedlog.Link {
	e, err := seedlog.DecodeEntry(entry)
	if err != nil {
		return nil
	}
	lacking := slices.DeleteFunc(slices.Clone(e.Batches), func(l seedlog.Link) bool { return given[l] != nil })
	found := r.load(lacking)
	whole, err := seedlog.ReadEntry(entry, func(l seedlog.Link) ([]byte, bool) {
		data := given[l]
		if data == nil {
			data = found[l]
		}
		return data, data != nil
	})
	if err != nil {
		return e.Batches
	}
	return whole.Named()
}

// load returns those blocks of a list that are in memory or have rows of their own, and keeps them in memory.
func (r *BrowserRun) load(links []seedlog.Link) map[seedlog.Link][]byte {
	found := make(map[seedlog.Link][]byte, len(links))
	links = slices.DeleteFunc(links, func(l seedlog.Link) bool {
		data, ok := r.held(l)
		if ok {
			found[l] = data
		}
		return ok || !l.Defined()
	})
	for some := range slices.Chunk(links, readsAtOnce) {
		blocks, err := r.rows.blocks(some)
		if err != nil {
			r.fail(err)
			return found
		}
		r.mu.Lock()
		for i, data := range blocks {
			if data != nil && seedlog.LinkOf(data) == some[i] {
				r.remember(block{some[i], data})
				found[some[i]] = data
			}
		}
		r.mu.Unlock()
	}
	return found
}

// along lists the generations to read with a block, from a height on: that of the entry, if it is one, and those above
// it where the one below it was read last.
func (r *BrowserRun) along(l seedlog.Link) (low uint64, rows []chainRow) {
	r.mu.Lock()
	defer r.mu.Unlock()
	low, ok := r.heights[l]
	if i := slices.IndexFunc(r.page.rows, func(row chainRow) bool { return row.entry == l }); !ok && i >= 0 {
		low, ok = r.page.from+uint64(i), true
	}
	if !ok {
		return 0, nil
	}
	n := 1
	if low == r.readTo+1 {
		n = readAhead
	}
	for len(rows) < n {
		row, ok := r.inMemory(low + uint64(len(rows)))
		if !ok || len(rows) > 0 && row.end-rows[0].end > aheadBytes {
			break
		}
		rows = append(rows, row)
		r.readTo = low + uint64(len(rows)) - 1
	}
	return low, rows
}

// held returns a block that is in memory.
func (r *BrowserRun) held(l seedlog.Link) ([]byte, bool) {
	if l == r.rules.Run {
		return r.genesis, true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.recent.Get(l)
}

// remember keeps a block in memory as long as there is room. The lock is held.
func (r *BrowserRun) remember(b block) {
	r.recent.Put(b.link, struct{}{}, uint64(len(b.data)+blockExtra), b.data)
}
