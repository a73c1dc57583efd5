package gpu

import "errors"

// Errors of devices. Whatever the error, the caller computes on the cores instead.
var (
	// ErrNoDriver means that this computer has no such driver, or that this build has none for it.
	ErrNoDriver = errors.New("gpu: no driver")
	// ErrOld means that a driver lacks what is needed.
	ErrOld = errors.New("gpu: the driver is too old")
	// ErrUnfit means that a device cannot compute the bits of a run: no float64, no denormal numbers, divisions
	// that are not correctly rounded.
	ErrUnfit = errors.New("gpu: the device is not fit")
	// ErrDiffers means that a device computed other bits than Go. It is not used again.
	ErrDiffers = errors.New("gpu: the device computes other bits")
	// ErrMemory means that memory ran out, or does not suffice for one candidate.
	ErrMemory = errors.New("gpu: out of memory")
	// ErrLost means that a device stopped working: a launch failed, or its driver was reset.
	ErrLost = errors.New("gpu: the device stopped working")
	// ErrProgram means that a driver did not compile a program.
	ErrProgram = errors.New("gpu: the driver refuses a program")
	// ErrUnknown means that there is no device of that number or name.
	ErrUnknown = errors.New("gpu: unknown device")
)
