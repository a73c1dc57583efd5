package protobuf

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"
)

// kind is what a value of a field is.
type kind int

const (
	varint kind = iota
	text
	octets
	message
)

// shape is what the tags of a struct say.
type shape struct {
	fields  []field // by number, as they are written
	unknown int     // index of what was read and has no field
}

// field is one that has a number.
type field struct {
	name    string
	index   int // in the struct
	number  protowire.Number
	tag     uint64
	tagSize int
	kind    kind
	list    bool
	// present: the field says whether it is set, by not being nil. Another is set where it is not zero.
	present  bool
	required bool
	strict   bool // proto3: text has to be UTF-8
}

var shapes sync.Map // by reflect.Type

// shapeOf reads the tags of a struct once. It panics where they have what this package does not know.
func shapeOf(t reflect.Type) *shape {
	if s, ok := shapes.Load(t); ok {
		return s.(*shape)
	}
	s := &shape{unknown: -1}
	for i := range t.NumField() {
		in := t.Field(i)
		if in.Name == "unknownFields" {
			s.unknown = i
		}
		if tag, ok := in.Tag.Lookup("protobuf"); ok {
			s.fields = append(s.fields, fieldOf(t, i, in.Type, strings.Split(tag, ",")))
		}
	}
	slices.SortFunc(s.fields, func(a, b field) int { return int(a.number - b.number) })
	known, _ := shapes.LoadOrStore(t, s)
	return known.(*shape)
}

// fieldOf reads a tag: the wire type, the number, opt, req or rep, and more words.
func fieldOf(t reflect.Type, index int, of reflect.Type, words []string) field {
	number, err := strconv.Atoi(words[1])
	f := field{name: t.Field(index).Name, index: index, number: protowire.Number(number), required: words[2] == "req", strict: slices.Contains(words, "proto3")}
	f.list = words[2] == "rep"
	if f.list {
		of = of.Elem()
	}
	scalar := of
	if of.Kind() == reflect.Pointer && of.Elem().Kind() != reflect.Struct {
		scalar = of.Elem()
	}
	wire := "bytes"
	switch scalar.Kind() {
	case reflect.Bool, reflect.Int32, reflect.Int64, reflect.Uint32, reflect.Uint64:
		f.kind, wire = varint, "varint"
	case reflect.String:
		f.kind = text
	case reflect.Slice:
		f.kind = octets
	case reflect.Pointer:
		f.kind = message
	default:
		err = strconv.ErrSyntax
	}
	if err != nil || wire != words[0] || f.list && f.kind == varint || f.kind == octets && scalar.Elem().Kind() != reflect.Uint8 {
		panic(fmt.Sprintf("protobuf: %s of %s is of a kind that this package does not know", f.name, t))
	}
	f.present = of.Kind() == reflect.Pointer || f.kind == octets && (!f.strict || slices.Contains(words, "oneof"))
	f.tag = protowire.EncodeTag(f.number, f.wire())
	f.tagSize = protowire.SizeVarint(f.tag)
	return f
}

func (f *field) wire() protowire.Type {
	if f.kind == varint {
		return protowire.VarintType
	}
	return protowire.BytesType
}

// field finds one by its number; nil: the message has none.
func (s *shape) field(number protowire.Number) *field {
	for i := range s.fields {
		if s.fields[i].number == number {
			return &s.fields[i]
		}
	}
	return nil
}

// each visits the values of a field, in order: none where it is not set. A message is its pointer, all else the
// value itself.
func (f *field) each(v reflect.Value, visit func(reflect.Value) error) error {
	switch {
	case f.list:
		for i := range v.Len() {
			if err := visit(v.Index(i)); err != nil {
				return err
			}
		}
		return nil
	case f.present && v.IsNil(), !f.present && f.kind == octets && v.Len() == 0, !f.present && v.IsZero():
		return nil
	case f.present && f.kind != message && f.kind != octets:
		v = v.Elem()
	}
	return visit(v)
}

// single is where the next value of a field goes: behind its pointer, or at the end of its list.
func (f *field) single(v reflect.Value) reflect.Value {
	switch {
	case f.list:
		v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
		return v.Index(v.Len() - 1)
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return v.Elem()
	}
	return v
}

// unknownOf are the bytes of v that have no field.
func (s *shape) unknownOf(v reflect.Value) []byte {
	if s.unknown < 0 {
		return nil
	}
	return v.Field(s.unknown).Bytes()
}

// keepUnknown adds to them. The field is not exported, so its address is the way to it.
func (s *shape) keepUnknown(v reflect.Value, raw []byte) {
	if s.unknown < 0 {
		return
	}
	at := (*[]byte)(unsafe.Pointer(v.Field(s.unknown).UnsafeAddr()))
	*at = append(*at, raw...)
}

// varintOf is a number as it is written.
func varintOf(v reflect.Value) uint64 {
	switch v.Kind() {
	case reflect.Bool:
		return protowire.EncodeBool(v.Bool())
	case reflect.Int32, reflect.Int64:
		return uint64(v.Int())
	}
	return v.Uint()
}

// setVarint keeps as many bits as the value has.
func setVarint(v reflect.Value, x uint64) {
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(protowire.DecodeBool(x))
	case reflect.Int32:
		v.SetInt(int64(int32(x)))
	case reflect.Int64:
		v.SetInt(int64(x))
	case reflect.Uint32:
		v.SetUint(uint64(uint32(x)))
	default:
		v.SetUint(x)
	}
}
