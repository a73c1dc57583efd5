package store

import (
	"encoding/binary"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// rows is where the browser keeps a run: IndexedDB, or maps. Its methods wait for the answer. A generation is one row,
// since a request for many small ones takes twenty times as long.
type rows interface {
	// state reads the hard state; nil: there is none.
	state() ([]byte, error)
	// base reads what the log begins with where older entries were dropped; nil: they were not.
	base() ([]byte, error)
	// ends are the lowest and the highest height that the chain has a row of, and the lowest with a row of its
	// generation; 0: there is none.
	ends() (low, high, whole uint64, err error)
	// chain reads the rows of the chain from low to high, as far as there are any.
	chain(low, high uint64) ([][]byte, error)
	// generations reads the rows of the generations from low to high, as far as there are any.
	generations(low, high uint64) ([][]byte, error)
	// find reads a block that has a row of its own, nil if it has none, and lists the heights whose generation may have
	// it.
	find(l seedlog.Link) (data []byte, heights []uint64, err error)
	// blocks reads blocks that have a row of their own; nil where there is none.
	blocks(links []seedlog.Link) ([][]byte, error)
	// own lists links of blocks that have a row of their own, some from after a link on; undefined: from the first.
	own(after seedlog.Link) ([]seedlog.Link, error)
	// summaries reads which height each slot of summaries has.
	summaries() ([summarySlots]uint64, error)
	// summary reads a summary; nil: there is none in that slot.
	summary(slot int) ([]byte, error)
	// write makes all of a change durable, or nothing of it.
	write(c *change) error
}

// change is what one transaction writes.
type change struct {
	put   []block        // blocks that get a row of their own
	drop  []seedlog.Link // blocks whose rows go
	state []byte         // nil: unchanged

	moved       bool // the chain above a height is replaced
	fork        uint64
	chain       []chainRow // of heights fork+1, fork+2, ...
	generations []record   // of them

	below    uint64 // rows of the chain and of generations up to that height go
	base     []byte // nil: unchanged
	dropSums []int  // slots of summaries that become empty
	slot     int    // where sum goes
	sum      []byte // a summary; nil: none
}

// chainRow is one height of the chain as the database has it: 36 bytes each of the links, then, 8 bytes each, little
// endian, end and the height. Before version 3 of the database these two were missing.
type chainRow struct {
	link
	end int64 // what the blocks of the chain take up to there; 0: not known
}

const (
	oldChainRow = 2 * linkSize
	newChainRow = oldChainRow + 16
)

func (c chainRow) encode(height uint64) []byte {
	b := append(append(make([]byte, 0, newChainRow), c.entry.Bytes()...), c.seal.Bytes()...)
	return binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(b, uint64(c.end)), height)
}

// decodeChainRow reads the row of a height.
func decodeChainRow(b []byte, height uint64) (c chainRow, ok bool) {
	switch {
	case len(b) == newChainRow && binary.LittleEndian.Uint64(b[oldChainRow+8:]) == height:
		c.end = max(int64(binary.LittleEndian.Uint64(b[oldChainRow:])), 0)
	case len(b) != oldChainRow:
		return c, false
	}
	var err1, err2 error
	c.entry, err1 = seedlog.LinkFromBytes(b[:linkSize])
	c.seal, err2 = seedlog.LinkFromBytes(b[linkSize:oldChainRow])
	return c, err1 == nil && err2 == nil
}

// encode makes the row of a generation: each block with its length in front.
func (g record) encode() []byte {
	size := 0
	for _, b := range g.blocks {
		size += binary.MaxVarintLen32 + len(b.data)
	}
	row := make([]byte, 0, size)
	for _, b := range g.blocks {
		row = append(binary.AppendUvarint(row, uint64(len(b.data))), b.data...)
	}
	return row
}

// decodeGeneration returns the blocks of a row, up to where it is damaged. They have the links that their bytes have.
func decodeGeneration(row []byte) (blocks []block) {
	for len(row) > 0 {
		size, width := binary.Uvarint(row)
		if width <= 0 || size > uint64(len(row)-width) {
			return blocks
		}
		data := row[width : width+int(size) : width+int(size)]
		blocks = append(blocks, block{seedlog.LinkOf(data), data})
		row = row[width+int(size):]
	}
	return blocks
}

// rowTag is a part of a link's digest as a number that JavaScript has, too. Two blocks may have the same.
func rowTag(l seedlog.Link) float64 {
	b := l.Bytes()
	return float64(binary.LittleEndian.Uint64(b[len(b)-8:]) >> 12)
}
