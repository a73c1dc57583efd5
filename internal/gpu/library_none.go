//go:build !linux || (!amd64 && !arm64) || nogpu

package gpu

import "fmt"

// noDriver is what builds without drivers have.
type noDriver struct{}

// devices implements driver: there are none.
func (noDriver) devices() ([]Info, error) {
	return nil, fmt.Errorf("%w: this build of the program has none for devices (Linux on amd64 and arm64 has); the CPU's cores compute", ErrNoDriver)
}

// drivers are none.
func drivers() []driver { return []driver{noDriver{}} }
