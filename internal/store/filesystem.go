//go:build !js

package store

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// file is what the store asks of an open file.
type file interface {
	io.ReaderAt
	io.WriterAt
	// Lock takes the file for this process until it is closed; ErrLocked if another process has it.
	Lock() error
	Size() (int64, error)
	Sync() error
	Truncate(size int64) error
	Close() error
}

// filesystem is what the store asks of a file system. The tests have one that loses power.
type filesystem interface {
	// Open opens a file for reading and writing.
	Open(name string) (file, error)
	// Create is Open of a file that is made if there is none.
	Create(name string) (file, error)
	Rename(from, to string) error
	Remove(name string) error
	// SyncDir makes the names in a folder durable.
	SyncDir(dir string) error
}

// osFiles are the computer's files.
type osFiles struct{}

type osFile struct{ *os.File }

func (f osFile) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (f osFile) Lock() error { return lock(f.File) }

func (osFiles) Open(name string) (file, error)   { return openFile(name, 0) }
func (osFiles) Create(name string) (file, error) { return openFile(name, os.O_CREATE) }
func (osFiles) Rename(from, to string) error     { return os.Rename(from, to) }
func (osFiles) Remove(name string) error         { return os.Remove(name) }
func (osFiles) SyncDir(dir string) error         { return syncDir(dir) }

func openFile(name string, flag int) (file, error) {
	f, err := os.OpenFile(name, os.O_RDWR|flag, 0o644)
	if err != nil {
		return nil, err
	}
	return osFile{f}, nil
}

// syncDir makes the names in a folder durable.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return err
	}
	return nil
}

// remove takes a file away that need not be there.
func remove(f filesystem, name string) error {
	if err := f.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
