package kernel

import (
	"os"
	"syscall"
	"testing"
	"unsafe"
)

// fenced returns n values that end where memory ends, or begin where it begins: a kernel that reads or writes outside
// of them ends the process.
func fenced(t *testing.T, n int, atEnd bool) []float32 {
	t.Helper()
	page := os.Getpagesize()
	size := (4*n + page - 1) / page * page
	memory, err := syscall.Mmap(-1, 0, size+2*page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Munmap(memory); err != nil {
			t.Error(err)
		}
	})
	for _, fence := range [][]byte{memory[:page], memory[page+size:]} {
		if err := syscall.Mprotect(fence, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	inside := memory[page : page+size]
	if atEnd {
		inside = inside[size-4*n:]
	}
	if n == 0 {
		return nil
	}
	return unsafe.Slice((*float32)(unsafe.Pointer(&inside[0])), n)
}

func TestNothingOutsideIsRead(t *testing.T) {
	const rows = 7
	for _, atEnd := range []bool{false, true} {
		for i, out := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 23, 24, 25, 33, 47, 63, 65, 100, 130} {
			for _, in := range []int{1 + i%4, 6 + i%4} {
				y, w, b, x := fenced(t, rows*out, atEnd), fenced(t, in*out, atEnd), fenced(t, out, atEnd), fenced(t, rows*in, atEnd)
				for _, k := range All() {
					k.DenseBatch(y, w, b, x, rows)
					for r := range rows {
						k.Dense(y[r*out:(r+1)*out], w, b, x[r*in:(r+1)*in])
						k.Dense(y[r*out:(r+1)*out], w, nil, x[r*in:(r+1)*in])
					}
					k.Tanh(y)
					k.Relu(y)
					k.Perturb(y[:out], b, 0.1, 1, 5)
					for offset := range 9 {
						k.Accumulate(y, 0.1, 5, offset)
						k.Normal(y, 5, offset)
					}
					k.Read(w)
				}
			}
		}
	}
}
