package store

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"syscall/js"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// Object stores of the browser's database. Keys that begin with a run id keep the runs apart.
const (
	dbVersion   = 3
	savedStore  = "shelf"  // what belongs to no run, under the keys below; called "shelf" since version 1 of the database
	blocksStore = "blocks" // [run, link]: a block; before version 3 all of them, since then those that are not on the chain
	wholeStore  = "whole"  // [run, height]: {bytes, tags} of a generation, as record.encode makes it; since version 3
	tagIndex    = "tags"   // of these, by tag
	chainStore  = "chain"  // [run, height]: a chainRow
	stateStore  = "state"  // run: hard state
	sumStore    = "sums"   // [run, slot]: the height, 8 bytes, little endian, and a summary; since version 2
	baseStore   = "bases"  // run: what its log begins with where older entries were dropped; since version 3
)

// Keys of what is saved in savedStore.
const (
	identityKey = "key"   // seed of the identity
	peersKey    = "peers" // addresses of peers, a JSON array
	runsKey     = "runs"  // run ids, a JSON array, the run used last first
	specKey     = "spec"  // spec of the run used last
)

var dbStores = []string{savedStore, blocksStore, wholeStore, chainStore, stateStore, sumStore, baseStore}

// Browser is what the browser keeps for this origin, in one IndexedDB database: the identity, addresses of peers
// that answered, and runs. Its methods block until the browser has answered, so they must not be called from within a
// JavaScript callback.
type Browser struct {
	db    js.Value
	key   ed25519.PrivateKey
	peers []string
	spec  []byte
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
			if names.Call("contains", store).Bool() {
				continue
			}
			created := db.Call("createObjectStore", store)
			if store == wholeStore {
				created.Call("createIndex", tagIndex, tagIndex, map[string]any{"multiEntry": true})
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

// load reads key, addresses and spec, and saves a new key if there is none.
func (b *Browser) load(ctx context.Context) error {
	t := b.begin("readonly", savedStore)
	key, err := await(ctx, t.store(savedStore).Call("get", identityKey), "onsuccess", "onerror")
	if err != nil {
		return err
	}
	peers, err := await(ctx, b.begin("readonly", savedStore).store(savedStore).Call("get", peersKey), "onsuccess", "onerror")
	if err != nil {
		return err
	}
	if peers.Type() == js.TypeString {
		var known []string
		if json.Unmarshal([]byte(peers.String()), &known) == nil {
			b.peers = boundPeers(known)
		}
	}
	spec, err := await(ctx, b.begin("readonly", savedStore).store(savedStore).Call("get", specKey), "onsuccess", "onerror")
	if err != nil {
		return err
	}
	b.spec = bytesOf(spec)
	if seed := bytesOf(key); len(seed) == ed25519.SeedSize {
		b.key = ed25519.NewKeyFromSeed(seed)
		return nil
	}
	seed := make([]byte, ed25519.SeedSize)
	if _, err := rand.Read(seed); err != nil {
		return fmt.Errorf("cannot draw an identity key: %w", err)
	}
	t = b.begin("readwrite", savedStore)
	t.store(savedStore).Call("put", uint8Array(seed), identityKey)
	b.key = ed25519.NewKeyFromSeed(seed)
	return t.commit(ctx)
}

// Key is the identity of this browser.
func (b *Browser) Key() ed25519.PrivateKey { return b.key }

// Peers returns the saved addresses, best first.
func (b *Browser) Peers() []string { return b.peers }

// Spec returns the encoded spec of the run that was used last; nil: not known.
func (b *Browser) Spec() []byte { return b.spec }

// SavePeers saves addresses, best first, in place of those before: at most MaxPeers, each once.
func (b *Browser) SavePeers(ctx context.Context, addresses []string) (err error) {
	defer catch(&err)
	kept := boundPeers(addresses)
	text, err := json.Marshal(kept)
	if err != nil {
		return err
	}
	t := b.begin("readwrite", savedStore)
	t.store(savedStore).Call("put", string(text), peersKey)
	if err := t.commit(ctx); err != nil {
		return err
	}
	b.peers = kept
	return nil
}

// Forget removes all of a run.
func (b *Browser) Forget(ctx context.Context, run seedlog.Link) (err error) {
	defer catch(&err)
	t := b.begin("readwrite", dbStores[1:]...)
	for _, name := range []string{blocksStore, wholeStore, sumStore, chainStore} {
		t.store(name).Call("delete", keysOf(run.String(), nil, nil))
	}
	t.store(stateStore).Call("delete", run.String())
	t.store(baseStore).Call("delete", run.String())
	return t.commit(ctx)
}

// Quota is how many bytes the browser lets this origin store, and how many it does; 0: it does not say, as over plain
// http.
func (b *Browser) Quota(ctx context.Context) (quota, used int64) {
	defer func() { _ = recover() }() // a browser without this has other errors than one that refuses
	storage := js.Global().Get("navigator").Get("storage")
	if !storage.Truthy() {
		return 0, 0
	}
	answer := make(chan [2]int64, 1)
	number := func(v js.Value) int64 {
		if v.Type() != js.TypeNumber {
			return 0
		}
		return int64(v.Float())
	}
	take := js.FuncOf(func(_ js.Value, args []js.Value) any {
		answer <- [2]int64{number(args[0].Get("quota")), number(args[0].Get("usage"))}
		return nil
	})
	refuse := js.FuncOf(func(js.Value, []js.Value) any { answer <- [2]int64{}; return nil })
	storage.Call("estimate").Call("then", take, refuse)
	select {
	case a := <-answer:
		take.Release()
		refuse.Release()
		return a[0], a[1]
	case <-ctx.Done(): // the answer may still come
		return 0, 0
	}
}

// Use notes that a run is used now, and its spec. If more than half of what the browser allows is taken, it removes the
// run that was used longest ago, and says so.
func (b *Browser) Use(ctx context.Context, rules *seedlog.Rules) (removed bool, err error) {
	defer catch(&err)
	run, spec := rules.Run, seedlog.Encode(rules.Spec)
	kept, err := await(ctx, b.begin("readonly", savedStore).store(savedStore).Call("get", runsKey), "onsuccess", "onerror")
	if err != nil {
		return false, err
	}
	keys, err := await(ctx, b.begin("readonly", stateStore).store(stateStore).Call("getAllKeys"), "onsuccess", "onerror")
	if err != nil {
		return false, err
	}
	var known, used []string
	for i := range keys.Length() {
		known = append(known, keys.Index(i).String())
	}
	if kept.Type() == js.TypeString && json.Unmarshal([]byte(kept.String()), &used) != nil {
		used = nil
	}
	used = usedRuns(used, known, run.String())
	text, err := json.Marshal(used)
	if err != nil {
		return false, err
	}
	t := b.begin("readwrite", savedStore)
	t.store(savedStore).Call("put", string(text), runsKey)
	t.store(savedStore).Call("put", uint8Array(spec), specKey)
	if err := t.commit(ctx); err != nil {
		return false, err
	}
	b.spec = spec
	oldest, err := seedlog.ParseLink(used[len(used)-1])
	if quota, taken := b.Quota(ctx); err != nil || taken <= quota/2 || oldest == run {
		return false, err
	}
	return true, b.Forget(ctx, oldest)
}

// Close closes the database. Runs are closed before.
func (b *Browser) Close() { b.db.Call("close") }

// OpenRun opens what the browser keeps of a run, or begins it. ErrCorrupt: what is kept is not whole; [Browser.Forget]
// it and join afresh.
func (b *Browser) OpenRun(rules *seedlog.Rules) (*BrowserRun, error) {
	return openBrowserRun(rules, indexedRows{b, rules.Run.String()})
}
