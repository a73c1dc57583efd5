//go:build !js

package store

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// OpenRun opens the run in the folder, or creates it. What a crash left beyond the recorded fsynced length is cut, see
// [Run.Notes]; damage before it gives ErrCorrupt, and nothing is changed. What the index covers is not read: a block
// damaged there is not found later.
func (d *Disk) OpenRun(rules *seedlog.Rules) (*Run, error) {
	r := &Run{rules: rules, seals: map[seedlog.Link]seedlog.Link{}}
	if len(d.key) > 0 {
		r.named.own = seedlog.PeerOf(d.key)
	}
	if err := r.open(d.files, filepath.Join(d.dir, rules.Run.String())); err != nil {
		r.release()
		return nil, err
	}
	return r, nil
}

// open checks everything before it changes anything.
func (r *Run) open(f filesystem, base string) (err error) {
	sealOf := map[seedlog.Link]seedlog.Link{} // the first seal of each entry; that of the log counts
	see := func(l seedlog.Link, data []byte) {
		if seal, err := seedlog.DecodeSeal(data); err == nil && !sealOf[seal.Entry].Defined() {
			sealOf[seal.Entry] = l
		}
	}
	if r.log, err = openLog(f, base+logSuffix, base+indexSuffix, r.rules, see); err != nil {
		if at := new(seedlog.FileError); errors.As(err, &at) && len(sealOf) > 0 {
			at.Height = uint64(r.log.heights.height()+len(sealOf)) + 1
		}
		return err
	}
	seeAside := func(l seedlog.Link, data []byte) { see(l, data); r.seeSeal(l, data) }
	if r.aside, err = openBlocks(f, base+blocksSuffix, r.rules, seeAside); err != nil {
		return err
	}
	r.slots, err = openSlots(f, base+stateSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		if !r.log.empty() || !r.aside.empty() {
			return fmt.Errorf("%w: %s%s is missing; restore it, or move the run's files away to join the run afresh", ErrCorrupt, base, stateSuffix)
		}
		r.slots, err = createSlots(f, base+stateSuffix)
	}
	if err != nil {
		return err
	}
	r.state = r.slots.current.state
	r.sums = openSummaries(f, base)
	blocks, err := r.readChain(sealOf)
	if len(r.log.heights.entries) > 0 && err != nil {
		// The index is of another chain, or of a damaged log: read all.
		r.log.forgetIndex()
		if err := r.log.check(r.log.path, see); err != nil {
			return err
		}
		blocks, err = r.readChain(sealOf)
	}
	if err != nil {
		return err
	}
	height, end := r.match(blocks)
	if end < r.log.synced {
		err := fmt.Errorf("%w: %s continues where the run ended; move the run's files away to join the run afresh", ErrCorrupt, r.log.path)
		return &seedlog.FileError{Height: uint64(r.log.heights.height()) + 1, Offset: end, Err: err}
	}
	if err := r.repair(blocks[height:], end); err != nil {
		return err
	}
	r.named.files, r.named.path, r.named.keep = f, base+branchesSuffix, DefaultKeep
	return r.openBranches()
}

// readChain walks from the recorded head down to the last entry of the index, or the genesis, and returns for each
// height the links of its blocks, in the log's order.
func (r *Run) readChain(sealOf map[seedlog.Link]seedlog.Link) (blocks [][]seedlog.Link, err error) {
	at, seal := r.slots.current.head, r.slots.current.seal
	covered := seedlog.Link{}
	if r.log.base != nil {
		covered = r.log.base.Link
	}
	if len(r.log.heights.entries) > 0 {
		covered = r.linkAt(r.log.heights.height()).entry
	}
	for at.Defined() && at != r.rules.Run && at != covered {
		data, ok := r.Block(at)
		if !ok || !seal.Defined() {
			return nil, r.lacks(at)
		}
		e, err := seedlog.ReadEntry(data, r.Block)
		if err != nil {
			return nil, fmt.Errorf("%w: entry %s: %w", ErrCorrupt, at, err)
		}
		all := append(e.Named(), at, seal)
		for _, l := range all {
			if !r.has(l) {
				return nil, r.lacks(l)
			}
		}
		blocks = append(blocks, all)
		at = e.Parent
		seal = sealOf[at]
	}
	if covered.Defined() && at != covered {
		return nil, fmt.Errorf("%w: the recorded head is below what the index covers", ErrCorrupt)
	}
	slices.Reverse(blocks)
	return blocks, nil
}

// lacks is the error for a canonical block that is in neither file.
func (r *Run) lacks(l seedlog.Link) error {
	err := fmt.Errorf("%w: %s lacks block %s of the canonical chain; move the run's files away to join the run afresh", ErrCorrupt, r.log.path, l)
	if r.log.damage != nil {
		err = fmt.Errorf("%w (offset %d: %w)", err, r.log.good, r.log.damage)
	}
	return err
}

func (r *Run) has(l seedlog.Link) bool { return r.log.has(l) || r.aside.has(l) }

// match returns the height up to which the log holds the chain, section by section, and where that height ends.
func (r *Run) match(blocks [][]seedlog.Link) (height int, end int64) {
	at, x := r.log.sections, r.log.heights
	number := len(x.tags) - len(at) // of the first block of the next height
	switch {
	case len(x.entries) > 0:
		end = x.end()
		if len(at) > 0 {
			end = x.offsets[number]
		}
	case len(at) == 0:
		return 0, 0
	default: // the genesis, and what else is in front
		for len(at) > 0 && at[0].end <= x.offsets[0] {
			end, at, number = at[0].end, at[1:], number+1
		}
	}
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
		number += len(want)
		x.entries = append(x.entries, uint32(number-2))
		height++
	}
	return height, end
}

// repair cuts what a crash left, adds what the log lacks beyond end, and drops blocks that are there twice.
func (r *Run) repair(lacking [][]seedlog.Link, end int64) error {
	height := r.log.heights.height()
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
		tail[i].link = link{links[len(links)-2], links[len(links)-1]}
	}
	if err := r.log.saved.shorten(); err != nil {
		return err
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
	r.adopt(added)
	return r.aside.compact(r.log.has)
}

// noteCut adds a note about damage that is about to be cut.
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
