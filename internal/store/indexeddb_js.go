package store

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"syscall/js"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// Object stores of the browser's database. Keys that begin with a run id keep the runs apart.
const (
	dbVersion   = 2
	savedStore  = "shelf"  // "key": the identity's seed; "peers": JSON array of addresses
	blocksStore = "blocks" // [run, link]: block
	chainStore  = "chain"  // [run, height]: the entry's and the seal's link, 72 bytes
	stateStore  = "state"  // run: hard state
	sumStore    = "sums"   // [run, slot]: the height, 8 bytes, little endian, and a summary; since version 2
)

var dbStores = []string{savedStore, blocksStore, chainStore, stateStore, sumStore}

// Browser is what the browser keeps for this origin, in one IndexedDB database: the identity, addresses of peers
// that answered, and runs. Its methods block until the browser has answered, so they must not be called from within a
// JavaScript callback.
type Browser struct {
	db    js.Value
	key   ed25519.PrivateKey
	peers []string
}

// OpenBrowser opens the database of that name, or creates it with a new identity. Errors wrap ErrReadOnly where the
// browser stores nothing, such as in some private windows, ErrFull, or ctx's.
func OpenBrowser(ctx context.Context, name string) (b *Browser, err error) {
	defer catch(&err)
	factory := js.Global().Get("indexedDB")
	if factory.IsUndefined() || factory.IsNull() {
		return nil, fmt.Errorf("%w: this browser has no IndexedDB", ErrReadOnly)
	}
	request := factory.Call("open", name, dbVersion)
	upgrade := js.FuncOf(func(js.Value, []js.Value) any {
		db := request.Get("result")
		names := db.Get("objectStoreNames")
		for _, store := range dbStores {
			if !names.Call("contains", store).Bool() {
				db.Call("createObjectStore", store)
			}
		}
		return nil
	})
	defer upgrade.Release()
	request.Set("onupgradeneeded", upgrade)
	db, err := await(ctx, request, "onsuccess", "onerror")
	if err != nil {
		return nil, fmt.Errorf("%w: opening the browser's database: %w; in a private window, open the page in a normal one", ErrReadOnly, err)
	}
	b = &Browser{db: db}
	// A newer build in another tab may need to upgrade the database: let it.
	db.Set("onversionchange", js.FuncOf(func(js.Value, []js.Value) any { db.Call("close"); return nil }))
	if err := b.load(ctx); err != nil {
		db.Call("close")
		return nil, err
	}
	return b, nil
}

// load reads key and addresses, and saves a new key if there is none.
func (b *Browser) load(ctx context.Context) error {
	t := b.begin("readonly", savedStore)
	key, err := await(ctx, t.store(savedStore).Call("get", "key"), "onsuccess", "onerror")
	if err != nil {
		return err
	}
	peers, err := await(ctx, b.begin("readonly", savedStore).store(savedStore).Call("get", "peers"), "onsuccess", "onerror")
	if err != nil {
		return err
	}
	if peers.Type() == js.TypeString {
		var known []string
		if json.Unmarshal([]byte(peers.String()), &known) == nil {
			b.peers = boundPeers(known)
		}
	}
	if seed := bytesOf(key); len(seed) == ed25519.SeedSize {
		b.key = ed25519.NewKeyFromSeed(seed)
		return nil
	}
	seed := make([]byte, ed25519.SeedSize)
	if _, err := rand.Read(seed); err != nil {
		return fmt.Errorf("cannot draw an identity key: %w", err)
	}
	t = b.begin("readwrite", savedStore)
	t.store(savedStore).Call("put", uint8Array(seed), "key")
	b.key = ed25519.NewKeyFromSeed(seed)
	return t.commit(ctx)
}

// Key is the identity of this browser.
func (b *Browser) Key() ed25519.PrivateKey { return b.key }

// Peers returns the saved addresses, best first.
func (b *Browser) Peers() []string { return b.peers }

// SavePeers saves addresses, best first, in place of those before: at most MaxPeers, each once.
func (b *Browser) SavePeers(ctx context.Context, addresses []string) (err error) {
	defer catch(&err)
	kept := boundPeers(addresses)
	text, err := json.Marshal(kept)
	if err != nil {
		return err
	}
	t := b.begin("readwrite", savedStore)
	t.store(savedStore).Call("put", string(text), "peers")
	if err := t.commit(ctx); err != nil {
		return err
	}
	b.peers = kept
	return nil
}

// Forget removes all of a run.
func (b *Browser) Forget(ctx context.Context, run seedlog.Link) (err error) {
	defer catch(&err)
	t := b.begin("readwrite", blocksStore, chainStore, stateStore, sumStore)
	t.store(blocksStore).Call("delete", below(run, nil))
	t.store(sumStore).Call("delete", below(run, nil))
	t.store(chainStore).Call("delete", below(run, nil))
	t.store(stateStore).Call("delete", run.String())
	return t.commit(ctx)
}

// Close closes the database. Runs are closed before.
func (b *Browser) Close() { b.db.Call("close") }

// BrowserRun is the Store of one run in the browser. All blocks are in memory too.
type BrowserRun struct {
	memory  *Memory
	browser *Browser
	run     seedlog.Link
	mu      sync.Mutex
	err     error
}

// OpenRun loads what the browser keeps of a run, or begins it. ErrCorrupt: what is kept is not whole; [Browser.Forget]
// it and join afresh.
func (b *Browser) OpenRun(ctx context.Context, spec *seedlog.Spec) (r *BrowserRun, err error) {
	defer catch(&err)
	r = &BrowserRun{memory: NewMemory(spec), browser: b, run: spec.Link()}
	batch, err := b.read(ctx, r.run)
	if err != nil {
		return nil, err
	}
	if err := r.memory.Save(batch); err != nil {
		return nil, fmt.Errorf("%w: what this browser keeps of run %s: %w", ErrCorrupt, r.run, err)
	}
	return r, r.readSummaries(ctx)
}

// readSummaries loads the summaries.
func (r *BrowserRun) readSummaries(ctx context.Context) error {
	rows, err := await(ctx, r.browser.begin("readonly", sumStore).store(sumStore).Call("getAll", below(r.run, nil)), "onsuccess", "onerror")
	if err != nil {
		return err
	}
	for i := range rows.Length() {
		if b := bytesOf(rows.Index(i)); len(b) >= 8 {
			if err := r.memory.SaveSummary(binary.LittleEndian.Uint64(b), b[8:]); err != nil {
				return err
			}
		}
	}
	return nil
}

// SaveSummary implements [Store].
func (r *BrowserRun) SaveSummary(height uint64, data []byte) (err error) {
	defer catch(&err)
	slot := summarySlot(height, len(data), memoryBudget)
	t := r.browser.begin("readwrite", sumStore)
	t.store(sumStore).Call("put", uint8Array(append(binary.LittleEndian.AppendUint64(nil, height), data...)), []any{r.run.String(), float64(slot)})
	if err := t.commit(context.Background()); err != nil {
		return err
	}
	return r.memory.SaveSummary(height, data)
}

// Summary implements [Store].
func (r *BrowserRun) Summary(most uint64) (height uint64, data []byte, ok bool) {
	return r.memory.Summary(most)
}

// read returns all that is kept of a run as one batch.
func (b *Browser) read(ctx context.Context, run seedlog.Link) (batch Batch, err error) {
	get := func(store, method string, key any) (js.Value, error) {
		return await(ctx, b.begin("readonly", store).store(store).Call(method, key), "onsuccess", "onerror")
	}
	blocks, err := get(blocksStore, "getAll", below(run, nil))
	if err != nil {
		return batch, err
	}
	for i := range blocks.Length() {
		batch.Blocks = append(batch.Blocks, seedlog.NewRawBlock(bytesOf(blocks.Index(i))))
	}
	state, err := get(stateStore, "get", run.String())
	if err != nil {
		return batch, err
	}
	batch.State = bytesOf(state)
	chain, err := get(chainStore, "getAll", below(run, nil))
	if err != nil {
		return batch, err
	}
	batch.Head = new(HeadMove)
	for i := range chain.Length() {
		pair := bytesOf(chain.Index(i))
		entry, err := seedlog.LinkFromBytes(pair[:min(36, len(pair))])
		if err != nil {
			return batch, fmt.Errorf("%w: %w", ErrCorrupt, err)
		}
		seal, err := seedlog.LinkFromBytes(pair[36:])
		if err != nil {
			return batch, fmt.Errorf("%w: %w", ErrCorrupt, err)
		}
		batch.Head.Entries, batch.Head.Seals = append(batch.Head.Entries, entry), append(batch.Head.Seals, seal)
	}
	return batch, nil
}

// Block implements [Store].
func (r *BrowserRun) Block(link seedlog.Link) ([]byte, bool) { return r.memory.Block(link) }

// State implements [Store].
func (r *BrowserRun) State() []byte { return r.memory.State() }

// Length implements [Store].
func (r *BrowserRun) Length() uint64 { return r.memory.Length() }

// At implements [Store].
func (r *BrowserRun) At(height uint64) (entry, seal seedlog.Link, ok bool) {
	return r.memory.At(height)
}

// Height implements [Store].
func (r *BrowserRun) Height(entry seedlog.Link) (uint64, bool) { return r.memory.Height(entry) }

// Save implements [Store]: one transaction of strict durability, and Save waits for it.
func (r *BrowserRun) Save(batch Batch) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return r.err
	}
	if err := r.check(batch); err != nil {
		return err
	}
	if r.err = r.write(batch); r.err != nil {
		return r.err
	}
	return r.memory.Save(batch)
}

// check refuses a batch before anything of it is written.
func (r *BrowserRun) check(batch Batch) error {
	if len(batch.State) > MaxState {
		return fmt.Errorf("%w: hard state of %d bytes, at most %d", ErrBatch, len(batch.State), MaxState)
	}
	fresh := map[seedlog.Link]bool{}
	for _, b := range batch.Blocks {
		fresh[b.Link()] = true
	}
	if batch.Head == nil {
		return nil
	}
	return batch.Head.check(r.memory.Length(), func(l seedlog.Link) bool {
		_, ok := r.memory.Block(l)
		return ok || fresh[l]
	})
}

func (r *BrowserRun) write(batch Batch) (err error) {
	defer catch(&err)
	t := r.browser.begin("readwrite", blocksStore, chainStore, stateStore)
	for _, b := range batch.Blocks {
		if _, known := r.memory.Block(b.Link()); !known {
			t.store(blocksStore).Call("put", uint8Array(b.Bytes()), []any{r.run.String(), b.Link().String()})
		}
	}
	if batch.State != nil {
		t.store(stateStore).Call("put", uint8Array(batch.State), r.run.String())
	}
	if m := batch.Head; m != nil {
		t.store(chainStore).Call("delete", below(r.run, float64(m.Fork+1)))
		for i, entry := range m.Entries {
			pair := append(entry.Bytes(), m.Seals[i].Bytes()...)
			t.store(chainStore).Call("put", uint8Array(pair), []any{r.run.String(), float64(m.Fork + 1 + uint64(i))})
		}
	}
	return t.commit(context.Background())
}

// Close implements [Store]. The database stays open.
func (r *BrowserRun) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.err = ErrClosed
	return r.memory.Close()
}

// below is the range of all keys of a run, from the second part first (nil: all). Arrays sort above all else.
func below(run seedlog.Link, first any) js.Value {
	lower := []any{run.String()}
	if first != nil {
		lower = append(lower, first)
	}
	return js.Global().Get("IDBKeyRange").Call("bound", lower, []any{run.String(), []any{}})
}

// transaction is a running IndexedDB transaction.
type transaction struct{ value js.Value }

// begin starts a transaction. It ends by itself once nothing is asked of it any more.
func (b *Browser) begin(mode string, stores ...string) transaction {
	names := make([]any, len(stores))
	for i, name := range stores {
		names[i] = name
	}
	return transaction{b.db.Call("transaction", names, mode, map[string]any{"durability": "strict"})}
}

func (t transaction) store(name string) js.Value { return t.value.Call("objectStore", name) }

// commit waits until everything asked is durable.
func (t transaction) commit(ctx context.Context) error {
	_, err := await(ctx, t.value, "oncomplete", "onabort")
	return err
}

// await waits for one of two events of a request or a transaction, and returns its result.
func await(ctx context.Context, target js.Value, good, bad string) (js.Value, error) {
	done := make(chan bool, 2)
	answer := func(ok bool) js.Func {
		return js.FuncOf(func(js.Value, []js.Value) any { done <- ok; return nil })
	}
	onGood, onBad := answer(true), answer(false)
	defer func() {
		target.Set(good, js.Null())
		target.Set(bad, js.Null())
		onGood.Release()
		onBad.Release()
	}()
	target.Set(good, onGood)
	target.Set(bad, onBad)
	select {
	case ok := <-done:
		if !ok {
			return js.Undefined(), explainJS(target.Get("error"))
		}
		return target.Get("result"), nil
	case <-ctx.Done():
		return js.Undefined(), ctx.Err()
	}
}

// explainJS makes an error of a DOMException.
func explainJS(e js.Value) error {
	if !e.Truthy() {
		return errors.New("the browser aborted a transaction")
	}
	name, text := e.Get("name").String(), e.Get("message").String()
	switch name {
	case "QuotaExceededError":
		return fmt.Errorf("%w: the browser stores no more for this page (%s): free disk space or clear other sites' data; nothing that was reported as done is lost", ErrFull, text)
	case "InvalidStateError":
		return fmt.Errorf("%w: the browser closed the database (%s): reload the page", ErrClosed, text)
	}
	return fmt.Errorf("the browser's database: %s: %s", name, text)
}

// catch turns an exception of JavaScript into an error.
func catch(err *error) {
	switch e := recover().(type) {
	case nil:
	case js.Error:
		*err = explainJS(e.Value)
	default:
		panic(e)
	}
}

func uint8Array(b []byte) js.Value {
	a := js.Global().Get("Uint8Array").New(len(b))
	js.CopyBytesToJS(a, b)
	return a
}

// bytesOf copies a Uint8Array; nil for anything else.
func bytesOf(v js.Value) []byte {
	if v.Type() != js.TypeObject || !v.InstanceOf(js.Global().Get("Uint8Array")) {
		return nil
	}
	b := make([]byte, v.Length())
	js.CopyBytesToGo(b, v)
	return b
}
