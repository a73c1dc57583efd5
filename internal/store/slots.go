//go:build !js

package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"
	"path/filepath"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// hardState is what a run must remember besides its blocks: the protocol's state and where the canonical chain ends.
type hardState struct {
	state []byte       // nil: never given
	head  seedlog.Link // undefined: the genesis
	seal  seedlog.Link // of head
}

// slots is a file with two places for a hard state, written in turn, so that a torn write leaves the one before. A slot
// begins at a multiple of slotSize and is
//
//	"evoswarm/state/1"   16 bytes
//	number of the write   8 bytes, little endian; the slot with the higher one counts
//	length of the rest    4 bytes, little endian, without the digest
//	flags                 1 byte: 1 there is a head, 2 there is a state
//	head, seal            36 bytes each, zero without a head
//	state
//	SHA-256 of all before 32 bytes
type slots struct {
	path    string
	file    file
	number  uint64
	current hardState
	err     error
}

const (
	slotTag    = "evoswarm/state/1"
	slotHead   = len(slotTag) + 8 + 4
	slotFixed  = 1 + 36 + 36
	slotSize   = 1<<20 + 1<<12
	flagHead   = 1
	flagState  = 2
	digestSize = sha256.Size
)

// openSlots opens the file at path. The error is fs.ErrNotExist if there is none.
func openSlots(f filesystem, path string) (*slots, error) {
	s := &slots{path: path}
	var err error
	if s.file, err = f.Open(path); err != nil {
		return nil, explain(err, path)
	}
	if err := s.read(); err != nil {
		s.file.Close()
		return nil, err
	}
	return s, nil
}

// createSlots makes an empty file at path.
func createSlots(f filesystem, path string) (*slots, error) {
	s := &slots{path: path}
	var err error
	if s.file, err = f.Create(path); err != nil {
		return nil, explain(err, path)
	}
	if err := f.SyncDir(filepath.Dir(path)); err != nil {
		s.file.Close()
		return nil, explain(err, path)
	}
	return s, nil
}

// read finds the newer of the two slots that is whole.
func (s *slots) read() error {
	for i := range int64(2) {
		if number, h, ok := readSlot(io.NewSectionReader(s.file, i*slotSize, slotSize)); ok && number > s.number {
			s.number, s.current = number, h
		}
	}
	// The first write goes to the second slot. Where that is not whole and the first was never written, it
	// was torn and had promised nothing.
	begun := make([]byte, slotHead)
	if _, err := s.file.ReadAt(begun, 0); err != nil && err != io.EOF {
		return explain(err, s.path)
	}
	if s.number == 0 && len(bytes.Trim(begun, "\x00")) > 0 {
		return fmt.Errorf("%w: %s: neither of its two states is whole; move it away together with the run's other files to join the run afresh", ErrCorrupt, s.path)
	}
	return nil
}

func readSlot(r io.Reader) (number uint64, h hardState, ok bool) {
	b := make([]byte, slotHead)
	if _, err := io.ReadFull(r, b); err != nil || string(b[:len(slotTag)]) != slotTag {
		return 0, h, false
	}
	number = binary.LittleEndian.Uint64(b[len(slotTag):])
	n := int(binary.LittleEndian.Uint32(b[len(slotTag)+8:]))
	if n < slotFixed || n > slotFixed+MaxState {
		return 0, h, false
	}
	b = append(b, make([]byte, n+digestSize)...)
	if _, err := io.ReadFull(r, b[slotHead:]); err != nil {
		return 0, h, false
	}
	sum := sha256.Sum256(b[:slotHead+n])
	if !bytes.Equal(sum[:], b[slotHead+n:]) {
		return 0, h, false
	}
	return number, h, h.decode(b[slotHead:slotHead+n]) == nil
}

func (h *hardState) decode(b []byte) (err error) {
	flags := b[0]
	if flags&flagHead != 0 {
		if h.head, err = seedlog.LinkFromBytes(b[1:37]); err != nil {
			return err
		}
		if h.seal, err = seedlog.LinkFromBytes(b[37:73]); err != nil {
			return err
		}
	}
	if flags&flagState != 0 {
		h.state = b[slotFixed:]
	}
	return nil
}

func (h *hardState) encode() []byte {
	b := make([]byte, slotFixed, slotFixed+len(h.state))
	if h.head.Defined() {
		b[0] |= flagHead
		copy(b[1:37], h.head.Bytes())
		copy(b[37:73], h.seal.Bytes())
	}
	if h.state != nil {
		b[0] |= flagState
	}
	return append(b, h.state...)
}

// write makes h durable in place of the one before.
func (s *slots) write(h hardState) error {
	if s.err != nil {
		return s.err
	}
	body := h.encode()
	b := append(make([]byte, 0, slotHead+len(body)+digestSize), slotTag...)
	b = binary.LittleEndian.AppendUint64(b, s.number+1)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(body)))
	b = append(b, body...)
	sum := sha256.Sum256(b)
	b = append(b, sum[:]...)
	_, err := s.file.WriteAt(b, int64((s.number+1)%2)*slotSize)
	if err == nil {
		err = s.file.Sync()
	}
	if err != nil {
		s.err = explain(err, s.path)
		return s.err
	}
	s.number++
	s.current = h
	return nil
}
