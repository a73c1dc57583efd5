package sim

import (
	"fmt"
	"slices"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// disk is what survives a loss of power: everything that actions asked to keep.
type disk struct {
	blocks  map[seedlog.Link][]byte
	state   []byte
	chain   []seedlog.Link
	seals   []seedlog.Link
	heights map[seedlog.Link]uint64 // of chain

	sync       coordinator.Tick     // that saving takes
	lag        coordinator.Tick     // that it takes longer
	lagsUntil  coordinator.Tick     // until this tick
	failsUntil coordinator.Tick     // until when it is full, or read-only
	stuck      *coordinator.Actions // that could not be saved
	pending    *coordinator.Actions // being saved

	summary       []byte // the newest one
	summaryHeight uint64
}

func newDisk() *disk {
	return &disk{blocks: make(map[seedlog.Link][]byte), heights: make(map[seedlog.Link]uint64)}
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
func (d *disk) Height(entry seedlog.Link) (uint64, bool) {
	height, ok := d.heights[entry]
	return height, ok
}

// Summary implements coordinator.Archive.
func (d *disk) Summary(most uint64) (height uint64, data []byte, ok bool) {
	return d.summaryHeight, d.summary, d.summary != nil && d.summaryHeight <= most
}

// save keeps what must be durable before anything is sent.
func (d *disk) save(a *coordinator.Actions) error {
	if a.State != nil {
		d.state = a.State
	}
	if a.Summary != nil {
		data, err := a.Summary.Encode()
		if err != nil {
			return err
		}
		d.summaryHeight, d.summary = a.Summary.Height, data
	}
	for _, b := range a.Blocks {
		d.blocks[b.Link()] = b.Bytes()
	}
	if a.Head == nil {
		return nil
	}
	if a.Head.Fork > uint64(len(d.chain)) {
		return fmt.Errorf("head moved above height %d, the disk has %d", a.Head.Fork, len(d.chain))
	}
	for _, link := range d.chain[a.Head.Fork:] {
		delete(d.heights, link)
	}
	d.chain = append(d.chain[:a.Head.Fork], a.Head.Entries...)
	d.seals = append(d.seals[:a.Head.Fork], a.Head.Seals...)
	for i, link := range a.Head.Entries {
		d.heights[link] = a.Head.Fork + uint64(i) + 1
		if _, ok := d.blocks[link]; !ok {
			return fmt.Errorf("head moved to %s, which was never given for keeping", link)
		}
		if _, ok := d.blocks[a.Head.Seals[i]]; !ok {
			return fmt.Errorf("seal %s was never given for keeping", a.Head.Seals[i])
		}
	}
	return nil
}

// tear keeps the first blocks of a batch whose end never reached the disk. The store finds the batch incomplete, so
// neither the head nor the hard state moves.
func (d *disk) tear(a *coordinator.Actions, blocks int) {
	for _, b := range a.Blocks[:blocks] {
		d.blocks[b.Link()] = b.Bytes()
	}
}

// wipe gives a node without power another disk, and a new key, since its votes are lost, too. What it sent out alone, a
// moment before it lost power, may have reached nobody: that is lost with the disk.
func (s *Swarm) wipe(n *node) {
	old := n.disk
	n.disk = newDisk()
	s.rename(n)
	for link := range s.online.acknowledged { //lint:sorted each on its own
		_, here := old.blocks[link]
		if here && !slices.ContainsFunc(s.nodes, func(m *node) bool { return m.disk.blocks[link] != nil }) {
			delete(s.online.acknowledged, link)
		}
	}
}
