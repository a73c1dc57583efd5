//go:build js

package main

import (
	"context"
	"fmt"
	"runtime"
	"strconv"
	"syscall/js"
	"time"

	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/internal/store"
	"github.com/evoswarm/evoswarm/internal/store/testdata/invented"
)

// openNamed opens the run of a database of that name.
func openNamed(name string) (*store.BrowserRun, *seedlog.Rules, error) {
	b, err := store.OpenBrowser(context.Background(), name)
	if err != nil {
		return nil, nil, err
	}
	rules, err := newRules()
	if err != nil {
		return nil, nil, err
	}
	r, err := b.OpenRun(rules)
	return r, rules, err
}

// append64 makes the chain so long, with generations of so many claims and counters.
func append64(r *store.BrowserRun, rules *seedlog.Rules, length uint64, claims, counters int) error {
	parent, at := rules.Run, r.Length()
	if at > 0 {
		parent, _, _ = r.At(at)
	}
	for at < length {
		batch := store.Batch{State: []byte("state"), Head: &store.HeadMove{Fork: at}}
		for range min(length-at, 64) {
			at++
			g := invented.After(rules.Run, parent, at, claims, counters)
			batch.Blocks, parent = append(batch.Blocks, g.Blocks...), g.Entry
			batch.Head.Entries, batch.Head.Seals = append(batch.Head.Entries, g.Entry), append(batch.Head.Seals, g.Seal)
		}
		if err := r.Save(batch); err != nil {
			return err
		}
	}
	return nil
}

// ceiling is what the store takes in memory at most.
const ceiling = 24 << 20

// long saves more than may be in memory, and reads it back.
func long() error {
	const length, claims, counters = 1300, 4, 1000 // 30 KB each
	r, rules, err := openNamed("long")
	if err != nil {
		return err
	}
	before := heap()
	for _, to := range []uint64{length / 2, length} {
		if err := append64(r, rules, to, claims, counters); err != nil {
			return err
		}
		for _, height := range []uint64{1, to / 3, to / 2, to / 7, to} {
			if err := invented.Compare(r, rules.Run, height, claims, counters); err != nil {
				return err
			}
		}
		if took := heap() - before; took > ceiling {
			return fmt.Errorf("%d entries take %d bytes of memory, want at most %d", to, took, ceiling)
		}
	}
	if r, rules, err = openNamed("long"); err != nil {
		return err
	}
	for height := uint64(1); height <= length; height += 97 {
		if err := invented.Compare(r, rules.Run, height, claims, counters); err != nil {
			return fmt.Errorf("after it was opened again: %w", err)
		}
	}
	return nil
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// growLong and open are for the benchmark.
func growLong(text string) error {
	length, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return err
	}
	r, rules, err := openNamed("bench")
	if err != nil {
		return err
	}
	if err := append64(r, rules, length, 9, 32); err != nil {
		return err
	}
	return r.SaveSummary(length-length%256-512, make([]byte, 4096))
}

func open() (title string, err error) {
	time.Sleep(time.Second)
	js.Global().Set("longest", 0)
	before, begun := heap(), time.Now()
	r, _, err := openNamed("bench")
	if err != nil {
		return "", err
	}
	took := time.Since(begun)
	time.Sleep(time.Second)
	after := heap()
	longest := js.Global().Get("longest").Float()
	return fmt.Sprintf("ok %d %.0f %.1f %.0f", took.Milliseconds(), longest, float64(after-before)/(1<<20), usage()/float64(r.Length())), nil
}

// usage is how many bytes the browser says that this origin takes.
func usage() float64 {
	answer := make(chan float64, 1)
	take := js.FuncOf(func(_ js.Value, args []js.Value) any { answer <- args[0].Get("usage").Float(); return nil })
	js.Global().Get("navigator").Get("storage").Call("estimate").Call("then", take)
	return <-answer
}
