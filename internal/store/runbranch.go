//go:build !js

package store

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// The branches of a run that have names. Their blocks lie next to the log as long as they have one.

// errGone says that a block of a branch is not there.
var errGone = errors.New("a block of the branch is missing")

// openBranches reads the names, and settles what a crash left open. A file that cannot be used costs the names.
func (r *Run) openBranches() error {
	all, err := readBranches(r.named.files, r.named.path)
	if errors.Is(err, ErrCorrupt) {
		r.notes = append(r.notes, fmt.Sprintf("%v; the branches that lost have no names any more", err))
	} else if err != nil {
		return err
	}
	r.named.all = all
	if r.settle(0) || r.named.trim() || errors.Is(err, ErrCorrupt) {
		return r.named.write()
	}
	return nil
}

// KeepBranches sets how many bytes the branches that lost may take, and who is told when entries were replaced: the
// goroutine that saves. It is called before the first Save.
func (r *Run) KeepBranches(bytes int64, tell func(Replaced)) error {
	n := &r.named
	n.mu.Lock()
	defer n.mu.Unlock()
	n.keep, n.tell = bytes, tell
	if n.trim() {
		return n.write()
	}
	return nil
}

// Branches lists the named branches, oldest first.
func (r *Run) Branches() []Branch {
	r.named.mu.Lock()
	defer r.named.mu.Unlock()
	return slices.Clone(r.named.all)
}

// RenameBranch gives a branch a name that its owner chose. Renamed branches are the last to go.
func (r *Run) RenameBranch(from, to string) error {
	n := &r.named
	n.mu.Lock()
	defer n.mu.Unlock()
	i := n.index(from)
	if err := CheckBranchName(to); err != nil {
		return err
	}
	switch {
	case i < 0:
		return fmt.Errorf("%w: %s", ErrNoBranch, from)
	case from != to && n.index(to) >= 0:
		return fmt.Errorf("%w: another branch is called %s", ErrBranchName, to)
	}
	n.all[i].Name, n.all[i].Renamed = to, true
	return n.write()
}

// RemoveBranch forgets a branch. Its blocks go when the file that has them is tidied.
func (r *Run) RemoveBranch(name string) error {
	n := &r.named
	n.mu.Lock()
	defer n.mu.Unlock()
	i := n.index(name)
	if i < 0 {
		return fmt.Errorf("%w: %s", ErrNoBranch, name)
	}
	n.all = slices.Delete(n.all, i, i+1)
	return n.write()
}

// WriteBranch writes the chain that ends with a branch as a seed log, from the genesis on.
func (r *Run) WriteBranch(name string, w io.Writer) error {
	all := r.Branches()
	i := slices.IndexFunc(all, func(b Branch) bool { return b.Name == name })
	if i < 0 {
		return fmt.Errorf("%w: %s", ErrNoBranch, name)
	}
	tip, err := seedlog.ParseLink(all[i].Tip)
	if err != nil {
		return err
	}
	path, fork, err := r.walk(tip)
	if err != nil {
		return err
	}
	return writeChain(w, r.rules, r, fork, path)
}

// walk returns the entries of a branch with their seals, lowest first, and the height of the canonical one below.
func (r *Run) walk(tip seedlog.Link) (path []link, fork uint64, err error) {
	for at := tip; at != r.rules.Run; {
		height, canonical := r.Height(at)
		if canonical {
			fork = height
			break
		}
		r.mu.RLock()
		seal := r.seals[at]
		r.mu.RUnlock()
		data, ok := r.Block(at)
		if !ok || !seal.Defined() {
			return nil, 0, fmt.Errorf("%w: entry %s, or its seal", errGone, at)
		}
		e, err := seedlog.DecodeEntry(data)
		if err != nil {
			return nil, 0, err
		}
		path = append(path, link{at, seal})
		at = e.Parent
	}
	slices.Reverse(path)
	return path, fork, nil
}

// settle brings the branches in line with the canonical chain, of which everything above a height may be new: some
// leave it elsewhere now, and one whose tip is canonical again is none any more. The caller holds named.mu, or is the
// only one.
func (r *Run) settle(height uint64) (changed bool) {
	var all []Branch
	for _, b := range r.named.all {
		is, ok := b, true
		if b.Fork >= height {
			is, ok = r.look(b)
		}
		if changed = changed || !ok || is != b; ok {
			all = append(all, is)
		}
	}
	r.named.all = all
	return changed
}

// look finds where a branch leaves the canonical chain now; false if it does not, or cannot be read.
func (r *Run) look(b Branch) (Branch, bool) {
	tip, err := seedlog.ParseLink(b.Tip)
	if err != nil {
		return b, false
	}
	path, fork, err := r.walk(tip)
	if err != nil || len(path) == 0 || fork == b.Fork && uint64(len(path)) == b.Entries {
		return b, err == nil && len(path) > 0
	}
	is := Branch{Name: b.Name, Fork: fork, Height: b.Height, Tip: b.Tip, When: b.When, Renamed: b.Renamed}
	for _, at := range path {
		g, err := readRecord(at.entry, at.seal, r.Block)
		if err == nil {
			err = is.add(g, r.named.own)
		}
		if err != nil {
			return b, false
		}
	}
	return is, true
}

// add counts the next entry.
func (b *Branch) add(g record, own seedlog.Peer) error {
	for _, x := range g.blocks {
		b.Bytes += seedlog.SectionLen(len(x.data))
	}
	for _, x := range g.blocks[g.batches : len(g.blocks)-2] { // entry and seal come last
		claim, err := seedlog.DecodeClaim(x.data)
		if err != nil {
			return fmt.Errorf("%w: claim %s: %w", ErrCorrupt, x.link, err)
		}
		b.Evaluations += claim.Evaluations()
		if claim.Peer == own {
			b.Own += claim.Evaluations()
		}
	}
	b.Entries++
	return nil
}

// name gives the entries above a height, which are about to be replaced, a name that is durable before they are. If
// they are not replaced after all, settle finds that out.
func (r *Run) name(fork int, losing []record) (lost *Replaced, err error) {
	if len(losing) == 0 {
		return nil, nil
	}
	n := &r.named
	b := Branch{Fork: uint64(fork), Height: uint64(fork + len(losing)), When: time.Now().UTC().Truncate(time.Second)}
	for _, g := range losing {
		if err := b.add(g, n.own); err != nil {
			return nil, err
		}
	}
	tip := losing[len(losing)-1].link.entry
	b.Tip = tip.String()
	n.mu.Lock()
	defer n.mu.Unlock()
	b.Name = n.nameOf(tip, b.Height)
	n.all = append(n.all, b)
	n.trim()
	return &Replaced{Branch: b, Kept: n.index(b.Name) >= 0}, n.write()
}

// resettle settles the branches after the chain above a height has changed.
func (r *Run) resettle(height uint64) error {
	r.named.mu.Lock()
	defer r.named.mu.Unlock()
	if r.settle(height) {
		return r.named.write()
	}
	return nil
}

// Untidy reports whether the blocks next to the log should be tidied.
func (r *Run) Untidy() bool { return r.aside.size > r.tidyAt }

// tidyLeast is how long the file next to the log may become before it is tidied again. Tests change it.
var tidyLeast = int64(64 << 20)

// Tidy removes from the file next to the log what neither a branch with a name has nor need lists, if that is most of
// it. The goroutine of Save calls it. An error is that of a failed Save: the store takes nothing more.
func (r *Run) Tidy(need []seedlog.Link) error {
	if r.err != nil {
		return r.err
	}
	keep := map[seedlog.Link]bool{}
	for _, l := range need {
		keep[l] = true
	}
	for _, b := range r.Branches() {
		tip, err := seedlog.ParseLink(b.Tip)
		if err != nil {
			continue
		}
		path, _, err := r.walk(tip)
		for _, at := range path {
			keep[at.entry], keep[at.seal] = true, true
			data, ok := r.Block(at.entry)
			e, err := seedlog.ReadEntry(data, r.Block)
			if !ok || err != nil {
				continue
			}
			for _, l := range e.Named() {
				keep[l] = true
			}
		}
		if err != nil && !errors.Is(err, errGone) {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.aside.compact(func(l seedlog.Link) bool { return !keep[l] || r.log.has(l) }); err != nil {
		r.err = err
		return err
	}
	for entry, seal := range r.seals {
		if !r.aside.has(seal) {
			delete(r.seals, entry)
		}
	}
	least := tidyLeast
	if r.tidyLeast > 0 {
		least = r.tidyLeast
	}
	r.tidyAt = max(least, 2*r.aside.size)
	return nil
}

// seeSeal notes which entry a block seals, if it is a seal.
func (r *Run) seeSeal(l seedlog.Link, data []byte) {
	if seal, err := seedlog.DecodeSeal(data); err == nil && !r.seals[seal.Entry].Defined() {
		r.seals[seal.Entry] = l
	}
}
