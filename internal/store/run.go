//go:build !js

package store

import (
	"errors"
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

// Chain implements [Store].
func (r *Run) Chain() (entries, seals []seedlog.Link) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for _, l := range r.chain {
		entries, seals = append(entries, l.entry), append(seals, l.seal)
	}
	return entries, seals
}

// Notes says in words what was repaired when the run was opened; usually nothing.
func (r *Run) Notes() []string { return r.notes }

// LogPath is the name of the canonical seed log. It may be read at any time; it may end within a generation.
func (r *Run) LogPath() string { return r.log.path }

// Close implements [Store].
func (r *Run) Close() error {
	failed := r.err != nil
	r.err = ErrClosed
	if failed { // or closed: what a failed Save wrote must not be promised
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
