//go:build !js

package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// ErrTruncated is returned for a log that ends within a generation and has no recorded length: it may be a copy of a
// log still being written, so it is not changed.
var ErrTruncated = errors.New("the log is truncated")

// Log is the seed log of a run on one machine, open for appending; no other process can open it meanwhile. Its methods
// are not safe for concurrent use, except Replayed.
type Log struct {
	file     *appendFile
	replayed *seedlog.Replayed
	notes    []string
}

// OpenLog opens the log at path to continue the run of rules, or creates it. It replays what is there and
// compares the digests; progress (nil: none) is called as in [seedlog.ReplayOptions]. What lies beyond the
// recorded fsynced length and is damaged was torn by a crash: it is cut, see [Log.Notes]. Damage before it is
// an error and nothing is changed. A whole file without a recorded length is taken as it is; a torn one
// gives ErrTruncated. If there is no file, the recorded length of an earlier one is removed. Other errors wrap
// seedlog.ErrRun (the log of another run), a *seedlog.FileError, ErrLocked, ErrFull or ErrReadOnly.
func OpenLog(path string, rules *seedlog.Rules, progress func(height uint64, offset int64) error) (*Log, error) {
	info, err := os.Stat(path)
	gone := errors.Is(err, fs.ErrNotExist)
	fresh := gone || err == nil && info.Size() == 0
	if gone { // the user removed the log: what was recorded of it promises nothing
		if err := os.Remove(path + SyncedSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	_, hasSide, err := Synced(path)
	if err != nil {
		return nil, err
	}
	file, err := openAppend(osFiles{}, path)
	if err != nil {
		return nil, err
	}
	l := &Log{file: file}
	if err := l.open(rules, hasSide || fresh, progress); err != nil {
		file.release()
		return nil, err
	}
	return l, nil
}

func (l *Log) open(rules *seedlog.Rules, ours bool, progress func(uint64, int64) error) error {
	f := l.file
	genesis := rules.AppendBeginning(nil)
	if f.synced == 0 && f.size < int64(len(genesis)) && ours {
		return l.create(rules, genesis)
	}
	if f.size < f.synced {
		return &seedlog.FileError{Offset: f.size, Err: fmt.Errorf("%w, but %d bytes were fsynced", seedlog.ErrTorn, f.synced)}
	}
	tail, err := l.replay(rules, progress)
	if err != nil {
		return err
	}
	if tail != nil && !ours {
		return fmt.Errorf("%w: %s: %w: there is no %s%s next to it, so it is not changed; replay it, or write to another file", ErrTruncated, f.path, tail, filepath.Base(f.path), SyncedSuffix)
	}
	if err := f.begin(); err != nil {
		return err
	}
	if tail != nil {
		l.notes = append(l.notes, fmt.Sprintf("%s: cut %d bytes that a crash had torn, after height %d: %v", f.path, f.size-l.replayed.End, l.replayed.Height, tail))
	}
	if err := f.cut(l.replayed.End); err != nil {
		return err
	}
	return f.sync()
}

// replay folds the log; tail is what is wrong with the part that was not fsynced, if anything.
func (l *Log) replay(rules *seedlog.Rules, progress func(uint64, int64) error) (tail, err error) {
	f := l.file
	at, err := seedlog.Replay(f.reader(), seedlog.ReplayOptions{HasAt: true})
	if err == nil && at.Rules.Run != rules.Run {
		return nil, fmt.Errorf("%w: %s is the log of another run, %s: use the settings of that run, or write to another file", seedlog.ErrRun, f.path, at.Rules.Run)
	}
	if err != nil {
		return nil, err
	}
	height := uint64(0)
	r, err := seedlog.Replay(f.reader(), seedlog.ReplayOptions{Synced: f.synced, Progress: func(h uint64, offset int64) error {
		height = h
		if progress == nil {
			return nil
		}
		return progress(h, offset)
	}})
	if err == nil {
		l.replayed = r
		return r.Tail, nil
	}
	var damage *seedlog.FileError
	if !errors.As(err, &damage) || damage.Height != height+1 || l.promised(damage) {
		return nil, err
	}
	// A crash can leave anything in what was not fsynced: fold again what is before it.
	l.replayed, tail = nil, err
	l.replayed, err = seedlog.Replay(f.reader(), seedlog.ReplayOptions{At: height, HasAt: true})
	return tail, err
}

// promised reports whether the damaged generation begins within the fsynced part.
func (l *Log) promised(damage *seedlog.FileError) bool { return damage.Offset < l.file.synced }

// create begins an empty log.
func (l *Log) create(rules *seedlog.Rules, genesis []byte) error {
	f := l.file
	if err := f.begin(); err != nil {
		return err
	}
	if err := f.cut(0); err != nil {
		return err
	}
	if err := f.append(genesis); err != nil {
		return err
	}
	state := rules.Initial()
	l.replayed = &seedlog.Replayed{Rules: rules, Parent: seedlog.Parent{Link: rules.Run}, State: state, Steps: rules.ObserveSteps(state), Check: seedlog.CheckDigests, End: f.size}
	return f.sync()
}

// Path is the file's name.
func (l *Log) Path() string { return l.file.path }

// Replayed is what the log held when it was opened. Read-only.
func (l *Log) Replayed() *seedlog.Replayed { return l.replayed }

// Notes says in words what was repaired when the log was opened; usually nothing.
func (l *Log) Notes() []string { return l.notes }

// Append writes one generation, which must follow the one before; its claims are in the entry's order. It is durable
// after the next Sync.
func (l *Log) Append(entry *seedlog.Entry, seal *seedlog.Seal, claims []*seedlog.Claim) error {
	return l.file.append(seedlog.AppendGeneration(nil, entry, seal, claims))
}

// Sync makes everything appended durable and records its length in the file next to it.
func (l *Log) Sync() error { return l.file.sync() }

// Close makes everything durable and lets others open the log.
func (l *Log) Close() error { return l.file.close() }
