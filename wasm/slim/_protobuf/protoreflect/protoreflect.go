// Package protoreflect has the names that generated code needs, and describes nothing.
package protoreflect

type (
	// ProtoMessage is what every message implements.
	ProtoMessage interface{ ProtoReflect() Message }
	// Message would be a message's reflection.
	Message any
	// EnumNumber is a value of an enumeration.
	EnumNumber int32
	// EnumType, EnumDescriptor and FileDescriptor would be descriptions.
	EnumType       any
	EnumDescriptor any
	FileDescriptor any
)
