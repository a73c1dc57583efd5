package store

import (
	"context"
	"errors"
	"fmt"
	"syscall/js"
)

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
