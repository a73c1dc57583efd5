//go:build !js

package store

import (
	"errors"
	"sync"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// Run is the Store of one run in a data folder. It has three files and some that only save time:
//
// <run>.seedlog is the canonical chain, a seed log like any other: the only copy of these blocks. <run>.blocks has the
// blocks that are not in it: those of branches that lost, and evidence. <run>.state has the hard state and says where
// the canonical chain ends. <run>.branches names what was canonical once, whose blocks stay in <run>.blocks.
// The log may lack the older part of the chain: then it begins at a base, see [Run.Cut].
// <run>.summary00 and so on are summaries, and <run>.index the index of the log's older part; these may be missing.
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
	sums  *summaryFiles
	notes []string
	named branches

	mu      sync.RWMutex // guards the indexes of both files and what follows; Save, Tidy, Cut and Close are the only writers
	state   []byte
	seals   map[seedlog.Link]seedlog.Link // of the entries next to the log
	cutting *cutting                      // the log that is to replace this one; nil: none was prepared
	cuts    int                           // how often the end of the log was replaced
	closing bool
	err     error

	copying sync.WaitGroup
	most    int64 // bytes that the log may take; 0: any number

	tidyLeast int64 // length of the file next to the log below which it is not tidied again; 0: tidyLeast
	tidyAt    int64 // length of the file next to the log beyond which it is untidy; 0: it was not tidied since the start
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

// State implements [Store].
func (r *Run) State() []byte {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.state
}

// Length implements [Store].
func (r *Run) Length() uint64 {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return uint64(r.log.heights.height())
}

// At implements [Store].
func (r *Run) At(height uint64) (entry, seal seedlog.Link, ok bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if height <= uint64(r.log.below()) || height > uint64(r.log.heights.height()) {
		return entry, seal, false
	}
	l := r.linkAt(int(height))
	return l.entry, l.seal, l.entry.Defined() && l.seal.Defined()
}

// linkAt reads the links of a height from the log; they are undefined where that fails.
func (r *Run) linkAt(height int) link {
	x := r.log.heights
	number := x.number(height)
	return link{x.linkOf(number, r.log.file), x.linkOf(number+1, r.log.file)}
}

// First implements [Store].
func (r *Run) First() uint64 {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return uint64(r.log.below()) + 1
}

// Height implements [Store].
func (r *Run) Height(entry seedlog.Link) (height uint64, ok bool) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	number, _, ok := r.log.heights.find(entry, r.log.file)
	if !ok {
		return 0, false
	}
	h, ok := r.log.heights.heightAt(number)
	return uint64(h), ok
}

// SaveSummary implements [Store].
func (r *Run) SaveSummary(height uint64, data []byte) error { return r.sums.write(height, data) }

// Summary implements [Store]. The last resort is what the log begins with, which is durable.
func (r *Run) Summary(most uint64) (height uint64, data []byte, ok bool) {
	height, data, ok = r.sums.read(most)
	r.mu.RLock()
	defer r.mu.RUnlock()
	if b := r.log.base; b != nil && b.At <= most && (!ok || height < b.At) {
		data, err := r.log.baseData(r.rules)
		return b.At, data, err == nil
	}
	return height, data, ok
}

// Notes says in words what was repaired when the run was opened; usually nothing.
func (r *Run) Notes() []string { return r.notes }

// LogPath is the name of the canonical seed log. It may be read at any time; it may end within a generation.
func (r *Run) LogPath() string { return r.log.path }

// Close implements [Store].
func (r *Run) Close() error {
	failed := r.err != nil
	r.err = ErrClosed
	r.dropCut()
	r.sums.close()
	if failed { // or closed: what a failed Save wrote must not be promised
		r.release()
		return nil
	}
	r.log.saved.release()
	return errors.Join(r.log.close(), r.aside.close(), explain(r.slots.file.Close(), r.slots.path))
}

// release closes files as they are.
func (r *Run) release() {
	for _, f := range []*blockFile{r.log, r.aside} {
		if f != nil {
			f.release()
		}
	}
	if r.log != nil && r.log.saved != nil {
		r.log.saved.release()
	}
	if r.slots != nil {
		r.slots.file.Close()
	}
}
