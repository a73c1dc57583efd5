//go:build !js

package store

import (
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"slices"
	"syscall"
)

// simDisk is a file system that keeps a record of what was asked of it, so that it can be taken back to what a loss of
// power at any moment may have left.
type simDisk struct {
	names   map[string]*simFile // as programs see them
	onDisk  map[string]*simFile // names that SyncDir made durable
	moments []moment            // what a loss of power may leave, one for every call that changes something
	record  bool
	fail    int // fails the call of this number, and all after it; 0: none
	calls   int
}

// simFile is a file: what programs see, and what is surely on the disk.
type simFile struct {
	seen    []byte
	durable []byte
	since   []simWrite // writes since the last Sync
}

// simWrite is a write or, without data, a truncation.
type simWrite struct {
	offset int64
	data   []byte
}

// moment is the disk between two calls.
type moment struct{ names, onDisk map[string]simFile }

func newSimDisk() *simDisk {
	return &simDisk{names: map[string]*simFile{}, onDisk: map[string]*simFile{}}
}

// call counts a call that changes something. It fails where the test says so.
func (d *simDisk) call() error {
	if d.calls++; d.fail > 0 && d.calls >= d.fail {
		return syscall.ENOSPC
	}
	return nil
}

// changed notes the moment after a call.
func (d *simDisk) changed() {
	if !d.record {
		return
	}
	copied := func(m map[string]*simFile) map[string]simFile {
		c := map[string]simFile{}
		for name, f := range m {
			c[name] = simFile{slices.Clone(f.seen), f.durable, slices.Clone(f.since)}
		}
		return c
	}
	d.moments = append(d.moments, moment{copied(d.names), copied(d.onDisk)})
}

// whole is the size of writes that a disk does whole or not at all: those of a length, which lie within one sector.
const whole = 32

// The ways in which writes that were not synced are treated; lossAny draws one per file.
const (
	lossAll  = iota // nothing of them arrived
	lossNone        // all did
	lossTorn        // all, but half of the last one, and zeros for the rest of it
	lossLast        // the last one alone: disks write in any order
	lossAny
)

// after returns a disk as it may be after a loss of power.
func (m moment) after(kind int, rng *rand.Rand) *simDisk {
	d := newSimDisk()
	names := m.names
	if kind == lossAll || kind == lossAny && rng.IntN(2) == 0 {
		names = m.onDisk
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		f := names[name]
		how := kind
		if kind == lossAny {
			how = rng.IntN(lossAny)
		}
		data := f.left(how)
		d.names[name] = &simFile{seen: data, durable: slices.Clone(data)}
		d.onDisk[name] = d.names[name]
	}
	return d
}

// left is what a loss of power leaves of a file.
func (f *simFile) left(how int) []byte {
	data := slices.Clone(f.durable)
	for i, w := range f.since {
		last := i == len(f.since)-1
		switch {
		case how == lossAll, how == lossLast && !last:
			continue
		case how == lossTorn && last && len(w.data) > whole:
			torn := make([]byte, len(w.data))
			copy(torn, w.data[:len(w.data)/2])
			w.data = torn
		}
		data = w.apply(data)
	}
	return data
}

func (w simWrite) apply(data []byte) []byte {
	end := int(w.offset) + len(w.data)
	if w.data == nil && len(data) > end {
		return data[:end]
	}
	if len(data) < end {
		data = append(data, make([]byte, end-len(data))...)
	}
	copy(data[w.offset:], w.data)
	return data
}

func (f *simFile) do(w simWrite) {
	f.seen = w.apply(f.seen)
	f.since = append(f.since, w)
}

func (d *simDisk) Open(name string) (file, error) {
	f := d.names[name]
	if f == nil {
		return nil, fmt.Errorf("%s: %w", name, fs.ErrNotExist)
	}
	return &simHandle{d, f}, nil
}

func (d *simDisk) Create(name string) (file, error) {
	if d.names[name] == nil {
		if err := d.call(); err != nil {
			return nil, err
		}
		d.names[name] = new(simFile)
		d.changed()
	}
	return d.Open(name)
}

func (d *simDisk) Rename(from, to string) error {
	if err := d.call(); err != nil {
		return err
	}
	d.names[to] = d.names[from]
	delete(d.names, from)
	d.changed()
	return nil
}

func (d *simDisk) Remove(name string) error {
	if d.names[name] == nil {
		return fs.ErrNotExist
	}
	if err := d.call(); err != nil {
		return err
	}
	delete(d.names, name)
	d.changed()
	return nil
}

func (d *simDisk) SyncDir(string) error {
	if err := d.call(); err != nil {
		return err
	}
	d.onDisk = maps.Clone(d.names)
	d.changed()
	return nil
}

// simHandle is an open file.
type simHandle struct {
	disk *simDisk
	file *simFile
}

func (h *simHandle) ReadAt(b []byte, offset int64) (int, error) {
	if offset >= int64(len(h.file.seen)) {
		return 0, io.EOF
	}
	n := copy(b, h.file.seen[offset:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

func (h *simHandle) WriteAt(b []byte, offset int64) (int, error) {
	err := h.disk.call()
	if err != nil && len(b) <= whole {
		return 0, err
	} else if err != nil {
		b = b[:len(b)/2] // a full disk takes a part
	}
	h.file.do(simWrite{offset, slices.Clone(b)})
	h.disk.changed()
	return len(b), err
}

func (h *simHandle) Truncate(size int64) error {
	if err := h.disk.call(); err != nil {
		return err
	}
	h.file.do(simWrite{offset: size})
	h.disk.changed()
	return nil
}

func (h *simHandle) Sync() error {
	if err := h.disk.call(); err != nil {
		return err
	}
	h.file.durable, h.file.since = slices.Clone(h.file.seen), nil
	h.disk.changed()
	return nil
}

func (h *simHandle) Size() (int64, error) { return int64(len(h.file.seen)), nil }
func (h *simHandle) Lock() error          { return nil }
func (h *simHandle) Close() error         { return nil }
