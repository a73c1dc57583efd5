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

// SyncedSuffix ends the name of the small file next to a file that is being appended to. It holds the length
// up to which that file is fsynced: twenty decimal digits and a newline, rewritten in place.
const SyncedSuffix = ".synced"

const (
	// lengthEvery is after how many fsyncs the recorded length is fsynced too. An old one promises less and
	// loses nothing.
	lengthEvery = 64
	// newSuffix ends the name of a file that is about to replace another.
	newSuffix = ".new"
)

// appendFile is a file that grows at its end, with the file of its fsynced length.
type appendFile struct {
	files   filesystem
	path    string
	file    file
	length  file
	size    int64 // of the file
	flushed int64 // fsynced
	synced  int64 // fsynced and recorded
	records int
	err     error // first failure; it is final, since what a failed fsync left is unknown
}

// Synced returns the length of the file at path that is recorded as fsynced; ok is false without such a record.
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

// openAppend opens the file at path, or creates it empty. Without a recorded length nothing of it counts as fsynced.
// Nothing is written yet: see begin.
func openAppend(f filesystem, path string) (*appendFile, error) {
	a := &appendFile{files: f, path: path}
	if err := a.open(); err != nil {
		a.release()
		return nil, explain(err, path)
	}
	return a, nil
}

func (a *appendFile) open() (err error) {
	if a.length, err = a.files.Open(a.path + SyncedSuffix); err == nil {
		err = a.readLength()
	} else if errors.Is(err, fs.ErrNotExist) {
		a.length, err = nil, nil
	}
	if err == nil {
		a.file, err = a.files.Create(a.path)
	}
	if err == nil {
		err = a.lockSize()
	}
	a.flushed = a.synced
	return err
}

func (a *appendFile) lockSize() (err error) {
	if err = a.file.Lock(); err != nil {
		return fmt.Errorf("%w: %s", err, a.path)
	}
	a.size, err = a.file.Size()
	return err
}

func (a *appendFile) readLength() error {
	text, err := io.ReadAll(io.NewSectionReader(a.length, 0, int64(2*len(formatSynced(0)))))
	if err == nil {
		a.synced, err = parseSynced(a.path, text)
	}
	return err
}

// begin makes the file of the length, if it is not there, and the names of both files durable. Nothing may be written
// before.
func (a *appendFile) begin() (err error) {
	if a.length == nil {
		a.length, err = a.files.Create(a.path + SyncedSuffix)
	}
	if err == nil {
		err = a.record(true)
	}
	if err == nil {
		err = a.files.SyncDir(filepath.Dir(a.path))
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
	if a.err != nil || len(b) == 0 {
		return a.err
	}
	n, err := a.file.WriteAt(b, a.size)
	a.size += int64(n)
	return a.fail(err)
}

// flush makes everything written so far durable.
func (a *appendFile) flush() error {
	if a.err != nil || a.flushed == a.size {
		return a.err
	}
	err := a.file.Sync()
	if err == nil {
		a.flushed = a.size
	}
	return a.fail(err)
}

// promise records what was flushed: from then on it is not cut when the file is opened again.
func (a *appendFile) promise() error {
	if a.err != nil || a.synced == a.flushed {
		return a.err
	}
	a.synced = a.flushed
	a.records++
	return a.fail(a.record(a.records%lengthEvery == 0))
}

// sync makes everything written so far durable and records it.
func (a *appendFile) sync() error {
	if err := a.flush(); err != nil {
		return err
	}
	return a.promise()
}

// record rewrites the length.
func (a *appendFile) record(durable bool) error {
	_, err := a.length.WriteAt([]byte(formatSynced(a.synced)), 0)
	if err == nil && durable {
		err = a.length.Sync()
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
	a.size, a.flushed = n, min(a.flushed, n)
	return nil
}

// replace puts a new file in place of this one, whole or not at all, whatever happens. write gives its content.
func (a *appendFile) replace(write func(w io.Writer) error) error {
	if a.err != nil {
		return a.err
	}
	if err := a.writeNew(write); err != nil {
		return a.fail(err)
	}
	return a.swap()
}

// swap puts the new file, which is durable, in place of this one.
func (a *appendFile) swap() error {
	if err := a.lower(0); err != nil { // the new file may be the shorter one
		return err
	}
	err := a.file.Close() // some systems rename no open file
	a.file = nil
	if err == nil {
		err = a.files.Rename(a.path+newSuffix, a.path)
	}
	if err == nil {
		err = a.files.SyncDir(filepath.Dir(a.path))
	}
	if err == nil {
		a.file, err = a.files.Open(a.path)
	}
	if err == nil {
		err = a.lockSize()
	}
	if err == nil {
		a.synced, a.flushed = a.size, a.size
		err = a.record(true)
	}
	return a.fail(err)
}

// writeNew writes the file that is to replace this one, durably.
func (a *appendFile) writeNew(write func(w io.Writer) error) error {
	f, err := a.files.Create(a.path + newSuffix)
	if err != nil {
		return err
	}
	err = f.Truncate(0)
	if err == nil {
		w := bufio.NewWriterSize(io.NewOffsetWriter(f, 0), 1<<18)
		if err = write(w); err == nil {
			err = w.Flush()
		}
	}
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// reader reads the file from its start, up to what is there now.
func (a *appendFile) reader() io.Reader { return io.NewSectionReader(a.file, 0, a.size) }

// close makes everything durable and closes both files.
func (a *appendFile) close() error {
	err := a.sync()
	if err == nil && a.length != nil {
		err = a.fail(a.length.Sync())
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
	if a.length != nil {
		a.length.Close()
	}
}

// newBuffered reads a file in large pieces.
func newBuffered(r io.Reader) io.Reader { return bufio.NewReaderSize(r, 1<<18) }
