//go:build (amd64 || arm64) && !nogpu

package gpu

import (
	"fmt"

	"github.com/ebitengine/purego"
)

// library is a shared library of a driver.
type library struct {
	name   string
	handle uintptr
}

// openLibrary opens the first of names that this computer has. Errors wrap ErrNoDriver.
func openLibrary(what string, names ...string) (*library, error) {
	for _, name := range names {
		if handle, err := purego.Dlopen(name, purego.RTLD_NOW|purego.RTLD_LOCAL); err == nil {
			return &library{name, handle}, nil
		}
	}
	return nil, fmt.Errorf("%w: %s needs %s, which is not on this computer; the CPU's cores compute", ErrNoDriver, what, names[0])
}

// bind makes each function of the table call the library's function of that name. Errors wrap ErrOld.
func (l *library) bind(functions map[string]any) error {
	for name, f := range functions { //lint:sorted all of them
		address, err := purego.Dlsym(l.handle, name)
		if err != nil || address == 0 {
			return fmt.Errorf("%w: %s has no %s; the CPU's cores compute", ErrOld, l.name, name)
		}
		purego.RegisterFunc(f, address)
	}
	return nil
}

// drivers are those of this computer.
func drivers() []driver { return []driver{&cudaDriver{}, &openclDriver{}} }
