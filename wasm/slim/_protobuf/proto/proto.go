// Package proto is what libp2p calls of google.golang.org/protobuf/proto, by a codec without descriptors.
package proto

import (
	"github.com/evoswarm/evoswarm/wasm/slim/protobuf"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// Message is a pointer to a generated struct.
type Message = protoreflect.ProtoMessage

// Marshal returns the bytes of a message.
func Marshal(m Message) ([]byte, error) {
	return MarshalOptions{}.MarshalAppend(make([]byte, 0, protobuf.Size(m)), m)
}

// MarshalOptions has no options.
type MarshalOptions struct{}

// MarshalAppend writes a message after b.
func (MarshalOptions) MarshalAppend(b []byte, m Message) ([]byte, error) {
	return protobuf.Append(b, m)
}

// Unmarshal reads a message into m, which loses what it had.
func Unmarshal(b []byte, m Message) error { return protobuf.Unmarshal(b, m) }

// Size is the length of a message's bytes.
func Size(m Message) int { return protobuf.Size(m) }

// Merge puts what is set in src into dst, of the same type.
func Merge(dst, src Message) { protobuf.Merge(dst, src) }

// CloneOf copies a message.
func CloneOf[M interface {
	*T
	Message
}, T any](m M) M {
	if m == nil {
		return nil
	}
	to := M(new(T))
	Merge(to, m)
	return to
}

// String, Bool and the others return a pointer to a value, for optional fields.
func String(v string) *string { return &v }

// Bool is as String.
func Bool(v bool) *bool { return &v }

// Int32 is as String.
func Int32(v int32) *int32 { return &v }

// Uint64 is as String.
func Uint64(v uint64) *uint64 { return &v }
