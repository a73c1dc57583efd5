package gpu

import (
	"bytes"
	"strings"
)

// Kinds of devices.
const (
	OpenCL = "opencl"
	CUDA   = "cuda"
)

// Info describes a device.
type Info struct {
	// Number counts the devices of this computer from 1; settings name a device by it.
	Number int
	// Name is what its driver calls it.
	Name string
	// Kind is OpenCL or CUDA.
	Kind string
	// Vendor and Driver name the maker, and the version of the driver.
	Vendor, Driver string
	// Memory is the device's memory, and Largest the largest piece of it [bytes].
	Memory, Largest int64
	// Local is the local memory of a group of work-items [bytes].
	Local int
	// Units is the number of its processors.
	Units int
	// CPU says that the device is the computer's own cores, seen through a driver.
	CPU bool
	// Err says why the device cannot be used; nil if nothing is known against it.
	Err error

	open func() (session, error)
}

// driver finds devices. Its error says why it has none.
type driver interface {
	devices() ([]Info, error)
}

// session is a device in use. One goroutine may use it at a time.
type session interface {
	// build makes p ready to run.
	build(p program) error
	// alloc returns n bytes of the device's memory, whose contents are undefined.
	alloc(n int) (buffer, error)
	free(b buffer)
	write(b buffer, at int, data []byte) error
	read(b buffer, at int, data []byte) error
	// group is the largest group of a kernel of that program.
	group(kernel string) int
	// run starts a kernel of the program that was built last, for at least items work-items in groups of group, and
	// waits for its end. An argument is a buffer, int32, int64, uint64, float32, float64 or, the last, local.
	run(kernel string, items, group int, args ...any) error
	close()
}

// buffer is a piece of a device's memory.
type buffer uintptr

// local is so many bytes of local memory for each group, as an argument of a kernel.
type local int

// program is what a device runs.
type program struct {
	name    string        // of the program, for messages
	source  string        // OpenCL C 1.2
	ptx     func() string // the same for CUDA
	kernels []string      // its entries
	// registers bounds what CUDA gives a work-item, for more of them to be there at a time; 0: no bound.
	registers int
}

// Bounds of what drivers say of themselves and of what they compile.
const (
	maxPlatforms = 16
	maxDevices   = 64
	maxText      = 256
	maxLog       = 4096
	maxBinary    = 64 << 20
)

// text is a string of a driver: what precedes the first zero, at most maxText bytes of it, printable and without
// spaces in a row.
func text(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	b = b[:min(len(b), maxText)]
	printable := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return ' '
		}
		return r
	}, string(b))
	return strings.Join(strings.Fields(printable), " ")
}

// firstLines is the beginning of a compiler's messages.
func firstLines(log []byte) string {
	if i := bytes.IndexByte(log, 0); i >= 0 {
		log = log[:i]
	}
	lines := strings.Split(string(log[:min(len(log), maxLog)]), "\n")
	for i, line := range lines {
		lines[i] = text([]byte(line))
	}
	return strings.Join(lines[:min(len(lines), 8)], "; ")
}
