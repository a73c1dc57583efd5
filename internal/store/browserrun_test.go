//go:build !js

package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/internal/store/testdata/invented"
)

// testRows count requests, and fail when a test wants it.
type testRows struct {
	*memoryRows
	reads int
	fail  error // of all calls
}

func newTestRows() *testRows { return &testRows{memoryRows: newMemoryRows()} }

func (t *testRows) chain(low, high uint64) ([][]byte, error) {
	t.reads++
	rows, _ := t.memoryRows.chain(low, high)
	return rows, t.fail
}

func (t *testRows) blocks(links []seedlog.Link) ([][]byte, error) {
	t.reads++
	blocks, _ := t.memoryRows.blocks(links)
	return blocks, t.fail
}

func (t *testRows) generations(low, high uint64) ([][]byte, error) {
	t.reads++
	rows, _ := t.memoryRows.generations(low, high)
	return rows, t.fail
}

func (t *testRows) find(l seedlog.Link) ([]byte, []uint64, error) {
	t.reads++
	data, heights, _ := t.memoryRows.find(l)
	return data, heights, t.fail
}

func (t *testRows) write(c *change) error {
	if t.fail != nil {
		return t.fail
	}
	return t.memoryRows.write(c)
}

func openRows(t testing.TB, rules *seedlog.Rules, rows rows) *BrowserRun {
	t.Helper()
	r, err := openBrowserRun(rules, rows)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// growInvented appends generations until the chain has a length, some at a time.
func growInvented(t testing.TB, r *BrowserRun, length uint64, claims, counters int) {
	t.Helper()
	at := r.Length()
	parent, _, ok := r.At(at)
	if !ok {
		parent = r.rules.Run
	}
	for at < length {
		b := Batch{State: []byte("state"), Head: &HeadMove{Fork: at}}
		for range min(length-at, 16) {
			at++
			g := invented.After(r.rules.Run, parent, at, claims, counters)
			b.Blocks, parent = append(b.Blocks, g.Blocks...), g.Entry
			b.Head.Entries, b.Head.Seals = append(b.Head.Entries, g.Entry), append(b.Head.Seals, g.Seal)
		}
		if err := r.Save(b); err != nil {
			t.Fatal(err)
		}
	}
}

// What has left memory is read from the database, whatever the order, and what changed is never read from memory.
func TestBrowserRunReadsBack(t *testing.T) {
	rules := newRules(t, 1, false)
	rows := newTestRows()
	r := openRows(t, rules, rows)
	const length, claims, counters = 6000, 4, 200
	growInvented(t, r, length, claims, counters)
	if n := r.recent.Used(); n > blocksInMemory {
		t.Errorf("%d bytes of blocks in memory, want at most %d", n, blocksInMemory)
	}
	if len(r.tail) > 2*tailEntries || len(r.heights) != len(r.tail) {
		t.Errorf("%d heights and %d links of entries in memory, want at most %d", len(r.tail), len(r.heights), 2*tailEntries)
	}
	for i := range uint64(300) {
		if err := invented.Compare(r, r.rules.Run, 1+i*7919%length, claims, counters); err != nil {
			t.Fatal(err)
		}
	}
	if _, ok := r.Height(seedlog.LinkOf([]byte("unknown"))); ok {
		t.Error("an unknown entry has a height")
	}
	old, _, _ := r.At(2000)
	if _, _, ok := r.At(length + 1); ok || r.Length() != length {
		t.Error("there is an entry above the head")
	}

	// Another branch from far below: what was read before must not be given for it.
	fork := uint64(1990)
	parent, _, _ := r.At(fork)
	g := invented.After(rules.Run, parent, fork+1, 1, 1)
	if err := r.Save(Batch{Blocks: g.Blocks, Head: &HeadMove{Fork: fork, Entries: []seedlog.Link{g.Entry}, Seals: []seedlog.Link{g.Seal}}}); err != nil {
		t.Fatal(err)
	}
	if entry, _, ok := r.At(fork + 1); !ok || entry != g.Entry || r.Length() != fork+1 {
		t.Error("the chain did not move to the other branch")
	}
	if _, _, ok := r.At(2000); ok {
		t.Error("the chain has an entry of the branch that lost")
	}
	if _, ok := r.Height(old); ok {
		t.Error("an entry of the branch that lost has a height")
	}
	if _, ok := r.Block(old); !ok {
		t.Error("the branch that lost is gone")
	}
	again := openRows(t, rules, rows)
	if entry, _, ok := again.At(fork + 1); !ok || entry != g.Entry || again.Length() != fork+1 {
		t.Error("the chain is another one after a restart")
	}
}

// Who reads one generation after the other, as a restart does and who writes the log, waits for few requests.
func TestBrowserRunReadsAhead(t *testing.T) {
	rules := newRules(t, 1, false)
	rows := newTestRows()
	growInvented(t, openRows(t, rules, rows), 3000, 3, 2)
	r := openRows(t, rules, rows)
	rows.reads = 0
	var log bytes.Buffer
	if err := WriteLog(&log, rules, r); err != nil {
		t.Fatal(err)
	}
	if most := 3000 / 6; rows.reads > most {
		t.Errorf("%d requests for 3000 generations, want at most %d", rows.reads, most)
	}
}

// Opening a run reads no more of a long chain than of a short one.
func TestBrowserRunOpensByItsEnd(t *testing.T) {
	rules := newRules(t, 1, false)
	rows := newTestRows()
	reads := func(length uint64) int {
		growInvented(t, openRows(t, rules, rows), length, 2, 2)
		if err := openRows(t, rules, rows).SaveSummary(length/256*256, []byte("summary")); err != nil {
			t.Fatal(err)
		}
		rows.reads = 0
		openRows(t, rules, rows)
		return rows.reads
	}
	if few, many := reads(2000), reads(20_000); many > few+few/2 {
		t.Errorf("%d requests to open 20,000 generations, %d for 2,000", many, few)
	}
}

// The browser refuses what it cannot write, and says why; what was saved before is there.
func TestBrowserRunFails(t *testing.T) {
	rules := newRules(t, 1, false)
	rows := newTestRows()
	r := openRows(t, rules, rows)
	growInvented(t, r, 100, 2, 2)
	rows.fail = fmt.Errorf("%w: the quota is used up", ErrFull)
	g := invented.After(rules.Run, rules.Run, 1, 1, 1)
	for range 2 {
		if err := r.Save(Batch{Blocks: g.Blocks}); !errors.Is(err, ErrFull) {
			t.Fatalf("got %v, want %v", err, ErrFull)
		}
		rows.fail = nil // space alone does not make it take more: it is opened again
	}
	if _, ok := r.held(g.Entry); ok {
		t.Error("a block that was not saved is in memory")
	}
	for height := range uint64(100) {
		if err := invented.Compare(r, r.rules.Run, height+1, 2, 2); err != nil {
			t.Fatal(err)
		}
	}
	r = openRows(t, rules, rows)
	growInvented(t, r, 200, 2, 2)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}

	// A database that cannot be read has the next Save fail, so that it is opened again.
	r = openRows(t, rules, rows)
	rows.fail = errors.New("the disk broke")
	unknown := seedlog.LinkOf([]byte("unknown"))
	if _, ok := r.Block(unknown); ok || !errors.Is(r.Save(Batch{State: []byte("x")}), rows.fail) {
		t.Error("a run takes more after its database could not be read")
	}
}

// Damage to what a start reads is found at once; older damage where it is read, and nowhere else.
func TestBrowserRunDamage(t *testing.T) {
	rules := newRules(t, 1, false)
	const length = 5000
	grown := func() (*testRows, *BrowserRun) {
		rows := newTestRows()
		r := openRows(t, rules, rows)
		growInvented(t, r, length, 1, 1)
		if err := r.SaveSummary(4864, []byte("summary")); err != nil {
			t.Fatal(err)
		}
		return rows, r
	}
	entryOf := func(r *BrowserRun, height uint64) seedlog.Link { l, _, _ := r.At(height); return l }
	for name, damage := range map[string]func(*testRows, *BrowserRun){
		"a generation is missing": func(m *testRows, _ *BrowserRun) { delete(m.whole, length-3) },
		"an entry is damaged":     func(m *testRows, _ *BrowserRun) { m.whole[length-3][200] ^= 1 },
		"a claim is missing":      func(m *testRows, _ *BrowserRun) { m.whole[4900] = m.whole[4900][:len(m.whole[4900])-1] },
		"a length is damaged":     func(m *testRows, _ *BrowserRun) { m.whole[4900][0] = 0xff },
		"a row is missing":        func(m *testRows, _ *BrowserRun) { delete(m.links, 4990) },
		"a row is short":          func(m *testRows, _ *BrowserRun) { m.links[4990] = m.links[4990][:71] },
		"a row is no link":        func(m *testRows, _ *BrowserRun) { m.links[4990] = make([]byte, newChainRow) },
		"a row is another's":      func(m *testRows, _ *BrowserRun) { m.links[4990] = m.links[4991] },
		"the beginning is torn":   func(m *testRows, _ *BrowserRun) { m.beginning = []byte{1} },
		"the oldest rows are not": func(m *testRows, _ *BrowserRun) { delete(m.links, 1); m.low = 2 },
	} {
		rows, r := grown()
		damage(rows, r)
		if _, err := openBrowserRun(rules, rows); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s: got %v, want %v", name, err, ErrCorrupt)
		}
	}
	rows, r := grown()
	rows.whole[2000][200] ^= 1 // in the entry, which follows its claim
	delete(rows.links, 3000)
	r = openRows(t, rules, rows)
	if _, ok := r.Block(entryOf(r, 2000)); ok {
		t.Error("a damaged block is given")
	}
	if _, _, ok := r.At(3000); ok {
		t.Error("a missing row is given")
	}
	for _, height := range []uint64{1, 1999, 3002, length} {
		if err := invented.Compare(r, r.rules.Run, height, 1, 1); err != nil {
			t.Error(err)
		}
	}
	growInvented(t, r, length+10, 1, 1)
	if err := WriteLog(new(bytes.Buffer), rules, r); err == nil {
		t.Error("a log with a damaged entry is written without an error")
	}
}

// Readers of any place, a restart's summary among them, continue while the chain grows, changes and is tidied.
func TestBrowserRunConcurrently(t *testing.T) {
	rules := newRules(t, 1, false)
	r := openRows(t, rules, newMemoryRows())
	growInvented(t, r, 3000, 2, 2)
	ctx, cancel := context.WithCancel(t.Context())
	var readers sync.WaitGroup
	for i := range uint64(4) {
		readers.Go(func() {
			for n := i; ctx.Err() == nil; n += 131 {
				height := 1 + n%2900
				if err := invented.Compare(r, r.rules.Run, height, 2, 2); err != nil {
					t.Error(err)
					return
				}
				if err := r.SaveSummary(256*(1+n%8), []byte("summary")); err != nil {
					t.Error(err)
				}
				r.Summary(height)
				r.Excess(height)
			}
		})
	}
	parent, _, _ := r.At(2950)
	for i := range 20 {
		g := invented.After(rules.Run, parent, 2951, 1, 1+i)
		if err := r.Save(Batch{Blocks: g.Blocks, Head: &HeadMove{Fork: 2950, Entries: []seedlog.Link{g.Entry}, Seals: []seedlog.Link{g.Seal}}}); err != nil {
			t.Fatal(err)
		}
		growInvented(t, r, 3000, 2, 2)
		if err := r.Tidy(nil); err != nil {
			t.Fatal(err)
		}
	}
	cancel()
	readers.Wait()
}
