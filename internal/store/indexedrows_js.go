package store

import (
	"context"
	"encoding/binary"
	"syscall/js"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// indexedRows are the rows of one run in IndexedDB.
type indexedRows struct {
	browser *Browser
	run     string
}

// one reads a value.
func (d indexedRows) one(store string, key any) (value []byte, err error) {
	all, err := d.all(store, []any{key})
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// all reads the values of keys, in one transaction; nil where there is none.
func (d indexedRows) all(store string, keys []any) (values [][]byte, err error) {
	defer catch(&err)
	t := d.browser.begin("readonly", store)
	from := t.store(store)
	requests := make([]js.Value, len(keys))
	for i, key := range keys {
		requests[i] = from.Call("get", key)
	}
	if err := t.commit(context.Background()); err != nil {
		return nil, err
	}
	values = make([][]byte, len(keys))
	for i, request := range requests {
		values[i] = bytesOf(request.Get("result"))
	}
	return values, nil
}

func (d indexedRows) state() ([]byte, error) { return d.one(stateStore, d.run) }

func (d indexedRows) base() ([]byte, error) { return d.one(baseStore, d.run) }

func (d indexedRows) ends() (low, high, whole uint64, err error) {
	if low, err = d.end(chainStore, "next"); err == nil {
		high, err = d.end(chainStore, "prev")
	}
	if err == nil {
		whole, err = d.end(wholeStore, "next")
	}
	return low, high, whole, err
}

// end is the height of the row that comes first in a direction; 0: there is none.
func (d indexedRows) end(store, direction string) (height uint64, err error) {
	cursor, err := d.ask(store, "openKeyCursor", keysOf(d.run, nil, nil), direction)
	if err != nil || !cursor.Truthy() {
		return 0, err
	}
	return heightOf(cursor.Get("key")), nil
}

// heightOf is the second part of a key.
func heightOf(key js.Value) uint64 { return uint64(key.Index(1).Float()) }

// ask makes one request.
func (d indexedRows) ask(store, method string, args ...any) (answer js.Value, err error) {
	defer catch(&err)
	return await(context.Background(), d.browser.begin("readonly", store).store(store).Call(method, args...), "onsuccess", "onerror")
}

func (d indexedRows) chain(low, high uint64) ([][]byte, error) {
	return d.between(chainStore, low, high, func(v js.Value) js.Value { return v })
}

func (d indexedRows) generations(low, high uint64) ([][]byte, error) {
	return d.between(wholeStore, low, high, func(v js.Value) js.Value { return v.Get("bytes") })
}

// between reads the rows of some heights.
func (d indexedRows) between(store string, low, high uint64, bytes func(js.Value) js.Value) (rows [][]byte, err error) {
	all, err := d.ask(store, "getAll", keysOf(d.run, float64(low), float64(high)))
	if err != nil {
		return nil, err
	}
	defer catch(&err)
	for i := range all.Length() {
		rows = append(rows, bytesOf(bytes(all.Index(i))))
	}
	return rows, nil
}

func (d indexedRows) find(l seedlog.Link) (data []byte, heights []uint64, err error) {
	defer catch(&err)
	t := d.browser.begin("readonly", blocksStore, wholeStore)
	own := t.store(blocksStore).Call("get", []any{d.run, l.String()})
	keys := t.store(wholeStore).Call("index", tagIndex).Call("getAllKeys", rowTag(l))
	if err := t.commit(context.Background()); err != nil {
		return nil, nil, err
	}
	for i, keys := 0, keys.Get("result"); i < keys.Length(); i++ {
		if key := keys.Index(i); key.Index(0).String() == d.run {
			heights = append(heights, heightOf(key))
		}
	}
	return bytesOf(own.Get("result")), heights, nil
}

func (d indexedRows) blocks(links []seedlog.Link) ([][]byte, error) {
	keys := make([]any, len(links))
	for i, l := range links {
		keys[i] = []any{d.run, l.String()}
	}
	return d.all(blocksStore, keys)
}

func (d indexedRows) own(after seedlog.Link) (links []seedlog.Link, err error) {
	low := any("")
	if after.Defined() {
		low = after.String() + "~" // above it, and below all others
	}
	keys, err := d.ask(blocksStore, "getAllKeys", keysOf(d.run, low, nil), readsAtOnce)
	if err != nil {
		return nil, err
	}
	defer catch(&err)
	for i := range keys.Length() {
		l, err := seedlog.ParseLink(keys.Index(i).Index(1).String())
		if err != nil {
			return nil, err
		}
		links = append(links, l)
	}
	return links, nil
}

// summaries reads one summary at a time, since they may be large.
func (d indexedRows) summaries() (heights [summarySlots]uint64, err error) {
	defer catch(&err)
	keys, err := d.ask(sumStore, "getAllKeys", keysOf(d.run, nil, nil))
	if err != nil {
		return heights, err
	}
	for i := range keys.Length() {
		slot := heightOf(keys.Index(i))
		if slot >= summarySlots {
			continue
		}
		sum, err := d.summary(int(slot))
		if err != nil {
			return heights, err
		}
		if len(sum) >= 8 {
			heights[slot] = binary.LittleEndian.Uint64(sum)
		}
	}
	return heights, nil
}

func (d indexedRows) summary(slot int) ([]byte, error) {
	return d.one(sumStore, []any{d.run, float64(slot)})
}

func (d indexedRows) write(c *change) (err error) {
	defer catch(&err)
	t := d.browser.begin("readwrite", c.stores()...)
	for _, b := range c.put {
		t.store(blocksStore).Call("put", uint8Array(b.data), []any{d.run, b.link.String()})
	}
	for _, l := range c.drop {
		t.store(blocksStore).Call("delete", []any{d.run, l.String()})
	}
	if c.state != nil {
		t.store(stateStore).Call("put", uint8Array(c.state), d.run)
	}
	if c.moved {
		above := keysOf(d.run, float64(c.fork+1), nil)
		t.store(chainStore).Call("delete", above)
		t.store(wholeStore).Call("delete", above)
		for i, row := range c.chain {
			height := c.fork + 1 + uint64(i)
			key := []any{d.run, float64(height)}
			t.store(chainStore).Call("put", uint8Array(row.encode(height)), key)
			t.store(wholeStore).Call("put", c.generations[i].row(), key)
		}
	}
	if c.below > 0 {
		gone := keysOf(d.run, nil, float64(c.below))
		t.store(chainStore).Call("delete", gone)
		t.store(wholeStore).Call("delete", gone)
	}
	if c.base != nil {
		t.store(baseStore).Call("put", uint8Array(c.base), d.run)
	}
	for _, slot := range c.dropSums {
		t.store(sumStore).Call("delete", []any{d.run, float64(slot)})
	}
	if c.sum != nil {
		t.store(sumStore).Call("put", uint8Array(c.sum), []any{d.run, float64(c.slot)})
	}
	return t.commit(context.Background())
}

// stores are those that a change writes to: who reads the others need not wait.
func (c *change) stores() []string {
	switch {
	case c.base != nil:
		return []string{baseStore, sumStore}
	case c.sum != nil:
		return []string{sumStore}
	case !c.moved && c.below == 0:
		return []string{blocksStore, stateStore}
	}
	return []string{blocksStore, wholeStore, chainStore, stateStore}
}

// row is the value of a generation's row.
func (g record) row() map[string]any {
	tags := make([]any, len(g.blocks))
	for i, b := range g.blocks {
		tags[i] = rowTag(b.link)
	}
	return map[string]any{"bytes": uint8Array(g.encode()), tagIndex: tags}
}

// keysOf is the range of keys of a run whose second part is in a range; nil: without that bound. Arrays sort above all
// else.
func keysOf(run string, low, high any) js.Value {
	lower, upper := []any{run}, []any{run, []any{}}
	if low != nil {
		lower = append(lower, low)
	}
	if high != nil {
		upper[1] = high
	}
	return js.Global().Get("IDBKeyRange").Call("bound", lower, upper)
}
