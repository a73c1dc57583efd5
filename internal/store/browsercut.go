package store

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// A run in the browser that may take so many bytes drops the older part of its chain. What the log begins with then is
// one row, and it counts from the moment that this row is there; the blocks below go later, some at a time.

// begins says where the log of a run in the browser begins, and what is to be removed.
type begins struct {
	begun   *seedlog.Base // nil: at the genesis
	swept   uint64        // up to that height the database has nothing
	cutting *browserCut   // that Prepare made
	most    int64         // bytes that the chain may take; 0: any number
	checkAt uint64        // height from which on Excess checks again
	each    int64         // what a generation takes whose row does not say where it ends

	scattered bool         // whether blocks of the chain have rows of their own, as before version 3 of the database
	loose     bool         // whether it is time to remove other rows of blocks that nobody needs
	added     int64        // how many such rows were written since
	tidied    seedlog.Link // the last of them that was checked; undefined: none
}

// browserCut is a cut that only has to be written.
type browserCut struct {
	base  seedlog.Base
	data  []byte       // the row
	entry seedlog.Link // of the height that has the state
}

const (
	// The chain gets three quarters of what a run may take, and is cut to one half of that; the rest is for branches
	// that lost, and summaries.
	browserChain, browserLeft = 4, 2
	// sweepEntries is how many generations are removed at a time.
	sweepEntries = 16
	// checkEvery is after how many entries it is tried again to find a place to cut.
	checkEvery = 64
)

// below is the height of the parent of the first entry.
func (b *begins) below() uint64 {
	if b.begun == nil {
		return 0
	}
	return b.begun.Height
}

// First implements [Store].
func (r *BrowserRun) First() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.below() + 1
}

// Bound sets how many bytes the run may take in the browser, at least LeastBound: the older part of the chain goes for
// it, in runs where peers may do so.
func (r *BrowserRun) Bound(most int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	most = max(most, LeastBound(r.rules))
	r.most, r.checkAt = most-most/browserChain, 0
}

// Excess says where to cut the chain if it takes too much: at a height up to most of which there is a summary.
func (r *BrowserRun) Excess(most uint64) (height uint64, ok bool) {
	r.mu.Lock()
	length, first, limit, known, look := r.length, r.below()+1, r.most, r.sums, r.length >= r.checkAt && r.err == nil
	r.mu.Unlock()
	if limit == 0 || length < first || !look {
		return 0, false
	}
	start, err1 := r.endOf(first)
	end, err2 := r.endOf(length)
	if err1 != nil || err2 != nil || end-start <= limit {
		return 0, false
	}
	goes := int64(0)
	slices.Sort(known[:])
	for _, h := range known {
		if h > most || h > length || h < first+uint64(cutWindow) {
			continue
		}
		to, err := r.endOf(h - uint64(cutWindow))
		if err == nil && (!ok || end-to >= limit/browserLeft) {
			height, goes, ok = h, to-start, true
		}
	}
	if !ok || goes < limit/4 {
		r.mu.Lock()
		r.checkAt = length + checkEvery
		r.mu.Unlock()
		return 0, false
	}
	return height, true
}

// endOf is what the chain takes up to a height.
func (r *BrowserRun) endOf(height uint64) (int64, error) {
	if height == 0 {
		return 0, nil
	}
	row, ok := r.rowAt(height)
	if !ok {
		return 0, r.damaged(fmt.Errorf("height %d cannot be read", height))
	}
	if row.end == 0 {
		return int64(height) * max(r.each, 1), nil
	}
	return row.end, nil
}

// Prepare reads what the log is to begin with.
func (r *BrowserRun) Prepare(c Cut) error {
	if c.Height > r.Length() || c.Height < r.First()+uint64(cutWindow) {
		return ErrCut
	}
	low := c.Height - uint64(cutWindow)
	base, err := c.base(low, func(height uint64) (seedlog.Link, []byte, bool) {
		row, _ := r.rowAt(height)
		data, ok := r.Block(row.entry)
		return row.entry, data, ok
	})
	if err != nil {
		return r.damaged(err)
	}
	entry, _, _ := r.At(c.Height)
	row := seedlog.AppendBase(r.rules.AppendBeginning(nil), &base, c.Data)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cutting = &browserCut{base, row, entry}
	return nil
}

// Cut makes the log begin with what Prepare read. ErrCut harms nothing; other errors are those of a failed Save.
func (r *BrowserRun) Cut([]seedlog.Link) error {
	r.saving.Lock()
	defer r.saving.Unlock()
	r.mu.Lock()
	s := r.cutting
	r.cutting = nil
	r.mu.Unlock()
	if s == nil || r.failed() != nil {
		return ErrCut
	}
	if entry, _, ok := r.At(s.base.At); !ok || entry != s.entry {
		return ErrCut // another branch won meanwhile
	}
	c := &change{base: s.data}
	r.mu.Lock()
	sums := r.sums
	r.mu.Unlock()
	for slot, height := range sums {
		if height > 0 && height < s.base.At {
			c.dropSums = append(c.dropSums, slot)
		}
	}
	if err := r.rows.write(c); err != nil {
		return r.fail(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, slot := range c.dropSums {
		r.sums[slot] = 0
	}
	r.begun, r.page = &s.base, page{}
	r.moves++
	low := r.length - uint64(len(r.tail))
	if gone := r.below() - min(r.below(), low); gone > 0 {
		for _, row := range r.tail[:gone] {
			delete(r.heights, row.entry)
		}
		r.tail = slices.Clone(r.tail[gone:])
	}
	return nil
}

// openBase reads where the log begins.
func (r *BrowserRun) openBase() error {
	base, _, err := r.readBase()
	r.begun = base
	return err
}

// readBase reads the row that the log begins with; nil: there is none.
func (r *BrowserRun) readBase() (*seedlog.Base, []byte, error) {
	row, err := r.rows.base()
	if err != nil || row == nil {
		return nil, nil, err
	}
	start := len(r.rules.AppendBeginning(nil))
	if len(row) < start {
		return nil, nil, r.damaged(seedlog.ErrTorn)
	}
	base, data, err := r.rules.ReadBase(seedlog.ResumeSections(bytes.NewReader(row[start:]), int64(start)))
	if err != nil {
		return nil, nil, r.damaged(err)
	}
	return base, data, nil
}

// Beginning is what the log begins with, and the parent of its first entry.
func (r *BrowserRun) Beginning() (data []byte, parent seedlog.Link, err error) {
	r.mu.Lock()
	begun := r.begun
	r.mu.Unlock()
	if begun == nil {
		return r.rules.AppendBeginning(nil), r.rules.Run, nil
	}
	data, err = r.rows.base()
	return data, begun.Link, err
}

// Untidy reports whether the database has blocks of the part of the chain that was dropped, or others to check for
// removal.
func (r *BrowserRun) Untidy() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err == nil && (r.swept < r.below() || r.loose)
}

// Tidy removes some of them, but not those that need lists. An error is that of a failed Save.
func (r *BrowserRun) Tidy(need []seedlog.Link) error {
	r.saving.Lock()
	defer r.saving.Unlock()
	if err := r.failed(); err != nil {
		return err
	}
	needed := make(map[seedlog.Link]bool, len(need))
	for _, l := range need {
		needed[l] = true
	}
	if r.swept < r.below() {
		return r.sweep(needed)
	}
	return r.sift(needed)
}

// sweep removes the lowest generations below the one that the log begins with.
func (r *BrowserRun) sweep(needed map[seedlog.Link]bool) error {
	low, high := r.swept+1, min(r.swept+sweepEntries, r.below())
	c := &change{below: high}
	rows, err := r.rows.generations(low, high)
	if err == nil && r.scattered {
		err = r.sweepScattered(c, low, high)
	}
	if err != nil {
		return r.fail(err)
	}
	for _, row := range rows {
		for _, b := range decodeGeneration(row) {
			if needed[b.link] {
				c.put = append(c.put, b)
			}
		}
	}
	c.drop = slices.DeleteFunc(c.drop, func(l seedlog.Link) bool { return needed[l] })
	if err := r.rows.write(c); err != nil {
		return r.fail(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.swept = high
	return nil
}

// sweepScattered adds the blocks of generations to a change that have rows of their own.
func (r *BrowserRun) sweepScattered(c *change, low, high uint64) error {
	rows, err := r.rows.chain(low, high)
	if err != nil {
		return err
	}
	for i, b := range rows {
		row, ok := decodeChainRow(b, low+uint64(i))
		if !ok {
			continue // its blocks stay
		}
		c.drop = append(c.drop, row.entry, row.seal)
		c.drop = append(c.drop, r.named(r.load([]seedlog.Link{row.entry})[row.entry], nil)...)
	}
	return nil
}

// sift removes some of the blocks that have rows of their own.
func (r *BrowserRun) sift(needed map[seedlog.Link]bool) error {
	links, err := r.rows.own(r.tidied)
	if err != nil {
		return r.fail(err)
	}
	c := &change{}
	for _, l := range links {
		if !needed[l] {
			c.drop = append(c.drop, l)
		}
	}
	if len(c.drop) > 0 {
		if err := r.rows.write(c); err != nil {
			return r.fail(err)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range c.drop {
		r.recent.Delete(l)
	}
	if len(links) > 0 {
		r.tidied = links[len(links)-1]
	} else {
		r.loose, r.added, r.tidied = false, 0, seedlog.Link{}
	}
	return nil
}
