package mesh

import (
	"context"
	"errors"
	"fmt"
	"syscall/js"
)

var uint8Array = js.Global().Get("Uint8Array")

// settled is what became of a promise.
type settled struct {
	value js.Value
	err   error
}

// await waits until a promise settles or ctx ends.
func await(ctx context.Context, promise js.Value) (js.Value, error) {
	done := make(chan settled, 1)
	var kept, broken js.Func
	settle := func(err func(js.Value) error) js.Func {
		return js.FuncOf(func(_ js.Value, args []js.Value) any {
			value := js.Undefined()
			if len(args) > 0 {
				value = args[0]
			}
			done <- settled{value, err(value)}
			kept.Release()
			broken.Release()
			return nil
		})
	}
	kept, broken = settle(func(js.Value) error { return nil }), settle(reason)
	promise.Call("then", kept, broken)
	select {
	case s := <-done:
		return s.value, s.err
	case <-ctx.Done():
		return js.Undefined(), ctx.Err()
	}
}

// reason makes an error of what a promise was rejected with.
func reason(value js.Value) error {
	if value.IsUndefined() || value.IsNull() {
		return errors.New("the browser gives no reason")
	}
	return errors.New(js.Global().Get("String").Invoke(value).String())
}

// try calls into the browser; what it throws is an error.
func try(f func() js.Value) (value js.Value, err error) {
	defer func() {
		if thrown := recover(); thrown != nil {
			err = fmt.Errorf("%v", thrown)
		}
	}()
	return f(), nil
}

// ignored is called when nobody wants to know how something ended.
var ignored = js.FuncOf(func(js.Value, []js.Value) any { return nil })

// quietly begins something whose end nobody waits for.
func quietly(f func() js.Value) {
	if promise, err := try(f); err == nil && promise.Type() == js.TypeObject {
		promise.Call("catch", ignored)
	}
}

func toJS(b []byte) js.Value {
	array := uint8Array.New(len(b))
	js.CopyBytesToJS(array, b)
	return array
}

func toGo(v js.Value) []byte {
	b := make([]byte, v.Get("byteLength").Int())
	js.CopyBytesToGo(b, v)
	return b
}
