//go:build !js

package store

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

func fmtPID() []byte { return []byte(strconv.Itoa(os.Getpid())) }

// writeLog makes a log of n generations and returns them, the file and where each begins; ends[n] is the file's end.
func writeLog(t testing.TB, rules *seedlog.Rules, path string, n int) (all []*generation, data []byte, ends []int64) {
	t.Helper()
	l, err := OpenLog(path, rules, nil)
	if err != nil {
		t.Fatal(err)
	}
	all = grow(t, rules, nil, seedlog.SoloKey(rules.Spec), n)
	ends = []int64{l.file.size}
	for _, g := range all {
		if err := l.Append(g.entry, g.seal, g.claims); err != nil {
			t.Fatal(err)
		}
		ends = append(ends, l.file.size)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if data, err = os.ReadFile(path); err != nil {
		t.Fatal(err)
	}
	return all, data, ends
}

// writeBoth writes a log and, unless synced is negative, its side file.
func writeBoth(t testing.TB, data []byte, synced int64) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.seedlog")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if synced >= 0 {
		if err := os.WriteFile(path+SyncedSuffix, []byte(formatSynced(synced)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func TestLogTornAtEveryByte(t *testing.T) {
	rules := newRules(t, 7, true)
	_, data, ends := writeLog(t, rules, filepath.Join(t.TempDir(), "a"), 2)
	synced := ends[1]
	for n := int64(0); n <= int64(len(data)); n++ {
		if n < synced-1 {
			n = min(n+16, synced-1) // what is promised is sampled, what may be cut is tried at every byte
		}
		path := writeBoth(t, data[:n], synced)
		l, err := OpenLog(path, rules, nil)
		if n < synced {
			var at *seedlog.FileError
			if !errors.Is(err, seedlog.ErrTorn) || !errors.As(err, &at) {
				t.Fatalf("cut at %d before the %d fsynced bytes: %v", n, synced, err)
			}
			if got, _ := os.ReadFile(path); !bytes.Equal(got, data[:n]) {
				t.Fatalf("cut at %d: the file was changed", n)
			}
			continue
		}
		if err != nil {
			t.Fatalf("cut at %d: %v", n, err)
		}
		height := 0
		for height < 2 && ends[height+1] <= n {
			height++
		}
		whole := ends[height] == n
		if got := l.Replayed(); got.Height != uint64(height) || got.End != ends[height] || len(l.Notes()) == 0 != whole {
			t.Fatalf("cut at %d: height %d, notes %q; want height %d", n, got.Height, l.Notes(), height)
		}
		if !whole && !strings.Contains(l.Notes()[0], "after height "+strconv.Itoa(height)) {
			t.Errorf("the note names no height: %s", l.Notes()[0])
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(path); !bytes.Equal(got, data[:ends[height]]) {
			t.Fatalf("cut at %d: the file does not end after height %d", n, height)
		}
	}
}

// A crash can also leave zeros or old bytes where the file had grown.
func TestLogGarbageTail(t *testing.T) {
	rules := newRules(t, 7, true)
	_, data, ends := writeLog(t, rules, filepath.Join(t.TempDir(), "a"), 3)
	zeros := slices.Clone(data)
	clear(zeros[ends[2]+20:])
	l, err := OpenLog(writeBoth(t, zeros, ends[1]), rules, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := l.Replayed().Height; got != 2 || len(l.Notes()) != 1 {
		t.Errorf("height %d, notes %q", got, l.Notes())
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenLog(writeBoth(t, zeros, ends[3]), rules, nil); err == nil {
		t.Errorf("damage in the fsynced part was accepted")
	}
}

func TestLogWithoutSideFile(t *testing.T) {
	rules := newRules(t, 7, true)
	_, data, ends := writeLog(t, rules, filepath.Join(t.TempDir(), "a"), 2)
	path := writeBoth(t, data[:ends[2]-1], -1)
	if _, err := OpenLog(path, rules, nil); !errors.Is(err, ErrTruncated) {
		t.Errorf("torn: got %v, want %v", err, ErrTruncated)
	}
	if got, _ := os.ReadFile(path); !bytes.Equal(got, data[:ends[2]-1]) {
		t.Errorf("the file was changed")
	}
	if _, ok, _ := Synced(path); ok {
		t.Errorf("a side file was made")
	}
	path = writeBoth(t, data, -1)
	l, err := OpenLog(path, rules, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if n, ok, err := Synced(path); n != ends[2] || !ok || err != nil {
		t.Errorf("recorded %d (%t, %v), want %d", n, ok, err, ends[2])
	}
}

// Who removes a log and trains again gets a new one; a log that is there and has lost what was fsynced is refused.
func TestLogRemoved(t *testing.T) {
	rules := newRules(t, 7, true)
	path := filepath.Join(t.TempDir(), "a")
	_, data, _ := writeLog(t, rules, path, 2)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, again, _ := writeLog(t, rules, path, 2); !bytes.Equal(again, data) {
		t.Errorf("the new log has %d bytes, the old one had %d", len(again), len(data))
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenLog(path, rules, nil); !errors.Is(err, seedlog.ErrTorn) {
		t.Errorf("a log that was emptied gives %v, want %v", err, seedlog.ErrTorn)
	}
}

func TestLogErrors(t *testing.T) {
	rules := newRules(t, 7, true)
	path := filepath.Join(t.TempDir(), "run.seedlog")
	writeLog(t, rules, path, 1)
	if _, err := OpenLog(path, newRules(t, 8, true), nil); !errors.Is(err, seedlog.ErrRun) {
		t.Errorf("another run: %v", err)
	}
	l, err := OpenLog(path, rules, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := OpenLog(path, rules, nil); !errors.Is(err, ErrLocked) {
		t.Errorf("second opener: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := l.Sync(); !errors.Is(err, ErrClosed) {
		t.Errorf("sync after close: %v", err)
	}
	random := bytes.Repeat([]byte("\x17\x99random"), 1<<17)
	if _, err := OpenLog(writeBoth(t, random, -1), rules, nil); !errors.Is(err, seedlog.ErrNotSeedlog) {
		t.Errorf("random bytes: %v", err)
	}
}
