// Package protobuf writes and reads messages of Protocol Buffers by the tags of the structs that protoc-gen-go
// makes, without descriptors. The tab's program has it in place of google.golang.org/protobuf, which would be an
// eighth of its code.
//
// It knows what libp2p's messages have: varints, strings, bytes, messages and lists of them. Messages have the bytes
// that google.golang.org/protobuf gives them, and what that refuses is refused.
package protobuf

import (
	"errors"
	"fmt"
	"reflect"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// ErrRequired is wrapped where a field is missing that a message must have.
var ErrRequired = errors.New("protobuf: a required field is not set")

// errUTF8 is returned for a string of proto3 that is not valid UTF-8.
var errUTF8 = errors.New("protobuf: a string is not valid UTF-8")

// Size is how many bytes Append writes. m is a pointer to a message.
func Size(m any) int { return sizeOf(elem(m)) }

// Append writes a message after b. m is a pointer to it. The error says what cannot be written, and wraps
// ErrRequired for a field that is missing.
func Append(b []byte, m any) ([]byte, error) { return appendMessage(b, elem(m)) }

// Unmarshal reads a message into m, a pointer, which loses what it had. It keeps no reference to b. The error says
// what is malformed, and wraps ErrRequired for a field that is missing.
func Unmarshal(b []byte, m any) error {
	v := elem(m)
	if !v.IsValid() {
		return errors.New("protobuf: no message to read into")
	}
	v.SetZero()
	if err := readMessage(b, v); err != nil {
		return err
	}
	return checkRequired(v)
}

// Merge puts what is set in src into dst, pointers to messages of one type: lists are joined, messages merged. They
// share no memory then.
func Merge(dst, src any) {
	if v := elem(src); v.IsValid() {
		merge(elem(dst), v)
	}
}

// elem is the struct behind a pointer; invalid: the pointer is nil.
func elem(m any) reflect.Value { return reflect.ValueOf(m).Elem() }

func sizeOf(v reflect.Value) (n int) {
	if !v.IsValid() {
		return 0
	}
	s := shapeOf(v.Type())
	for i := range s.fields {
		f := &s.fields[i]
		f.each(v.Field(f.index), func(x reflect.Value) error {
			n += f.tagSize
			switch f.kind {
			case message:
				n += protowire.SizeBytes(sizeOf(x.Elem()))
			case text, octets:
				n += protowire.SizeBytes(x.Len())
			default:
				n += protowire.SizeVarint(varintOf(x))
			}
			return nil
		})
	}
	return n + len(s.unknownOf(v))
}

func appendMessage(b []byte, v reflect.Value) ([]byte, error) {
	if !v.IsValid() {
		return b, nil
	}
	s := shapeOf(v.Type())
	for i := range s.fields {
		f := &s.fields[i]
		if f.required && v.Field(f.index).IsNil() {
			return nil, fmt.Errorf("%w: %s of %s", ErrRequired, f.name, v.Type())
		}
		err := f.each(v.Field(f.index), func(x reflect.Value) (err error) {
			b = protowire.AppendVarint(b, f.tag)
			switch f.kind {
			case message:
				b = protowire.AppendVarint(b, uint64(sizeOf(x.Elem())))
				b, err = appendMessage(b, x.Elem())
			case text:
				if f.strict && !utf8.ValidString(x.String()) {
					return fmt.Errorf("%w: %s of %s", errUTF8, f.name, v.Type())
				}
				b = protowire.AppendString(b, x.String())
			case octets:
				b = protowire.AppendBytes(b, x.Bytes())
			default:
				b = protowire.AppendVarint(b, varintOf(x))
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return append(b, s.unknownOf(v)...), nil
}

// readMessage adds what b says to v.
func readMessage(b []byte, v reflect.Value) error {
	s := shapeOf(v.Type())
	for len(b) > 0 {
		number, wire, tagLen := protowire.ConsumeTag(b)
		if tagLen < 0 {
			return protowire.ParseError(tagLen)
		}
		if number > protowire.MaxValidNumber {
			return fmt.Errorf("protobuf: field number %d is above %d", number, protowire.MaxValidNumber)
		}
		f := s.field(number)
		if f == nil || f.wire() != wire {
			n := protowire.ConsumeFieldValue(number, wire, b[tagLen:])
			if n < 0 {
				return protowire.ParseError(n)
			}
			s.keepUnknown(v, append(protowire.AppendTag(nil, number, wire), b[tagLen:tagLen+n]...)) // of a tag the shortest form, as Google's does
			b = b[tagLen+n:]
			continue
		}
		n, err := f.read(b[tagLen:], v.Field(f.index))
		if err != nil {
			return err
		}
		b = b[tagLen+n:]
	}
	return nil
}

// read reads one value of the field, and returns how long it is.
func (f *field) read(b []byte, to reflect.Value) (int, error) {
	if f.kind == varint {
		x, n := protowire.ConsumeVarint(b)
		if n < 0 {
			return 0, protowire.ParseError(n)
		}
		setVarint(f.single(to), x)
		return n, nil
	}
	data, n := protowire.ConsumeBytes(b)
	if n < 0 {
		return 0, protowire.ParseError(n)
	}
	switch f.kind {
	case message:
		if !f.list {
			if to.IsNil() {
				to.Set(reflect.New(to.Type().Elem()))
			}
			return n, readMessage(data, to.Elem())
		}
		m := reflect.New(to.Type().Elem().Elem())
		to.Set(reflect.Append(to, m))
		return n, readMessage(data, m.Elem())
	case text:
		if f.strict && !utf8.Valid(data) {
			return 0, fmt.Errorf("%w: %s", errUTF8, f.name)
		}
		f.single(to).SetString(string(data))
	case octets:
		f.single(to).SetBytes(f.copied(data))
	}
	return n, nil
}

// copied is a copy of bytes that a field takes: one that can say that it is set is not nil then.
func (f *field) copied(data []byte) []byte {
	if len(data) == 0 && !f.list && !f.present {
		return nil
	}
	return append([]byte{}, data...)
}

// checkRequired looks for fields that a message, and those in it, must have.
func checkRequired(v reflect.Value) error {
	s := shapeOf(v.Type())
	for i := range s.fields {
		f := &s.fields[i]
		if f.required && v.Field(f.index).IsNil() {
			return fmt.Errorf("%w: %s of %s", ErrRequired, f.name, v.Type())
		}
		if f.kind != message {
			continue
		}
		if err := f.each(v.Field(f.index), func(x reflect.Value) error { return checkRequired(x.Elem()) }); err != nil {
			return err
		}
	}
	return nil
}

func merge(dst, src reflect.Value) {
	s := shapeOf(src.Type())
	for i := range s.fields {
		f := &s.fields[i]
		to := dst.Field(f.index)
		f.each(src.Field(f.index), func(x reflect.Value) error {
			switch f.kind {
			case message:
				if f.list || to.IsNil() {
					m := reflect.New(x.Type().Elem())
					if f.list {
						to.Set(reflect.Append(to, m))
					} else {
						to.Set(m)
					}
					merge(m.Elem(), x.Elem())
				} else {
					merge(to.Elem(), x.Elem())
				}
			case octets:
				f.single(to).SetBytes(append([]byte{}, x.Bytes()...))
			default:
				f.single(to).Set(x)
			}
			return nil
		})
	}
	if raw := s.unknownOf(src); len(raw) > 0 {
		s.keepUnknown(dst, raw)
	}
}
