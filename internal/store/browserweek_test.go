//go:build !js

package store

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/internal/store/testdata/invented"
)

// fileRows have the chain and the generations of a long run in files, so that none of it is in memory but 8 bytes for
// each generation, whose place is reserved from the start.
type fileRows struct {
	*memoryRows
	links, whole *os.File
	stops        []int64 // where each generation ends
}

func newFileRows(t testing.TB, most int) *fileRows {
	t.Helper()
	f := &fileRows{memoryRows: newMemoryRows(), stops: make([]int64, 1, most+1)}
	dir := t.TempDir()
	var err error
	if f.links, err = os.Create(filepath.Join(dir, "links")); err == nil {
		f.whole, err = os.Create(filepath.Join(dir, "whole"))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.links.Close(); f.whole.Close() })
	return f
}

func (f *fileRows) ends() (low, high, whole uint64, err error) {
	high = uint64(len(f.stops) - 1)
	return min(1, high), high, min(1, high), nil
}

func (f *fileRows) chain(low, high uint64) (rows [][]byte, err error) {
	for ; low <= high && err == nil; low++ {
		row := make([]byte, newChainRow)
		_, err = f.links.ReadAt(row, int64(low-1)*newChainRow)
		rows = append(rows, row)
	}
	return rows, err
}

func (f *fileRows) generations(low, high uint64) (rows [][]byte, err error) {
	for ; low <= high && err == nil; low++ {
		row := make([]byte, f.stops[low]-f.stops[low-1])
		_, err = f.whole.ReadAt(row, f.stops[low-1])
		rows = append(rows, row)
	}
	return rows, err
}

func (f *fileRows) write(c *change) error {
	var links, whole []byte
	for i, row := range c.chain {
		links = append(links, row.encode(c.fork+uint64(i)+1)...)
		whole = append(whole, c.generations[i].encode()...)
		f.stops = append(f.stops, f.stops[c.fork]+int64(len(whole)))
	}
	_, err := f.links.WriteAt(links, int64(c.fork)*newChainRow)
	if err == nil {
		_, err = f.whole.WriteAt(whole, f.stops[c.fork])
	}
	f.hard = c.state
	return err
}

func heapBytes() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// memoryCeiling is what the store of a tab takes in memory at most, however long its run is.
const memoryCeiling = 10 << 20

// TestBrowserRunOfAWeek: a run of a week at four entries a second, the most that a run logs by default, takes no more
// memory at its end than after the first hours, and opens as fast.
func TestBrowserRunOfAWeek(t *testing.T) {
	const week = 7 * 24 * 3600 * 4
	length := uint64(week)
	if testing.Short() {
		length = week / 10
	}
	rules := newRules(t, 1, false)
	rows := newFileRows(t, int(length))
	before := heapBytes()
	r := openRows(t, rules, rows)
	var early int64
	for _, part := range []uint64{40, 8, 4, 2, 1} {
		at := r.Length()
		to := length / part
		parent, _, ok := r.At(at)
		if !ok {
			parent = rules.Run
		}
		for at < to {
			b := Batch{State: []byte("state"), Head: &HeadMove{Fork: at}}
			for range min(to-at, 128) {
				at++
				g := invented.After(rules.Run, parent, at, 1, 8)
				b.Blocks, parent = append(b.Blocks, g.Blocks...), g.Entry
				b.Head.Entries, b.Head.Seals = append(b.Head.Entries, g.Entry), append(b.Head.Seals, g.Seal)
			}
			saveAll(t, r, b)
		}
		for _, height := range []uint64{1, at / 3, at / 2, at - at/50, at} {
			if err := invented.Compare(r, r.rules.Run, height, 1, 8); err != nil {
				t.Fatal(err)
			}
		}
		took := heapBytes() - before
		t.Logf("%d entries: %.1f MB", at, float64(took)/(1<<20))
		if early == 0 && at > 30_000 {
			early = took
		}
		if took > memoryCeiling || early > 0 && took > early+early/8 {
			t.Fatalf("%d entries take %d bytes of memory, of which the first took %d", at, took, early)
		}
	}
	r = openRows(t, rules, rows)
	if took := heapBytes() - before; took > memoryCeiling {
		t.Errorf("opened, it takes %d bytes", took)
	}
	runtime.KeepAlive(r)
}

// BenchmarkTabMemory fills the stores that a tab has or had with generations as large as those of CartPole-v1 alone.
// heap-MB is what the store takes, open-entries/s how fast it opens again. Run it with -benchtime 1x.
func BenchmarkTabMemory(b *testing.B) {
	rules := newRules(b, 1, false)
	for _, length := range []int{1000, 10_000, 100_000} {
		for _, kind := range []string{"memory", "browser"} {
			b.Run(fmt.Sprint(kind, "/", length), func(b *testing.B) {
				rows := newFileRows(b, length)
				for b.Loop() {
					before := heapBytes()
					var s Store = NewMemory(rules.Spec)
					if kind == "browser" {
						s = openRows(b, rules, rows)
					}
					fillInvented(b, s, rules, uint64(length))
					b.ReportMetric(float64(heapBytes()-before)/(1<<20), "heap-MB")
					if kind == "browser" {
						begun := time.Now()
						s = openRows(b, rules, rows)
						b.ReportMetric(float64(length)/time.Since(begun).Seconds(), "open-entries/s")
					}
					runtime.KeepAlive(s)
				}
			})
		}
	}
}

func fillInvented(t testing.TB, s Store, rules *seedlog.Rules, length uint64) {
	parent := rules.Run
	for at := uint64(0); at < length; at++ {
		g := invented.After(rules.Run, parent, at+1, 9, 32)
		parent = g.Entry
		saveAll(t, s, Batch{Blocks: g.Blocks, State: []byte("state"), Head: &HeadMove{Fork: at, Entries: []seedlog.Link{g.Entry}, Seals: []seedlog.Link{g.Seal}}})
	}
}
