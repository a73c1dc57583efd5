//go:build !js

package store

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// logIndex finds the blocks of a log by link and by height. It holds no links: some 18 bytes for a block and 4 for a
// height. What it finds is read from the file and compared, so a false hit costs a read.
type logIndex struct {
	tags    []uint32 // bytes of each block's digest, in the file's order
	offsets []int64  // where the section of each block begins, and at last where the next one will
	below   int      // height of the parent of the first entry: 0, unless the log begins at a base
	entries []uint32 // number of the block that is the entry of height below+1, below+2, ...; its seal follows it
	table   []uint32 // numbers of blocks plus 1, by tag; open addressing
}

func newLogIndex(start int64, below int) *logIndex {
	return &logIndex{offsets: []int64{start}, below: below}
}

// tagOf is a part of a link's digest.
func tagOf(l seedlog.Link) uint32 {
	b := l.Bytes()
	return binary.LittleEndian.Uint32(b[len(b)-4:])
}

// end is where the next section goes.
func (x *logIndex) end() int64 { return x.offsets[len(x.offsets)-1] }

// height is that of the newest entry in the log.
func (x *logIndex) height() int { return x.below + len(x.entries) }

// number is that of the block that is the entry of a height.
func (x *logIndex) number(height int) int { return int(x.entries[height-x.below-1]) }

// endOf is where a height ends in the log.
func (x *logIndex) endOf(height int) int64 {
	if height == x.below {
		return x.offsets[0]
	}
	return x.offsets[x.number(height)+2]
}

// heightAt is the height of the entry whose block has a number; false if that block is no canonical entry.
func (x *logIndex) heightAt(number int) (height int, ok bool) {
	lo, hi := 0, len(x.entries)
	for lo < hi {
		if mid := (lo + hi) / 2; int(x.entries[mid]) < number {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return x.below + lo + 1, lo < len(x.entries) && int(x.entries[lo]) == number
}

// add takes the next block, whose section ends at an offset.
func (x *logIndex) add(tag uint32, end int64) {
	x.tags, x.offsets = append(x.tags, tag), append(x.offsets, end)
	if 3*len(x.tags) > 2*len(x.table) {
		x.rehash()
		return
	}
	x.put(len(x.tags) - 1)
}

func (x *logIndex) rehash() {
	x.table = make([]uint32, 1<<bits.Len(uint(max(2*len(x.tags), 64))))
	for i := range x.tags {
		x.put(i)
	}
}

// slot is where the search for a tag begins.
func (x *logIndex) slot(tag uint32) int {
	return int(tag*0x9e3779b1>>1) & (len(x.table) - 1)
}

func (x *logIndex) put(number int) {
	i := x.slot(x.tags[number])
	for x.table[i] != 0 {
		i = (i + 1) & (len(x.table) - 1)
	}
	x.table[i] = uint32(number + 1)
}

// cut forgets what lies beyond an offset.
func (x *logIndex) cut(end int64) {
	n := len(x.tags)
	for n > 0 && x.offsets[n] > end {
		n--
	}
	if n == len(x.tags) {
		return
	}
	x.tags, x.offsets = x.tags[:n], x.offsets[:n+1]
	for len(x.entries) > 0 && int(x.entries[len(x.entries)-1])+2 > n {
		x.entries = x.entries[:len(x.entries)-1]
	}
	x.rehash()
}

// from is the index of the log that has only what follows a height, from an offset on.
func (x *logIndex) from(height int, start int64) *logIndex {
	first := 0
	if height > x.below {
		first = x.number(height) + 2
	}
	moved := start - x.offsets[first]
	y := newLogIndex(start, height)
	y.tags = append(y.tags, x.tags[first:]...)
	for _, end := range x.offsets[first+1:] {
		y.offsets = append(y.offsets, end+moved)
	}
	for _, number := range x.entries[height-x.below:] {
		y.entries = append(y.entries, number-uint32(first))
	}
	y.rehash()
	return y
}

// find returns the number of the block that a link names, and the block.
func (x *logIndex) find(l seedlog.Link, f file) (number int, data []byte, ok bool) {
	if len(x.table) == 0 || !l.Defined() {
		return 0, nil, false
	}
	tag := tagOf(l)
	for i := x.slot(tag); x.table[i] != 0; i = (i + 1) & (len(x.table) - 1) {
		number = int(x.table[i] - 1)
		if x.tags[number] != tag {
			continue
		}
		if link, data, ok := x.read(number, f); ok && link == l {
			return number, data, true
		}
	}
	return 0, nil, false
}

// read reads the block of a number. It is false where the file has no whole block there.
func (x *logIndex) read(number int, f file) (seedlog.Link, []byte, bool) {
	section := make([]byte, x.offsets[number+1]-x.offsets[number])
	if _, err := f.ReadAt(section, x.offsets[number]); err != nil {
		return seedlog.Link{}, nil, false
	}
	size, width := binary.Uvarint(section)
	if width <= 0 || int(size) != len(section)-width || size <= linkSize {
		return seedlog.Link{}, nil, false
	}
	data := section[width+linkSize:]
	link := seedlog.LinkOf(data)
	return link, data, bytes.Equal(link.Bytes(), section[width:width+linkSize])
}

// linkOf reads the link of the block of a number; undefined where it cannot.
func (x *logIndex) linkOf(number int, f file) seedlog.Link {
	head := make([]byte, min(x.offsets[number+1]-x.offsets[number], binary.MaxVarintLen32+linkSize))
	if _, err := f.ReadAt(head, x.offsets[number]); err != nil {
		return seedlog.Link{}
	}
	_, width := binary.Uvarint(head)
	if width <= 0 || len(head) < width+linkSize {
		return seedlog.Link{}
	}
	link, err := seedlog.LinkFromBytes(head[width : width+linkSize])
	if err != nil {
		return seedlog.Link{}
	}
	return link
}
