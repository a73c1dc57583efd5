//go:build js && wasm

// Command tab is a volunteer's browser tab: libp2p, the coordinator and the store in one program that computes
// nothing. Web Workers do that, each with the program of wasm/worker.
//
// It runs in a worker of its own (web/src/network.ts), away from the page's thread, and sets one global object there,
// evoswarm, which web/src/types/tab.d.ts declares.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"strconv"
	"syscall/js"
	"time"

	_ "github.com/evoswarm/evoswarm/envs/all"
	"github.com/evoswarm/evoswarm/internal/kernel"
	"github.com/evoswarm/evoswarm/internal/mesh"
)

// gcPercent is how much the heap grows before it is collected. A page is open for hours, and gives no memory back:
// half of Go's default costs a hundredth of the thread.
const gcPercent = 50

func main() {
	if name, err := kernel.UseFastest(); err != nil { // for the folds of entries; workers choose for themselves
		fmt.Printf("tab: this browser's vector instructions do not compute as they should (%v); going on with kernel %s\n", err, name)
	}
	debug.SetGCPercent(gcPercent)
	js.Global().Set("evoswarm", map[string]any{"start": js.FuncOf(start), "check": js.FuncOf(check)})
	select {}
}

// start begins and returns an object of methods; it is called once.
func start(_ js.Value, args []js.Value) any {
	cfg := args[0]
	t := newTab(config{
		addresses: texts(cfg.Get("addresses")),
		peers:     texts(cfg.Get("peers")),
		run:       cfg.Get("run").String(),
		workers:   cfg.Get("workers").Int(),
		paused:    cfg.Get("paused").Bool(),
		open:      openWebWorkers(func(env string) js.Value { return cfg.Call("openWorker", env) }, func(engine string) { cfg.Call("onEngine", engine) }),
		onPhase:   func(p phase) { cfg.Call("onPhase", string(p)) },
		onWays:    func(ways []mesh.WayState) { cfg.Call("onWays", toObject(ways)) },
		onStatus:  func(status any) { cfg.Call("onStatus", toObject(status)) },
		onError: func(p trouble) {
			cfg.Call("onError", map[string]any{"kind": p.kind, "why": p.why, "fatal": p.fatal})
		},
	})
	go t.run()
	return methods(t)
}

// methods is the object that the page holds.
func methods(t *tab) map[string]any {
	return map[string]any{
		"pause":      method(func(args []js.Value) any { t.pause(args[0].Bool()); return nil }),
		"setWorkers": method(func(args []js.Value) any { t.setWorkers(args[0].Int()); return nil }),
		"redial":     method(func(args []js.Value) any { t.redial(texts(args[0])); return nil }),
		"kernel":     method(func([]js.Value) any { return kernel.Active() }),
		"curve":      method(func([]js.Value) any { return toObject(t.curve()) }),
		"history": method(func(args []js.Value) any {
			after := uint64(args[0].Float())
			return promise(func() (any, error) { return toObject(t.history(after)), nil })
		}),
		"policy": method(func([]js.Value) any { return policyBytes(t) }),
		"recent": method(func(args []js.Value) any {
			after := uint64(args[0].Float())
			return promise(func() (any, error) { return toObject(t.recent(after)), nil })
		}),
		"candidate": method(func(args []js.Value) any {
			id := args[0].String()
			return promise(func() (any, error) { return candidateBytes(t, id) })
		}),
		"neighbors":   method(func([]js.Value) any { return toObject(t.neighbors()) }),
		"log":         method(func([]js.Value) any { return promise(blobOf("application/vnd.ipld.car", t.log)) }),
		"certificate": method(func([]js.Value) any { return promise(blobOf("application/json", t.certificate)) }),
		"policyFile":  method(func([]js.Value) any { return promise(blobOf("application/octet-stream", t.policyFile)) }),
		"stop": method(func([]js.Value) any {
			return promise(func() (any, error) { return nil, t.stop() })
		}),
	}
}

func method(f func(args []js.Value) any) js.Func {
	return js.FuncOf(func(_ js.Value, args []js.Value) any { return f(args) })
}

// policyBytes is what a drawing worker needs; nil until there is a run.
func policyBytes(t *tab) any {
	setup, state, height := t.policy()
	if state == nil {
		return nil
	}
	return map[string]any{"setup": toJS(setup), "state": toJS(state), "height": float64(height)}
}

// candidateBytes is what a drawing worker needs to play one of this tab's candidates.
func candidateBytes(t *tab, id string) (any, error) {
	setup, state, m, err := t.candidate(id)
	if err != nil {
		return nil, err
	}
	return map[string]any{"setup": toJS(setup), "state": toJS(state), "height": float64(m.Height),
		"seed": strconv.FormatUint(m.candidate.seed, 10), "sign": m.candidate.sign}, nil
}

// check begins to check a log and returns a Promise of what it found: args are a Blob, the height and the link
// that the page shows as the head, and a function that is told where it is. It computes without a pause, so it
// runs in a worker that does nothing else.
func check(_ js.Value, args []js.Value) any {
	log, height, head, tell := &blobReader{blob: args[0]}, uint64(args[1].Float()), args[2].String(), args[3]
	size, told := args[0].Get("size").Float(), time.Time{}
	return promise(func() (any, error) {
		found, err := checkLog(bufio.NewReaderSize(log, blobPiece), height, head, func(height uint64, offset int64) {
			if now := time.Now(); now.Sub(told) > checkPeriod {
				told = now
				tell.Invoke(float64(height), float64(offset)/size)
			}
		})
		if err != nil {
			return nil, err
		}
		return toObject(found), nil
	})
}

// checkPeriod is how often the page learns how far a check is.
const checkPeriod = 100 * time.Millisecond

// promise runs f on a goroutine and returns a Promise of its value.
func promise(f func() (any, error)) js.Value {
	var executor js.Func
	executor = js.FuncOf(func(_ js.Value, args []js.Value) any {
		resolve, reject := args[0], args[1]
		go func() {
			defer executor.Release()
			value, err := f()
			if err != nil {
				reject.Invoke(js.Global().Get("Error").New(err.Error()))
				return
			}
			resolve.Invoke(value)
		}()
		return nil
	})
	return js.Global().Get("Promise").New(executor)
}

// toObject makes a JavaScript value of v's JSON form.
func toObject(v any) js.Value {
	data, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("tab: %T has no JSON form: %v", v, err))
	}
	return js.Global().Get("JSON").Call("parse", string(data))
}

// texts reads an array of strings.
func texts(v js.Value) []string {
	out := make([]string, v.Length())
	for i := range out {
		out[i] = v.Index(i).String()
	}
	return out
}
