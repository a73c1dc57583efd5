//go:build !js

package store

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// blockFile is a file of blocks that begins as the log of a run does: a CAR file with the genesis block in front.
type blockFile struct {
	*appendFile
	run       seedlog.Link
	beginning []byte
	start     int64                  // where what follows the beginning begins, and the base, if the log begins at one
	base      *seedlog.Base          // nil: it begins at the genesis
	index     map[seedlog.Link]place // nil: heights has the blocks
	heights   *logIndex              // of the log of a run; the beginning is not in it
	saved     *indexFile             // what heights began with
	// What opening found, in the file's order; nil afterwards.
	sections []section
	good     int64 // where the last good section ends
	damage   error // of what follows it; nil: the file ends there
}

// place is where a block lies in a file.
type place struct {
	offset int64
	size   int32
}

// placed is a block that was written.
type placed struct {
	link seedlog.Link
	place
}

// section is a block of a file, and where it ends.
type section struct {
	link seedlog.Link
	end  int64
}

// openBlocks opens the file and indexes what is good of it; it changes nothing. each is called for every block.
// Damage within the fsynced part is a [*seedlog.FileError] that wraps ErrCorrupt.
func openBlocks(f filesystem, path string, rules *seedlog.Rules, each func(seedlog.Link, []byte)) (*blockFile, error) {
	a, err := openAppend(f, path)
	if err != nil {
		return nil, err
	}
	b := &blockFile{appendFile: a, run: rules.Run, beginning: rules.AppendBeginning(nil), index: map[seedlog.Link]place{}}
	b.start = int64(len(b.beginning))
	return b, b.check(path, each)
}

// openLog is openBlocks for the log of a run, of whose older part an index is kept.
func openLog(f filesystem, path, indexPath string, rules *seedlog.Rules, each func(seedlog.Link, []byte)) (*blockFile, error) {
	a, err := openAppend(f, path)
	if err != nil {
		return nil, err
	}
	b := &blockFile{appendFile: a, run: rules.Run, beginning: rules.AppendBeginning(nil)}
	if err := b.readBase(rules); err != nil {
		err = fmt.Errorf("%w: %s: %w; move the run's files away to join the run afresh", ErrCorrupt, path, err)
		return b, &seedlog.FileError{Offset: int64(len(b.beginning)), Err: err}
	}
	b.saved, b.heights = openIndex(f, indexPath, a.file, a.synced, b.start, b.below())
	if head := make([]byte, len(b.beginning)); len(b.heights.entries) > 0 {
		if _, err := a.file.ReadAt(head, 0); err != nil || !bytes.Equal(head, b.beginning) {
			b.forgetIndex()
		}
	}
	return b, b.check(path, each)
}

// forgetIndex has the whole log scanned.
func (b *blockFile) forgetIndex() {
	b.saved.ends, b.saved.size = nil, 0
	b.heights = newLogIndex(b.start, b.below())
}

// check scans the file, or what an index of it does not cover.
func (b *blockFile) check(path string, each func(seedlog.Link, []byte)) error {
	b.sections, b.good, b.damage = nil, 0, nil
	if b.synced == 0 && b.size < int64(len(b.beginning)) {
		return nil // new, or a crash tore its beginning
	}
	if b.damage = b.scan(each); b.damage != nil && b.good < b.synced {
		err := fmt.Errorf("%w: %s: %w; move the run's files away to join the run afresh", ErrCorrupt, path, b.damage)
		return &seedlog.FileError{Offset: b.good, Err: err}
	}
	return nil
}

// scan reads the whole file; it returns what is wrong with it.
func (b *blockFile) scan(each func(seedlog.Link, []byte)) error {
	in, err := b.uncovered()
	if err != nil {
		return err
	}
	for {
		data, link, err := in.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if b.good == 0 && link != b.run {
			return fmt.Errorf("%w: it begins with block %s", seedlog.ErrRun, link)
		}
		b.good = in.Offset()
		b.insert(placed{link, place{b.good - int64(len(data)), int32(len(data))}})
		b.sections = append(b.sections, section{link, b.good})
		each(link, data)
	}
	if b.size < b.synced {
		return fmt.Errorf("%w, but %d bytes were fsynced", seedlog.ErrTorn, b.synced)
	}
	return nil
}

// uncovered reads the sections that no index covers: all, if there is none.
func (b *blockFile) uncovered() (*seedlog.Sections, error) {
	if b.heights != nil && len(b.heights.entries) > 0 {
		b.good = b.heights.end()
		return seedlog.ResumeSections(newBuffered(io.NewSectionReader(b.file, b.good, b.size-b.good)), b.good), nil
	}
	in, root, err := seedlog.NewSections(newBuffered(b.reader()))
	if err == nil && root != b.run {
		err = fmt.Errorf("%w: %s", seedlog.ErrRun, root)
	}
	return in, err
}

// insert makes a block found that was written, in the order of the file.
func (b *blockFile) insert(p placed) {
	switch end := p.offset + int64(p.size); {
	case b.heights == nil:
		b.index[p.link] = p.place
	case end > b.start:
		b.heights.add(tagOf(p.link), end)
	}
}

// drop makes blocks beyond an offset no longer found.
func (b *blockFile) drop(end int64) {
	if b.heights == nil {
		maps.DeleteFunc(b.index, func(_ seedlog.Link, at place) bool { return at.offset >= end })
		return
	}
	b.heights.cut(max(end, b.start))
}

// empty reports whether the file has no blocks but its beginning.
func (b *blockFile) empty() bool {
	if b.heights != nil {
		return len(b.heights.tags) == 0
	}
	return len(b.index) <= 1
}

// repair cuts the file to n bytes, if it is longer, and gives a new file its beginning. The rest becomes durable.
func (b *blockFile) repair(n int64) error {
	err := b.begin()
	if err == nil {
		err = b.fail(remove(b.files, b.path+newSuffix))
	}
	if err == nil {
		err = b.cut(n)
	}
	if err == nil && n == 0 {
		if err = b.append(b.beginning); err == nil {
			err = b.fail(b.scan(func(seedlog.Link, []byte) {}))
		}
	} else {
		b.drop(n)
	}
	b.sections = nil
	if err != nil {
		return err
	}
	return b.sync()
}

// read returns the block that link names.
func (b *blockFile) read(link seedlog.Link) ([]byte, bool) {
	if b.heights != nil {
		_, data, ok := b.heights.find(link, b.file)
		return data, ok
	}
	at, ok := b.index[link]
	if !ok {
		return nil, false
	}
	data := make([]byte, at.size)
	if _, err := b.file.ReadAt(data, at.offset); err != nil {
		return nil, false
	}
	return data, true
}

func (b *blockFile) has(link seedlog.Link) bool {
	if b.heights != nil {
		_, _, ok := b.heights.find(link, b.file)
		return ok
	}
	_, ok := b.index[link]
	return ok
}

// write appends blocks; they are not durable yet, and found once they were inserted.
func (b *blockFile) write(blocks []block) ([]placed, error) {
	places := make([]placed, 0, len(blocks))
	var text []byte
	for _, x := range blocks {
		text = seedlog.AppendLinked(text, x.link, x.data)
		places = append(places, placed{x.link, place{b.size + int64(len(text)-len(x.data)), int32(len(x.data))}})
	}
	return places, b.append(text)
}

// compact rewrites the file without the blocks that spare names, if those are most of it. The beginning stays.
func (b *blockFile) compact(spare func(seedlog.Link) bool) error {
	var kept []block
	var live, dead int64
	for link, at := range b.index {
		if link == b.run {
			continue
		}
		if spare(link) {
			dead += seedlog.SectionLen(int(at.size))
		} else {
			live += seedlog.SectionLen(int(at.size))
			kept = append(kept, block{link: link})
		}
	}
	if dead <= live+int64(len(b.beginning)) {
		return nil
	}
	slices.SortFunc(kept, func(x, y block) int { return cmp.Compare(b.index[x.link].offset, b.index[y.link].offset) })
	index := map[seedlog.Link]place{b.run: b.index[b.run]}
	err := b.replace(func(w io.Writer) error {
		end := int64(len(b.beginning))
		if _, err := w.Write(b.beginning); err != nil {
			return err
		}
		for _, x := range kept {
			data, ok := b.read(x.link)
			if !ok {
				return errors.New("a block cannot be read")
			}
			text := seedlog.AppendLinked(nil, x.link, data)
			if _, err := w.Write(text); err != nil {
				return err
			}
			end += int64(len(text))
			index[x.link] = place{end - int64(len(data)), int32(len(data))}
		}
		return nil
	})
	if err == nil {
		b.index = index
	}
	return err
}
