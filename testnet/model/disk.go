package model

import (
	"fmt"
	"slices"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// disk is what survives a crash.
type disk struct {
	blocks map[seedlog.Link][]byte // shared by copies: blocks are named by their contents
	state  []byte
	chain  []seedlog.Link
	seals  []seedlog.Link
}

// Block implements coordinator.Archive.
func (d *disk) Block(link seedlog.Link) ([]byte, bool) {
	data, ok := d.blocks[link]
	return data, ok
}

// First implements coordinator.Archive.
func (d *disk) First() uint64 { return 1 }

// At implements coordinator.Archive.
func (d *disk) At(height uint64) (entry, seal seedlog.Link, ok bool) {
	if height == 0 || height > uint64(len(d.chain)) {
		return entry, seal, false
	}
	return d.chain[height-1], d.seals[height-1], true
}

// Height implements coordinator.Archive.
func (d *disk) Height(entry seedlog.Link) (height uint64, ok bool) {
	i := slices.Index(d.chain, entry)
	return uint64(i + 1), i >= 0
}

// Summary implements coordinator.Archive. Chains are too short for one.
func (d *disk) Summary(uint64) (height uint64, data []byte, ok bool) { return 0, nil, false }

func (d *disk) save(a coordinator.Actions) error {
	if a.State != nil {
		d.state = a.State
	}
	for _, b := range a.Blocks {
		d.blocks[b.Link()] = b.Bytes()
	}
	h := a.Head
	if h == nil {
		return nil
	}
	if h.Fork > uint64(len(d.chain)) {
		return fmt.Errorf("the head moved above height %d, the disk has %d", h.Fork, len(d.chain))
	}
	d.chain = append(d.chain[:h.Fork:h.Fork], h.Entries...)
	d.seals = append(d.seals[:h.Fork:h.Fork], h.Seals...)
	for i := range h.Entries {
		if d.blocks[h.Entries[i]] == nil || d.blocks[h.Seals[i]] == nil {
			return fmt.Errorf("the head moved to %s, which or whose seal was never given for keeping", h.Entries[i])
		}
	}
	return nil
}
