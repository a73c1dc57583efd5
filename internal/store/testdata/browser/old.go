//go:build js

package main

import (
	"errors"
	"fmt"
	"syscall/js"

	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/internal/store"
)

// old opens a database of version 2, in which every block had a row, and lets it grow.
func old() error {
	rules, err := newRules()
	if err != nil {
		return err
	}
	all, err := grow(rules, 6)
	if err != nil {
		return err
	}
	if err := makeOld("old", rules.Run, all[:3]); err != nil {
		return err
	}
	for range 2 {
		r, _, err := openNamed("old")
		if err != nil {
			return err
		}
		if string(r.State()) != "voted" {
			return fmt.Errorf("the state is %q", r.State())
		}
		if height, data, ok := r.Summary(300); !ok || height != 256 || string(data) != "sum" {
			return errors.New("the summary is gone")
		}
		if err := r.Save(store.Batch{Blocks: all[3].blocks, Head: move(3, all[3])}); err != nil {
			return err
		}
		for i, g := range all[:4] {
			if entry, seal, ok := r.At(uint64(i + 1)); !ok || entry != g.entry || seal != g.seal {
				return fmt.Errorf("height %d is another", i+1)
			}
			if at, ok := r.Height(g.entry); !ok || at != uint64(i+1) {
				return fmt.Errorf("the entry of height %d is at %d", i+1, at)
			}
			for _, b := range g.blocks {
				if _, ok := r.Block(b.Link()); !ok {
					return fmt.Errorf("a block of height %d is gone", i+1)
				}
			}
		}
	}
	return nil
}

// savedStore is the name, since version 1, of the store of values that belong to the browser, such as its key.
const savedStore = "shelf"

// makeOld writes such a database.
func makeOld(name string, run seedlog.Link, all []generation) error {
	id := run.String()
	rows := []any{[]any{savedStore, "key", bytesJS(make([]byte, 32))}, []any{"state", id, bytesJS([]byte("voted"))},
		[]any{"sums", []any{id, 0}, bytesJS(append([]byte{0, 1, 0, 0, 0, 0, 0, 0}, "sum"...))}}
	for i, g := range all {
		rows = append(rows, []any{"chain", []any{id, i + 1}, bytesJS(append(g.entry.Bytes(), g.seal.Bytes()...))})
		for _, b := range g.blocks {
			rows = append(rows, []any{"blocks", []any{id, b.Link().String()}, bytesJS(b.Bytes())})
		}
	}
	done := make(chan error, 1)
	settle := func(err error) js.Func {
		return js.FuncOf(func(js.Value, []js.Value) any { done <- err; return nil })
	}
	js.Global().Call("makeDatabase", name, 2, []any{savedStore, "blocks", "chain", "state", "sums"}, rows).
		Call("then", settle(nil), settle(errors.New("cannot make an old database")))
	return <-done
}

func bytesJS(b []byte) js.Value {
	a := js.Global().Get("Uint8Array").New(len(b))
	js.CopyBytesToJS(a, b)
	return a
}
