//go:build js

// A page of the store's test in a browser. ?step=first writes, ?step=second runs after a reload and finds it,
// ?step=full fills a small quota; long.go and old.go have the others. The title says how it ended.
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall/js"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/internal/store"
)

func main() {
	title, err := "ok", error(nil)
	switch search := js.Global().Get("location").Get("search").String(); search {
	case "?step=old":
		err = old()
	case "?step=long":
		err = long()
	case "?step=open":
		title, err = open()
	default:
		if length, ok := strings.CutPrefix(search, "?step=grow&length="); ok {
			err = growLong(length)
		} else {
			err = run(search)
		}
	}
	if err != nil {
		title = "failed: " + err.Error()
	}
	js.Global().Get("document").Set("title", title)
}

func run(search string) error {
	b, err := store.OpenBrowser(context.Background(), "test")
	if err != nil {
		return err
	}
	defer b.Close()
	rules, err := newRules()
	if err != nil {
		return err
	}
	r, err := b.OpenRun(rules)
	if err != nil {
		return err
	}
	all, err := grow(rules, 3)
	if err != nil {
		return err
	}
	switch strings.TrimPrefix(search, "?step=") {
	case "first":
		return first(b, r, all)
	case "second":
		return second(b, r, all)
	case "full":
		return full(r)
	case "room":
		return room(b, rules)
	}
	return errors.New("unknown step " + search)
}

type generation struct {
	blocks      []seedlog.RawBlock
	entry, seal seedlog.Link
}

func first(b *store.Browser, r *store.BrowserRun, all []generation) error {
	if r.State() != nil || len(b.Peers()) != 0 {
		return errors.New("a new database is not empty")
	}
	if err := b.SavePeers(context.Background(), []string{"x", "x", fmt.Sprintf("%x", b.Key().Public())}); err != nil {
		return err
	}
	if err := r.Save(store.Batch{Blocks: all[0].blocks, State: []byte("one"), Head: move(0, all[0])}); err != nil {
		return err
	}
	if err := r.Save(store.Batch{Blocks: slices.Concat(all[1].blocks, all[2].blocks), Head: move(1, all[1], all[2])}); err != nil {
		return err
	}
	// Goes back by one, and on again: the chain in the database is cut and extended.
	if err := r.Save(store.Batch{Head: move(1, all[1])}); err != nil {
		return err
	}
	if err := r.Save(store.Batch{State: []byte("two"), Head: move(2, all[2])}); err != nil {
		return err
	}
	if err := r.Save(store.Batch{Head: &store.HeadMove{Fork: 9}}); !errors.Is(err, store.ErrBatch) {
		return fmt.Errorf("a move above the head: %v", err)
	}
	for _, height := range []uint64{256, 512} {
		if err := r.SaveSummary(height, fmt.Appendf(nil, "summary of %d", height)); err != nil {
			return err
		}
	}
	return r.Save(store.Batch{State: []byte("three")})
}

func second(b *store.Browser, r *store.BrowserRun, all []generation) error {
	if p := b.Peers(); len(p) != 2 || p[1] != fmt.Sprintf("%x", b.Key().Public()) {
		return fmt.Errorf("other peers or another key after a reload: %q", p)
	}
	if string(r.State()) != "three" {
		return fmt.Errorf("state %q", r.State())
	}
	for _, most := range []uint64{300, 1 << 40} {
		want := map[bool]uint64{true: 256, false: 512}[most == 300]
		if height, data, ok := r.Summary(most); !ok || height != want || string(data) != fmt.Sprintf("summary of %d", want) {
			return fmt.Errorf("the summary up to height %d is %q", most, data)
		}
	}
	if r.Length() != uint64(len(all)) {
		return fmt.Errorf("chain of %d", r.Length())
	}
	for i, g := range all {
		height := uint64(i + 1)
		if entry, seal, ok := r.At(height); !ok || entry != g.entry || seal != g.seal {
			return fmt.Errorf("height %d is another", height)
		}
		if at, ok := r.Height(g.entry); !ok || at != height {
			return fmt.Errorf("the entry of height %d is at %d", height, at)
		}
		for _, want := range g.blocks {
			if got, ok := r.Block(want.Link()); !ok || !bytes.Equal(got, want.Bytes()) {
				return fmt.Errorf("a block of height %d is missing", i+1)
			}
		}
	}
	return nil
}

// full writes blocks that do not compress until the quota is used up, and checks the error.
func full(r *store.BrowserRun) error {
	sum := sha256.Sum256(nil)
	for range 64 {
		batch := store.Batch{}
		for range 16 {
			block := make([]byte, 0, seedlog.MaxBlockBytes)
			for len(block) < seedlog.MaxBlockBytes {
				sum = sha256.Sum256(sum[:])
				block = append(block, sum[:]...)
			}
			batch.Blocks = append(batch.Blocks, seedlog.NewRawBlock(block))
		}
		if err := r.Save(batch); errors.Is(err, store.ErrFull) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return errors.New("the quota never ended")
}

// room uses another run of a database that takes more than half of what the browser says that it allows.
func room(b *store.Browser, first *seedlog.Rules) error {
	spec := *first.Spec
	spec.Nonce = bytes.Repeat([]byte{1}, 16)
	rules, err := seedlog.NewRules(&spec)
	if err != nil {
		return err
	}
	if quota, used := b.Quota(context.Background()); used < 1<<20 || quota < used {
		return fmt.Errorf("%d bytes of %d are taken", used, quota)
	}
	js.Global().Get("navigator").Get("storage").Set("estimate", js.FuncOf(func(js.Value, []js.Value) any {
		return js.Global().Get("Promise").Call("resolve", map[string]any{"quota": 1000, "usage": 501})
	}))
	if removed, err := b.Use(context.Background(), first); removed || err != nil {
		return fmt.Errorf("the only run was removed: %t, %v", removed, err)
	}
	if removed, err := b.Use(context.Background(), rules); !removed || err != nil {
		return fmt.Errorf("the older run was removed: %t, %v", removed, err)
	}
	again, err := store.OpenBrowser(context.Background(), "test")
	if err != nil {
		return err
	}
	defer again.Close()
	for _, b := range []*store.Browser{b, again} {
		if !bytes.Equal(b.Spec(), seedlog.Encode(rules.Spec)) {
			return fmt.Errorf("the run used last has spec %x", b.Spec())
		}
	}
	r, err := b.OpenRun(first)
	if err != nil || r.Length() != 0 || r.State() != nil {
		return fmt.Errorf("the older run is there, %v", err)
	}
	if r, err = b.OpenRun(rules); err != nil {
		return err
	}
	return r.Save(store.Batch{State: []byte("voted")})
}

func move(fork uint64, all ...generation) *store.HeadMove {
	m := &store.HeadMove{Fork: fork}
	for _, g := range all {
		m.Entries, m.Seals = append(m.Entries, g.entry), append(m.Seals, g.seal)
	}
	return m
}

func newRules() (*seedlog.Rules, error) {
	method, err := evolve.FindRevision("dises", 1)
	if err != nil {
		return nil, err
	}
	params, err := method.Complete(nil)
	if err != nil {
		return nil, err
	}
	spec := &seedlog.Spec{
		Format: seedlog.Format1, Numerics: seedlog.Numerics,
		Env:        seedlog.EnvRef{ID: "CartPole-v1", Revision: 1},
		Policy:     policy.Spec{Kind: "linear", Hidden: []uint64{}, Head: "argmax"},
		Strategy:   seedlog.StrategyRef{Name: method.Name, Revision: method.Revision, Params: params},
		Episodes:   seedlog.Episodes{Count: 1, Shared: true},
		Generation: seedlog.Generation{Evaluations: 4, Chunk: 2, Quota: 2, WeightSteps: 1 << 20},
		Checks:     seedlog.Checks{Every: 1, Validate: 1, Test: 1},
		Nonce:      make([]byte, 16), Origin: make([]byte, 32),
	}
	return seedlog.NewRules(spec)
}

// grow makes n real generations.
func grow(rules *seedlog.Rules, n int) ([]generation, error) {
	key := seedlog.SoloKey(rules.Spec)
	pool := rollout.NewPool(rules.Plan, 1)
	parent, state := seedlog.Parent{Link: rules.Run}, rules.Initial()
	var all []generation
	for range n {
		claims, err := rules.Measure(pool, state, parent.Link, key, 2, nil)
		if err != nil {
			return nil, err
		}
		entry, next := rules.NewEntry(state, parent, 1, seedlog.PeerOf(key), claims)
		seal := seedlog.NewSeal(entry, key, nil)
		data, link := entry.Encode()
		sealData, sealLink := seal.Encode()
		g := generation{blocks: []seedlog.RawBlock{seedlog.NewRawBlock(data), seedlog.NewRawBlock(sealData)}, entry: link, seal: sealLink}
		for _, c := range claims {
			g.blocks = append(g.blocks, seedlog.NewRawBlock(seedlog.Encode(c)))
		}
		all = append(all, g)
		parent, state = seedlog.Parent{Link: link, Height: entry.Height, Term: 1}, next
	}
	return all, nil
}
