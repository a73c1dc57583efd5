package store

import (
	"fmt"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// linkSize is how many bytes a link takes.
const linkSize = 36

// block is a block with its link.
type block struct {
	link seedlog.Link
	data []byte
}

// record is one height and its blocks, in the log's order.
type record struct {
	link    link
	blocks  []block
	batches int // how many of the blocks are batches, which come first
}

// readRecord reads the blocks of an entry.
func readRecord(entry, seal seedlog.Link, find func(seedlog.Link) ([]byte, bool)) (record, error) {
	g := record{link: link{entry: entry, seal: seal}}
	data, _ := find(entry)
	e, err := seedlog.ReadEntry(data, find)
	if err != nil {
		return g, fmt.Errorf("%w: entry %s: %w", ErrBatch, entry, err)
	}
	g.batches = len(e.Batches)
	for _, l := range append(e.Named(), entry, seal) {
		data, ok := find(l)
		if !ok {
			return g, fmt.Errorf("%w: block %s of height %d was never saved", ErrBatch, l, e.Height)
		}
		g.blocks = append(g.blocks, block{l, data})
	}
	return g, nil
}
