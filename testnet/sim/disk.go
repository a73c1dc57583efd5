package sim

import (
	"fmt"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// disk is what survives a loss of power: everything that actions asked to keep.
type disk struct {
	blocks map[seedlog.Link][]byte
	state  []byte
	chain  []seedlog.Link
	seals  []seedlog.Link
}

func newDisk() *disk { return &disk{blocks: make(map[seedlog.Link][]byte)} }

// Block implements coordinator.Archive.
func (d *disk) Block(link seedlog.Link) ([]byte, bool) {
	data, ok := d.blocks[link]
	return data, ok
}

// save keeps what must be durable before anything is sent.
func (d *disk) save(a coordinator.Actions) error {
	if a.State != nil {
		d.state = a.State
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
	d.chain = append(d.chain[:a.Head.Fork:a.Head.Fork], a.Head.Entries...)
	d.seals = append(d.seals[:a.Head.Fork:a.Head.Fork], a.Head.Seals...)
	for i, link := range a.Head.Entries {
		if _, ok := d.blocks[link]; !ok {
			return fmt.Errorf("head moved to %s, which was never given for keeping", link)
		}
		if _, ok := d.blocks[a.Head.Seals[i]]; !ok {
			return fmt.Errorf("seal %s was never given for keeping", a.Head.Seals[i])
		}
	}
	return nil
}
