//go:build (amd64 || arm64) && !nogpu

package gpu

import (
	"fmt"
	"unsafe"
)

// argument returns where the value of a kernel's argument is, and its size; local memory has a size alone.
func argument(a any) (unsafe.Pointer, uintptr) {
	switch a := a.(type) {
	case buffer:
		return unsafe.Pointer(&a), unsafe.Sizeof(a)
	case local:
		return nil, uintptr(a)
	case int32:
		return unsafe.Pointer(&a), 4
	case int64:
		return unsafe.Pointer(&a), 8
	case uint64:
		return unsafe.Pointer(&a), 8
	case float32:
		return unsafe.Pointer(&a), 4
	case float64:
		return unsafe.Pointer(&a), 8
	}
	panic(fmt.Sprintf("gpu: an argument of type %T", a))
}
