// Package protoimpl lets generated code of Protocol Buffers compile without its descriptors.
package protoimpl

import (
	"errors"
	"strconv"
	"unsafe"

	"google.golang.org/protobuf/reflect/protoreflect"
)

// What generated code checks when it is compiled.
const (
	MinVersion = 20
	MaxVersion = 20
)

type (
	// EnforceVersion is a number that must not be negative.
	EnforceVersion uint
	// Pointer is that to a message.
	Pointer = unsafe.Pointer
	// UnknownFields are the bytes of a message that have no field.
	UnknownFields = []byte
	// SizeCache is unused.
	SizeCache = int32
	// MessageState is unused.
	MessageState struct{}
	// EnumInfo is unused.
	EnumInfo struct{}
	// MessageInfo is unused.
	MessageInfo struct{ OneofWrappers []any }
)

// LoadMessageInfo finds none.
func (*MessageState) LoadMessageInfo() *MessageInfo { return nil }

// StoreMessageInfo does nothing.
func (*MessageState) StoreMessageInfo(*MessageInfo) {}

// MessageOf finds nothing.
func (*MessageInfo) MessageOf(any) protoreflect.Message { return nil }

// Descriptor finds none.
func (*EnumInfo) Descriptor() protoreflect.EnumDescriptor { return nil }

// DescBuilder takes what generated code says of a file.
type DescBuilder struct {
	GoPackagePath                                     string
	RawDescriptor                                     []byte
	NumEnums, NumMessages, NumExtensions, NumServices int
}

// TypeBuilder takes what generated code says of a file's types.
type TypeBuilder struct {
	File              DescBuilder
	GoTypes           []any
	DependencyIndexes []int32
	EnumInfos         []EnumInfo
	MessageInfos      []MessageInfo
}

// Build makes nothing.
func (TypeBuilder) Build() (out struct{ File protoreflect.FileDescriptor }) { return out }

// X has what generated methods call.
var X exported

type exported struct{}

func (exported) MessageStateOf(Pointer) *MessageState { return nil }

// MessageStringOf says nothing of a message, which only a log would show.
func (exported) MessageStringOf(any) string { return "message" }

// EnumStringOf is a value's number: names are in descriptors.
func (exported) EnumStringOf(_ protoreflect.EnumDescriptor, n protoreflect.EnumNumber) string {
	return strconv.Itoa(int(n))
}

// UnmarshalJSONEnum knows no names.
func (exported) UnmarshalJSONEnum(protoreflect.EnumDescriptor, []byte) (protoreflect.EnumNumber, error) {
	return 0, errors.New("protobuf: this program has no names of enumerations")
}

// CompressGZIP is called for descriptors, which nothing reads.
func (exported) CompressGZIP([]byte) []byte { return nil }
