//go:build !js

package store

import (
	"bytes"
	"errors"
	"testing"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// cutBrowser drops what lies below a height, and tidies until nothing is left to do.
func cutBrowser(r *BrowserRun, c Cut, need ...seedlog.Link) error {
	err := r.Prepare(c)
	if err == nil {
		err = r.Cut(need)
	}
	for err == nil && r.Untidy() {
		err = r.Tidy(need)
	}
	return err
}

func saveAll(t testing.TB, s Store, batches ...Batch) {
	t.Helper()
	for _, b := range batches {
		if err := s.Save(b); err != nil {
			t.Fatal(err)
		}
	}
}

// A run in the browser that dropped the older part of its chain has the rest, also after a restart, gives a log that
// can be folded, grows, and drops more later.
func TestBrowserCut(t *testing.T) {
	rules := staleRules(t)
	rows := newTestRows()
	r := openRows(t, rules, rows)
	chain := grow(t, rules, nil, newKey("a"), 40)
	for i, g := range chain[:20] {
		saveAll(t, r, move(uint64(i), "state", g))
	}
	saveAll(t, r, move(16, "state", grow(t, rules, chain[15], newKey("c"), 5)...), move(16, "state", chain[16:20]...))
	for _, height := range []uint64{4, 8, 12, 16} {
		if err := r.SaveSummary(height, []byte{byte(height)}); err != nil {
			t.Fatal(err)
		}
	}
	claim, gone := seedlog.Encode(chain[2].claims[0]), seedlog.Encode(chain[3].claims[0])
	if err := cutBrowser(r, cutAt(t, chain, 12), seedlog.LinkOf(claim)); err != nil {
		t.Fatal(err)
	}
	check := func(first, length int) {
		t.Helper()
		if err := storeHoldsFrom(r, rules, first, chain[:length]); err != nil {
			t.Fatal(err)
		}
		again := openRows(t, rules, rows)
		if err := storeHoldsFrom(again, rules, first, chain[:length]); err != nil {
			t.Fatal("after a restart:", err)
		}
		if got, ok := again.Block(seedlog.LinkOf(claim)); !ok || !bytes.Equal(got, claim) {
			t.Error("a block that is needed went")
		}
		if _, ok := again.Block(seedlog.LinkOf(gone)); ok {
			t.Error("a block that nobody needs stays")
		}
	}
	check(10, 20)
	if n := len(rows.links); n != 11 || len(rows.whole) != 11 {
		t.Errorf("%d rows of the chain and %d of generations are left, want 11", n, len(rows.whole))
	}
	if n := len(rows.kept); n != 1 {
		t.Errorf("%d other blocks are left, want the one that is needed", n)
	}
	want := cutAt(t, chain, 12).Data
	for most, height := range map[uint64]uint64{11: 0, 12: 12, 15: 12, 20: 16} {
		h, data, ok := openRows(t, rules, rows).Summary(most)
		if h != height || ok != (height > 0) || height == 12 && !bytes.Equal(data, want) {
			t.Errorf("the summary up to %d is that of %d, want %d", most, h, height)
		}
	}
	if err := r.Save(move(11, "state", chain[11])); !errors.Is(err, ErrBatch) {
		t.Errorf("a branch from below the base is taken: %v", err)
	}
	saveAll(t, r, move(18, "state", grow(t, rules, chain[17], newKey("d"), 3)...), move(18, "state", chain[18:30]...))
	check(10, 30)

	// Another branch wins between the two halves of a cut.
	if err := r.Prepare(cutAt(t, chain, 20)); err != nil {
		t.Fatal(err)
	}
	saveAll(t, r, move(18, "state", grow(t, rules, chain[17], newKey("e"), 3)...))
	if err := r.Cut(nil); !errors.Is(err, ErrCut) {
		t.Errorf("cut where another branch won: %v", err)
	}
	saveAll(t, r, move(18, "state", chain[18:30]...))
	check(10, 30)
	if err := cutBrowser(r, cutAt(t, chain, 16), seedlog.LinkOf(claim)); err != nil {
		t.Fatal(err)
	}
	saveAll(t, r, move(30, "state", chain[30:]...))
	check(14, 40)
	if err := cutBrowser(r, cutAt(t, chain, 16)); !errors.Is(err, ErrCut) {
		t.Errorf("it is cut where it begins: %v", err)
	}
}

// Whenever a tab ends while its chain is cut, the run opens with all that it had, whole or cut, and continues.
func TestBrowserCutEnds(t *testing.T) {
	rules := staleRules(t)
	chain := grow(t, rules, nil, newKey("a"), 44)
	cuts := 0
	for ends := 0; ; ends++ {
		rows := &endingRows{testRows: newTestRows(), left: 1 << 20}
		r := openRows(t, rules, rows)
		saveAll(t, r, move(0, "state", chain[:40]...))
		rows.left = ends
		err := cutBrowser(r, cutAt(t, chain, 38))
		rows.left = 1 << 20
		again := openRows(t, rules, rows)
		first := 1
		if again.First() > 1 {
			first = 36
			cuts++
		}
		if err := storeHoldsFrom(again, rules, first, chain[:40]); err != nil {
			t.Fatalf("%d writes: %v", ends, err)
		}
		for again.Untidy() {
			if err := again.Tidy(nil); err != nil {
				t.Fatal(err)
			}
		}
		saveAll(t, again, move(40, "state", chain[40:]...))
		if err := storeHoldsFrom(again, rules, first, chain); err != nil {
			t.Fatalf("%d writes: %v", ends, err)
		}
		if n := len(rows.whole); n != 45-first {
			t.Fatalf("%d writes: %d generations are left, want %d", ends, n, 45-first)
		}
		if err == nil {
			break
		}
	}
	if cuts < 3 {
		t.Errorf("it ended %d times while blocks were removed", cuts)
	}
}

// endingRows take so many writes more.
type endingRows struct {
	*testRows
	left int
}

func (e *endingRows) write(c *change) error {
	if e.left--; e.left < 0 {
		return errors.New("the tab was closed")
	}
	return e.testRows.write(c)
}

// A run that may take so much takes no more, whatever it is given.
func TestBrowserBound(t *testing.T) {
	rules := staleRules(t)
	was := leastExponent
	leastExponent = 3
	defer func() { leastExponent = was }()
	rows := newTestRows()
	r := openRows(t, rules, rows)
	r.Bound(1)
	if least := LeastBound(rules); r.most != least-least/browserChain {
		t.Errorf("a chain may take %d bytes of %d", r.most, least)
	}
	r.most = 96 << 10
	chain := grow(t, rules, nil, newKey("a"), 400)
	cuts, peak := 0, 0
	for i, g := range chain {
		height := i + 1
		saveAll(t, r, move(uint64(i), "state", g))
		if height%8 == 0 {
			if err := r.SaveSummary(uint64(height), cutAt(t, chain, height).Data); err != nil {
				t.Fatal(err)
			}
		}
		if at, ok := r.Excess(uint64(max(height-8, 0))); ok {
			if err := r.Prepare(cutAt(t, chain, int(at))); err != nil {
				t.Fatal(err)
			}
			if err := r.Cut(nil); err != nil {
				t.Fatal(err)
			}
			cuts++
		}
		if r.Untidy() {
			if err := r.Tidy(nil); err != nil {
				t.Fatal(err)
			}
		}
		size := 0
		for _, row := range rows.whole {
			size += len(row)
		}
		peak = max(peak, size)
	}
	if int64(peak) > r.most || cuts < 2 || cuts > 40 {
		t.Errorf("it took %d bytes of %d at most, and was cut %d times", peak, r.most, cuts)
	}
	t.Logf("%d cuts, at most %d bytes", cuts, peak)
	if err := storeHoldsFrom(r, rules, int(r.First()), chain); err != nil {
		t.Error(err)
	}
	if err := storeHoldsFrom(openRows(t, rules, rows), rules, int(r.First()), chain); err != nil {
		t.Error(err)
	}
}

// Of what is not on the chain only that stays which is needed.
func TestBrowserTidy(t *testing.T) {
	rules := newRules(t, 1, false)
	rows := newTestRows()
	r := openRows(t, rules, rows)
	chain := grow(t, rules, nil, newKey("a"), 6)
	other := grow(t, rules, chain[1], newKey("b"), 3)
	saveAll(t, r, move(0, "one", chain...), move(2, "two", other...), move(2, "three", chain[2:]...))
	holds(t, r, "three", chain, other...)
	need := other[0].link
	for n := 0; r.Untidy(); n++ {
		if err := r.Tidy([]seedlog.Link{need}); err != nil || n > 10 {
			t.Fatal(n, err)
		}
	}
	for _, s := range []Store{r, openRows(t, rules, rows)} {
		holds(t, s, "three", chain)
		if _, ok := s.Block(need); !ok {
			t.Error("a block that is needed went")
		}
		if _, ok := s.Block(other[1].link); ok {
			t.Error("a block that nobody needs stays")
		}
	}
	for i := range looseMost/len(other[1].blocks()) + 1 {
		if err := r.Save(Batch{Blocks: raw(other[1].blocks()...)}); err != nil {
			t.Fatal(err)
		}
		if i < 8 && r.Untidy() {
			t.Fatal("a few blocks make it untidy")
		}
	}
	if !r.Untidy() {
		t.Error("many blocks do not make it untidy")
	}
}

// oldRows turns rows into those of a database of before version 3: each block has a row.
func oldRows(rows *testRows) {
	for height, row := range rows.whole {
		for _, b := range decodeGeneration(row) {
			rows.kept[b.link] = b.data
		}
		rows.links[height] = rows.links[height][:oldChainRow]
		delete(rows.whole, height)
	}
	clear(rows.places)
}

// A run of a database of an earlier version opens with all that it had, grows, changes to other branches and is cut.
func TestBrowserOldDatabase(t *testing.T) {
	rules := staleRules(t)
	chain := grow(t, rules, nil, newKey("a"), 40)
	rows := newTestRows()
	saveAll(t, openRows(t, rules, rows), move(0, "one", chain[:20]...))
	oldRows(rows)
	r := openRows(t, rules, rows)
	holds(t, r, "one", chain[:20])
	saveAll(t, r, move(20, "two", chain[20:24]...))
	other := grow(t, rules, chain[17], newKey("b"), 3)
	saveAll(t, r, move(18, "three", other...))
	holds(t, r, "three", append(append([]*generation{}, chain[:18]...), other...), chain[18:24]...)
	saveAll(t, r, move(18, "four", chain[18:30]...))
	for r.Untidy() { // blocks of the chain have rows of their own: these are not removed
		if err := r.Tidy(nil); err != nil {
			t.Fatal(err)
		}
	}
	r = openRows(t, rules, rows)
	holds(t, r, "four", chain[:30])
	if size, err := r.endOf(20); err != nil || size < 20*200 {
		t.Errorf("20 generations are taken for %d bytes, %v", size, err)
	}
	if err := cutBrowser(r, cutAt(t, chain, 28)); err != nil {
		t.Fatal(err)
	}
	if n := len(rows.links); n != 5 {
		t.Errorf("%d rows of the chain are left", n)
	}
	if _, ok := rows.kept[chain[3].link]; ok {
		t.Error("an entry that was dropped is left")
	}
	r = openRows(t, rules, rows)
	saveAll(t, r, move(30, "five", chain[30:]...))
	for r.Untidy() {
		if err := r.Tidy(nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := storeHoldsFrom(openRows(t, rules, rows), rules, 26, chain); err != nil {
		t.Error(err)
	}
	if n := len(rows.kept); n > 0 {
		t.Errorf("%d blocks have rows of their own", n)
	}
}

// Without a database a run lasts as long as the page, and takes no more than it may.
func TestUnsaved(t *testing.T) {
	rules := staleRules(t)
	r, err := NewUnsaved(rules)
	if err != nil {
		t.Fatal(err)
	}
	chain := grow(t, rules, nil, newKey("a"), 20)
	saveAll(t, r, move(0, "state", chain...))
	if err := cutBrowser(r, cutAt(t, chain, 12)); err != nil {
		t.Fatal(err)
	}
	if err := storeHoldsFrom(r, rules, 10, chain); err != nil {
		t.Error(err)
	}
	if n := len(r.rows.(*memoryRows).whole); n != 11 {
		t.Errorf("%d generations are left, want 11", n)
	}
}
