//go:build !js

package store

import (
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
	index     map[seedlog.Link]place
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

// block is a block with its link.
type block struct {
	link seedlog.Link
	data []byte
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
	if b.synced == 0 && b.size < int64(len(b.beginning)) {
		return b, nil // new, or a crash tore its beginning
	}
	if b.damage = b.scan(each); b.damage != nil && b.good < b.synced {
		err := fmt.Errorf("%w: %s: %w; move the run's files away to join the run afresh", ErrCorrupt, path, b.damage)
		a.release()
		return nil, &seedlog.FileError{Offset: b.good, Err: err}
	}
	return b, nil
}

// scan reads the whole file; it returns what is wrong with it.
func (b *blockFile) scan(each func(seedlog.Link, []byte)) error {
	in, root, err := seedlog.NewSections(newBuffered(b.reader()))
	if err != nil {
		return err
	}
	if root != b.run {
		return fmt.Errorf("%w: %s", seedlog.ErrRun, root)
	}
	for {
		data, link, err := in.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		if len(b.sections) == 0 && link != b.run {
			return fmt.Errorf("%w: it begins with block %s", seedlog.ErrRun, link)
		}
		b.good = in.Offset()
		b.index[link] = place{b.good - int64(len(data)), int32(len(data))}
		b.sections = append(b.sections, section{link, b.good})
		each(link, data)
	}
	if b.size < b.synced {
		return fmt.Errorf("%w, but %d bytes were fsynced", seedlog.ErrTorn, b.synced)
	}
	return nil
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
		maps.DeleteFunc(b.index, func(_ seedlog.Link, at place) bool { return at.offset >= n })
	}
	b.sections = nil
	if err != nil {
		return err
	}
	return b.sync()
}

// read returns the block that link names.
func (b *blockFile) read(link seedlog.Link) ([]byte, bool) {
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

func (b *blockFile) has(link seedlog.Link) bool { _, ok := b.index[link]; return ok }

// write appends blocks; they are not durable yet, and found once the places returned are in the index.
func (b *blockFile) write(blocks []block) (map[seedlog.Link]place, error) {
	places := make(map[seedlog.Link]place, len(blocks))
	var text []byte
	for _, x := range blocks {
		text = seedlog.AppendLinked(text, x.link, x.data)
		places[x.link] = place{b.size + int64(len(text)-len(x.data)), int32(len(x.data))}
	}
	return places, b.append(text)
}

// compact rewrites the file without the blocks that spare names, if those are most of it.
func (b *blockFile) compact(spare func(seedlog.Link) bool) error {
	var kept []block
	var live, dead int64
	for link, at := range b.index {
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
	index := map[seedlog.Link]place{}
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
