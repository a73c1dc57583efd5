//go:build !js

package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"io"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// indexFile keeps the index of the older part of a log, so that opening a run reads and hashes only the newer part. It
// is derived from the log: a missing or damaged one costs a full scan. It grows by pieces, which are
//
//	"evoswarm/index/1"   16 bytes
//	first block           8 bytes, little endian: how many blocks come before this piece
//	blocks                4 bytes
//	begin, end            8 bytes each: offsets in the log
//	entry, seal          36 bytes each: the links of the last two blocks
//	blocks: tag           4 bytes
//	        length        4 bytes; of the section, with the highest bit set for an entry
//	SHA-256 of all before 32 bytes
//
// Nothing of it is fsynced, except that it became shorter: before the log is cut.
type indexFile struct {
	files filesystem
	path  string
	file  file // nil: cannot be used
	size  int64
	ends  []piece // of the pieces
}

// piece is where one ends in the file, and what it covers the log up to.
type piece struct {
	size   int64
	height int
}

const (
	indexTag  = "evoswarm/index/1"
	indexHead = len(indexTag) + 8 + 4 + 8 + 8 + 2*linkSize
	entryBit  = 1 << 31
)

// indexLag is how many of the newest entries are not in the file, and how many a piece has at least. Tests change it.
var indexLag = 1024

// openIndex reads the index of a log of which so many bytes are durable. Whatever is wrong, it starts empty.
func openIndex(f filesystem, path string, log file, synced, start int64, below int) (*indexFile, *logIndex) {
	x := newLogIndex(start, below)
	file, err := f.Create(path)
	if err != nil {
		return &indexFile{files: f, path: path}, x
	}
	i := &indexFile{files: f, path: path, file: file}
	size, err := file.Size()
	if err != nil {
		return i, x
	}
	in := newBuffered(io.NewSectionReader(file, 0, size))
	for i.read(in, x, synced) {
	}
	// Entries name their parents and claims, so the last entry and its seal vouch for all before.
	for n := len(i.ends); n > 0; n-- {
		if last := len(x.tags) - 1; i.matches(x, last, log) {
			break
		}
		i.drop(x, n-1)
	}
	return i, x
}

// read takes the next piece; false if there is no good one.
func (i *indexFile) read(in io.Reader, x *logIndex, synced int64) bool {
	head := make([]byte, indexHead)
	if _, err := io.ReadFull(in, head); err != nil || string(head[:len(indexTag)]) != indexTag {
		return false
	}
	b := head[len(indexTag):]
	first, count := binary.LittleEndian.Uint64(b), int(binary.LittleEndian.Uint32(b[8:]))
	begin, end := int64(binary.LittleEndian.Uint64(b[12:])), int64(binary.LittleEndian.Uint64(b[20:]))
	if first != uint64(len(x.tags)) || begin != x.end() || end > synced || end < begin+int64(count) {
		return false
	}
	rows := make([]byte, 8*count+sha256.Size)
	if _, err := io.ReadFull(in, rows); err != nil {
		return false
	}
	sum := sha256.Sum256(append(head, rows[:8*count]...))
	if !bytes.Equal(sum[:], rows[8*count:]) {
		return false
	}
	for k := range count {
		length := binary.LittleEndian.Uint32(rows[8*k+4:])
		if length&entryBit != 0 {
			x.entries = append(x.entries, uint32(len(x.tags)))
		}
		x.add(binary.LittleEndian.Uint32(rows[8*k:]), x.end()+int64(length&^entryBit))
	}
	i.size += int64(indexHead + len(rows))
	i.ends = append(i.ends, piece{i.size, x.height()})
	return x.end() == end
}

// matches reports whether the log has, where the index ends, the entry and the seal that it had when that was written.
func (i *indexFile) matches(x *logIndex, last int, log file) bool {
	if last < 1 || len(x.entries) == 0 || x.number(x.height()) != last-1 {
		return false
	}
	head := make([]byte, indexHead)
	at := int64(0)
	if n := len(i.ends); n > 1 {
		at = i.ends[n-2].size
	}
	if _, err := i.file.ReadAt(head, at); err != nil {
		return false
	}
	entry, _, ok1 := x.read(last-1, log)
	seal, data, ok2 := x.read(last, log)
	if !ok1 || !ok2 || !bytes.Equal(entry.Bytes(), head[indexHead-2*linkSize:indexHead-linkSize]) || !bytes.Equal(seal.Bytes(), head[indexHead-linkSize:]) {
		return false
	}
	s, err := seedlog.DecodeSeal(data)
	return err == nil && s.Entry == entry
}

// drop forgets all pieces from one on, also in x.
func (i *indexFile) drop(x *logIndex, from int) {
	i.ends = i.ends[:from]
	i.size = 0
	height := x.below
	if from > 0 {
		i.size, height = i.ends[from-1].size, i.ends[from-1].height
	}
	x.cut(x.endOf(height))
}

// covered is the height up to which the file has the index of a log.
func (i *indexFile) covered(x *logIndex) int {
	if n := len(i.ends); n > 0 {
		return i.ends[n-1].height
	}
	return x.below
}

// grow writes the next piece when there is enough that is old enough. Failures only make the next start slower.
func (i *indexFile) grow(x *logIndex, log file) {
	from, to := i.covered(x), x.height()-indexLag
	if i.file == nil || to < from+indexLag {
		return
	}
	first, end := 0, x.number(to)+2
	if from > x.below {
		first = x.number(from) + 2
	}
	b := make([]byte, 0, indexHead+8*(end-first)+sha256.Size)
	b = binary.LittleEndian.AppendUint64(append(b, indexTag...), uint64(first))
	b = binary.LittleEndian.AppendUint32(b, uint32(end-first))
	b = binary.LittleEndian.AppendUint64(b, uint64(x.offsets[first]))
	b = binary.LittleEndian.AppendUint64(b, uint64(x.offsets[end]))
	for _, number := range []int{end - 2, end - 1} {
		link := x.linkOf(number, log)
		if !link.Defined() {
			return
		}
		b = append(b, link.Bytes()...)
	}
	next := from
	for n := first; n < end; n++ {
		length := uint32(x.offsets[n+1] - x.offsets[n])
		if next < to && x.number(next+1) == n {
			length |= entryBit
			next++
		}
		b = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(b, x.tags[n]), length)
	}
	sum := sha256.Sum256(b)
	if _, err := i.file.WriteAt(append(b, sum[:]...), i.size); err != nil {
		i.release()
		return
	}
	i.size += int64(len(b) + len(sum))
	i.ends = append(i.ends, piece{i.size, to})
}

// cut drops, durably, what says more than the log up to a height.
func (i *indexFile) cut(height int) error {
	n := len(i.ends)
	for n > 0 && i.ends[n-1].height > height {
		n--
	}
	if n == len(i.ends) || i.file == nil {
		return nil
	}
	i.ends = i.ends[:n]
	i.size = 0
	if n > 0 {
		i.size = i.ends[n-1].size
	}
	return i.shorten()
}

// forget drops all pieces, durably: the log is about to be another one.
func (i *indexFile) forget() error {
	i.ends, i.size = nil, 0
	return i.shorten()
}

// shorten cuts what follows the good pieces.
func (i *indexFile) shorten() error {
	if i.file == nil {
		return nil
	}
	err := i.file.Truncate(i.size)
	if err == nil {
		err = i.file.Sync()
	}
	return explain(err, i.path)
}

func (i *indexFile) release() {
	if i.file != nil {
		i.file.Close()
		i.file = nil
	}
}
