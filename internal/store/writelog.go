package store

import (
	"errors"
	"fmt"
	"io"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// link is one height of a chain.
type link struct{ entry, seal seedlog.Link }

// errMoved says that another branch won while a log was written.
var errMoved = errors.New("another branch became the canonical one meanwhile, or older entries were dropped; try again")

// cutter is a store that may lack the older part of its chain.
type cutter interface {
	// Beginning is what its log begins with, and the parent of the first entry.
	Beginning() (data []byte, parent seedlog.Link, err error)
}

// WriteLog writes the canonical chain of s as a seed log, block by block as they were received.
func WriteLog(w io.Writer, rules *seedlog.Rules, s Store) error {
	return writeChain(w, rules, s, s.Length(), nil)
}

// writeChain writes the canonical chain up to a height and a branch on it as a seed log.
func writeChain(w io.Writer, rules *seedlog.Rules, s Store, fork uint64, branch []link) error {
	beginning, first := rules.AppendBeginning(nil), s.First()
	parent := rules.Run
	if first > 1 {
		var err error
		if beginning, parent, err = s.(cutter).Beginning(); err != nil {
			return err
		}
	}
	if _, err := w.Write(beginning); err != nil {
		return err
	}
	var b []byte
	for height := first; height <= fork+uint64(len(branch)); height++ {
		var at link
		if height > fork {
			at = branch[height-fork-1]
		} else if entry, seal, ok := s.At(height); ok {
			at = link{entry, seal}
		} else if branch == nil && height >= s.First() {
			break // a shorter branch won meanwhile
		} else {
			return errMoved
		}
		var err error
		if b, err = appendGeneration(b[:0], s, at, parent); err != nil {
			return fmt.Errorf("store: height %d: %w", height, err)
		}
		parent = at.entry
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	return nil
}

// appendGeneration appends what an entry on parent names, the entry and its seal as sections of a seed log.
func appendGeneration(b []byte, s Store, at link, parent seedlog.Link) ([]byte, error) {
	data, ok := s.Block(at.entry)
	if !ok {
		return b, fmt.Errorf("entry %s is not in the store", at.entry)
	}
	e, err := seedlog.ReadEntry(data, s.Block)
	if err != nil {
		return b, err
	}
	if e.Parent != parent {
		return b, errMoved
	}
	for _, l := range e.Named() {
		named, ok := s.Block(l)
		if !ok {
			return b, fmt.Errorf("block %s is not in the store", l)
		}
		b = seedlog.AppendLinked(b, l, named)
	}
	b = seedlog.AppendLinked(b, at.entry, data)
	sealed, ok := s.Block(at.seal)
	if !ok {
		return b, fmt.Errorf("seal %s is not in the store", at.seal)
	}
	return seedlog.AppendLinked(b, at.seal, sealed), nil
}
