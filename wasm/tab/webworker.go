//go:build js && wasm

package main

import (
	"errors"
	"fmt"
	"syscall/js"
)

// webWorker is a worker in a Web Worker of the browser, which runs web/src/worker.ts and wasm/worker.
type webWorker struct {
	worker    js.Value
	onMessage js.Func
	onError   js.Func
	ended     bool
}

// openWebWorkers returns an openPort whose Web Workers, each with the program of wasm/worker, are started by open
// (web/src/network.ts). onEngine learns what plays the episodes of each.
func openWebWorkers(open func(env string) js.Value, onEngine func(engine string)) openPort {
	return func(env string, setup []byte, answer func(uint64, []byte, error), died func(error)) port {
		w := &webWorker{worker: open(env)}
		end := func(reason string) {
			if !w.ended {
				w.close()
				go died(errors.New(reason))
			}
		}
		w.onMessage = js.FuncOf(func(_ js.Value, args []js.Value) any {
			w.hear(args[0].Get("data"), answer, end, onEngine)
			return nil
		})
		w.onError = js.FuncOf(func(_ js.Value, args []js.Value) any {
			end(fmt.Sprintf("the worker's script failed: %s", args[0].Get("message")))
			return nil
		})
		w.worker.Set("onmessage", w.onMessage)
		w.worker.Set("onerror", w.onError)
		w.post(map[string]any{"op": "setup", "bytes": toJS(setup)})
		return w
	}
}

// hear takes a reply. It runs in the browser's event, so it must not wait for anything.
func (w *webWorker) hear(reply js.Value, answer func(uint64, []byte, error), end, onEngine func(string)) {
	if w.ended {
		return
	}
	switch reply.Get("op").String() {
	case "result":
		id, data := uint64(reply.Get("id").Float()), toGo(reply.Get("bytes"))
		go answer(id, data, nil)
	case "failed":
		id, reason := uint64(reply.Get("id").Float()), reply.Get("error").String()
		go answer(id, nil, errors.New(reason))
	case "engine":
		onEngine(reply.Get("engine").String())
	case "crash":
		end(reply.Get("error").String())
	}
}

func (w *webWorker) state(state []byte) {
	w.post(map[string]any{"op": "state", "bytes": toJS(state)})
}

func (w *webWorker) task(id uint64, task []byte) {
	w.post(map[string]any{"op": "task", "id": float64(id), "bytes": toJS(task)})
}

func (w *webWorker) validate(id uint64, state, seeds []byte) {
	w.post(map[string]any{"op": "validate", "id": float64(id), "state": toJS(state), "seeds": toJS(seeds)})
}

func (w *webWorker) fold(id uint64, state, fold []byte) {
	w.post(map[string]any{"op": "fold", "id": float64(id), "state": toJS(state), "bytes": toJS(fold)})
}

func (w *webWorker) close() {
	if w.ended {
		return
	}
	w.ended = true
	w.worker.Call("terminate")
	// An event that is under way may still call the functions, so they are released after it.
	js.Global().Call("setTimeout", js.FuncOf(func(js.Value, []js.Value) any {
		w.onMessage.Release()
		w.onError.Release()
		return nil
	}), 0)
}

func (w *webWorker) post(order map[string]any) {
	if !w.ended {
		w.worker.Call("postMessage", order)
	}
}

// toJS copies bytes; nil becomes null.
func toJS(b []byte) js.Value {
	if b == nil {
		return js.Null()
	}
	v := js.Global().Get("Uint8Array").New(len(b))
	js.CopyBytesToJS(v, b)
	return v
}

func toGo(v js.Value) []byte {
	b := make([]byte, v.Get("byteLength").Int())
	js.CopyBytesToGo(b, v)
	return b
}
