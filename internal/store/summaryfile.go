//go:build !js

package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"sync"
)

// summarySuffix and a number end the names of files of summaries. Each holds the height (8 bytes, little endian) and
// what SaveSummary was given.
const summarySuffix = ".summary"

// summaryFiles are the summaries of a run in a folder.
type summaryFiles struct {
	files filesystem
	base  string

	mu      sync.Mutex
	budget  int // bytes of summaries of one size
	heights [summarySlots]uint64
	closed  bool
}

// openSummaries finds the summaries that are there. Files that cannot be read count as none.
func openSummaries(f filesystem, base string) *summaryFiles {
	s := &summaryFiles{files: f, base: base, budget: summaryBudget}
	for slot := range s.heights {
		file, err := f.Open(s.path(slot))
		if err != nil {
			continue
		}
		var b [8]byte
		if _, err := file.ReadAt(b[:], 0); err == nil {
			s.heights[slot] = binary.LittleEndian.Uint64(b[:])
		}
		file.Close()
	}
	return s
}

func (s *summaryFiles) path(slot int) string {
	return fmt.Sprintf("%s%s%02d", s.base, summarySuffix, slot)
}

// read returns the newest summary of a height up to most.
func (s *summaryFiles) read(most uint64) (height uint64, data []byte, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	slot, ok := newestUpTo(&s.heights, most)
	if !ok {
		return 0, nil, false
	}
	// One that cannot be read is returned empty, which is damaged: the caller asks for an older one.
	data, _ = s.load(slot)
	return s.heights[slot], data, true
}

func (s *summaryFiles) load(slot int) ([]byte, error) {
	file, err := s.files.Open(s.path(slot))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	size, err := file.Size()
	if err != nil || size < 8 {
		return nil, errors.Join(err, io.ErrUnexpectedEOF)
	}
	data := make([]byte, size-8)
	if _, err := file.ReadAt(data, 8); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	return data, nil
}

// write keeps a summary: whole, or not at all.
func (s *summaryFiles) write(height uint64, data []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return ErrClosed
	}
	slot := summarySlot(height, len(data), s.budget)
	path := s.path(slot)
	err := s.writeNew(path+newSuffix, height, data)
	if err == nil {
		err = s.files.Rename(path+newSuffix, path)
	}
	if err != nil {
		return explain(errors.Join(err, remove(s.files, path+newSuffix)), path)
	}
	s.heights[slot] = height
	return explain(s.files.SyncDir(filepath.Dir(path)), path)
}

func (s *summaryFiles) writeNew(path string, height uint64, data []byte) error {
	f, err := s.files.Create(path)
	if err != nil {
		return err
	}
	err = f.Truncate(0)
	if err == nil {
		_, err = f.WriteAt(append(binary.LittleEndian.AppendUint64(nil, height), data...), 0)
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// known lists the heights of the summaries.
func (s *summaryFiles) known() (heights []uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, h := range s.heights {
		if h > 0 {
			heights = append(heights, h)
		}
	}
	slices.Sort(heights)
	return heights
}

// drop removes the summaries below a height.
func (s *summaryFiles) drop(height uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for slot, h := range s.heights {
		if h > 0 && h < height && remove(s.files, s.path(slot)) == nil {
			s.heights[slot] = 0
		}
	}
}

func (s *summaryFiles) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
}
