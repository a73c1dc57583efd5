//go:build !js

package store

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

// SyncedSuffix ends the name of the small file beside a file that is being appended to. It holds the length up to which
// that file is fsynced: twenty decimal digits and a newline, rewritten in place.
const SyncedSuffix = ".synced"

// sideEvery is after how many fsyncs the side file is fsynced too. An old side file promises less and loses nothing.
const sideEvery = 64

// appendFile is a file that grows at its end, with its side file.
type appendFile struct {
	path   string
	file   *os.File
	side   *os.File
	size   int64 // of the file
	synced int64 // fsynced and recorded
	syncs  int
	err    error // first failure; it is final, since nobody knows what a failed fsync left
}

// Synced returns the length of the file at path that is recorded as fsynced; ok is false without a side file.
func Synced(path string) (length int64, ok bool, err error) {
	text, err := os.ReadFile(path + SyncedSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, explain(err, path+SyncedSuffix)
	}
	length, err = parseSynced(path, text)
	return length, err == nil, err
}

func parseSynced(path string, text []byte) (int64, error) {
	if len(bytes.Trim(text, "\x00")) == 0 {
		return 0, nil // created, but power went before it was written
	}
	n, err := strconv.ParseInt(string(bytes.TrimSuffix(text, []byte("\n"))), 10, 64)
	if err != nil || n < 0 || string(text) != formatSynced(n) {
		return 0, fmt.Errorf("%w: %s%s does not hold a length; if %s replays well, remove %[2]s%[3]s", ErrCorrupt, path, SyncedSuffix, filepath.Base(path))
	}
	return n, nil
}

func formatSynced(n int64) string { return fmt.Sprintf("%020d\n", n) }

// openAppend opens the file at path, or creates it empty. A file without its side file is refused if strict, which
// leaves it as it is; else it is taken as fsynced up to nothing.
func openAppend(path string) (*appendFile, error) {
	a := &appendFile{path: path}
	if err := a.open(); err != nil {
		a.release()
		return nil, explain(err, path)
	}
	return a, nil
}

func (a *appendFile) open() (err error) {
	if a.synced, _, err = Synced(a.path); err != nil {
		return err
	}
	if a.file, err = os.OpenFile(a.path, os.O_RDWR|os.O_CREATE, 0o644); err != nil {
		return err
	}
	if err := lock(a.file); err != nil {
		return fmt.Errorf("%w: %s", err, a.path)
	}
	info, err := a.file.Stat()
	if err != nil {
		return err
	}
	a.size = info.Size()
	return nil
}

// begin makes the side file, if it is not there, and the names of both files durable. Nothing may be written before.
func (a *appendFile) begin() (err error) {
	if a.side, err = os.OpenFile(a.path+SyncedSuffix, os.O_RDWR|os.O_CREATE, 0o644); err == nil {
		if err = a.record(true); err == nil {
			err = syncDir(filepath.Dir(a.path))
		}
	}
	return a.fail(err)
}

// fail remembers the first failure.
func (a *appendFile) fail(err error) error {
	if err != nil && a.err == nil {
		a.err = explain(err, a.path)
	}
	return a.err
}

// append writes b at the end; it is not durable yet.
func (a *appendFile) append(b []byte) error {
	if a.err != nil {
		return a.err
	}
	n, err := a.file.WriteAt(b, a.size)
	a.size += int64(n)
	return a.fail(err)
}

// sync makes everything written so far durable and records it.
func (a *appendFile) sync() error {
	if a.err != nil || a.synced == a.size {
		return a.err
	}
	size := a.size
	if err := a.file.Sync(); err != nil {
		return a.fail(err)
	}
	a.synced = size
	a.syncs++
	return a.fail(a.record(a.syncs%sideEvery == 0))
}

// record rewrites the side file.
func (a *appendFile) record(durable bool) error {
	_, err := a.side.WriteAt([]byte(formatSynced(a.synced)), 0)
	if err == nil && durable {
		err = a.side.Sync()
	}
	return err
}

// lower takes back the promise about what lies beyond n, durably, so that it may be cut.
func (a *appendFile) lower(n int64) error {
	if a.err != nil || a.synced <= n {
		return a.err
	}
	a.synced = n
	return a.fail(a.record(true))
}

// cut drops everything beyond n.
func (a *appendFile) cut(n int64) error {
	if err := a.lower(n); err != nil || a.size == n {
		return err
	}
	if err := a.file.Truncate(n); err != nil {
		return a.fail(err)
	}
	a.size = n
	return nil
}

// reader reads the file from its start, up to what is there now.
func (a *appendFile) reader() io.Reader { return io.NewSectionReader(a.file, 0, a.size) }

// close makes everything durable and closes both files.
func (a *appendFile) close() error {
	err := a.sync()
	if err == nil && a.side != nil {
		err = a.fail(a.side.Sync())
	}
	a.release()
	if a.err == nil {
		a.err = ErrClosed
	}
	return err
}

// release closes the files as they are.
func (a *appendFile) release() {
	if a.file != nil {
		a.file.Close()
	}
	if a.side != nil {
		a.side.Close()
	}
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

// newBuffered reads a file in large pieces.
func newBuffered(r io.Reader) io.Reader { return bufio.NewReaderSize(r, 1<<18) }
