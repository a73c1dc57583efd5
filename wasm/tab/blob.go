//go:build js && wasm

package main

import (
	"errors"
	"io"
	"syscall/js"
)

// blobPiece is how much of a blob is in this program's memory. The browser may keep what it was given on disk.
const blobPiece = 1 << 20

// blob is an io.Writer that makes a Blob.
type blob struct {
	kind   string // media type
	pieces []any
	rest   []byte
}

func newBlob(kind string) *blob { return &blob{kind: kind} }

// Write never fails.
func (b *blob) Write(p []byte) (int, error) {
	if b.rest = append(b.rest, p...); len(b.rest) >= blobPiece {
		b.flush()
	}
	return len(p), nil
}

func (b *blob) flush() {
	b.pieces = append(b.pieces, js.Global().Get("Blob").New([]any{toJS(b.rest)}))
	b.rest = b.rest[:0]
}

// close returns the Blob.
func (b *blob) close() js.Value {
	if len(b.rest) > 0 {
		b.flush()
	}
	return js.Global().Get("Blob").New(b.pieces, map[string]any{"type": b.kind})
}

// blobOf returns a function that makes a Blob of what write writes.
func blobOf(kind string, write func(io.Writer) error) func() (any, error) {
	return func() (any, error) {
		b := newBlob(kind)
		if err := write(b); err != nil {
			return nil, err
		}
		return b.close(), nil
	}
}

// blobReader reads a Blob piece by piece.
type blobReader struct {
	blob js.Value
	at   int
}

// Read waits for the browser.
func (r *blobReader) Read(p []byte) (int, error) {
	end := min(r.at+len(p), r.blob.Get("size").Int())
	if end == r.at {
		return 0, io.EOF
	}
	bytes, err := await(r.blob.Call("slice", r.at, end).Call("arrayBuffer"))
	if err != nil {
		return 0, err
	}
	n := js.CopyBytesToGo(p, js.Global().Get("Uint8Array").New(bytes))
	r.at += n
	return n, nil
}

// await waits for a Promise.
func await(promise js.Value) (js.Value, error) {
	type outcome struct {
		value js.Value
		err   error
	}
	done := make(chan outcome, 1)
	resolved := js.FuncOf(func(_ js.Value, args []js.Value) any { done <- outcome{value: args[0]}; return nil })
	rejected := js.FuncOf(func(_ js.Value, args []js.Value) any {
		done <- outcome{err: errors.New(args[0].Call("toString").String())}
		return nil
	})
	defer resolved.Release()
	defer rejected.Release()
	promise.Call("then", resolved, rejected)
	got := <-done
	return got.value, got.err
}
