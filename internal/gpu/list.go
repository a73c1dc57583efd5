package gpu

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// found is what this computer's drivers offer, asked once.
var found = sync.OnceValues(func() ([]Info, error) { return listed(drivers()) })

// Devices returns the devices of this computer in the order of their numbers, usable or not. The error says of each
// driver that offers none why; it wraps ErrNoDriver or ErrOld, and does not affect other drivers' devices. What is
// known of a device comes from its driver: Open tests it.
func Devices() ([]Info, error) { return found() }

func listed(all []driver) (devices []Info, err error) {
	for _, d := range all {
		more, e := d.devices()
		err = errors.Join(err, e)
		for _, info := range more {
			if info.Kind == OpenCL && strings.HasPrefix(info.Driver, cudaPlatform) && has(devices, info.Name) {
				continue // the same device, which CUDA serves better
			}
			info.Number = len(devices) + 1
			devices = append(devices, info)
		}
	}
	return devices, err
}

// cudaPlatform is the OpenCL platform of devices that are there as CUDA devices, too.
const cudaPlatform = "NVIDIA CUDA"

// has reports whether a CUDA device of that name, known of no fault, is among devices.
func has(devices []Info, name string) bool {
	for _, d := range devices {
		if d.Kind == CUDA && d.Err == nil && d.Name == name {
			return true
		}
	}
	return false
}

// Choose returns the devices that a setting means: "off" none, "auto" all that are not CPUs, a number or (part of)
// a name that one. A device that cannot be used is among them only if it is named. Errors wrap ErrUnknown.
func Choose(setting string) ([]Info, error) {
	devices, err := Devices()
	return choose(setting, devices, err)
}

func choose(setting string, devices []Info, missing error) (chosen []Info, err error) {
	switch setting {
	case "off":
		return nil, nil
	case "auto":
		for _, d := range devices {
			if !d.CPU && d.Err == nil {
				chosen = append(chosen, d)
			}
		}
		return chosen, nil
	}
	number, err := strconv.Atoi(setting)
	for _, d := range devices {
		if err == nil && d.Number == number || err != nil && setting != "" && strings.Contains(strings.ToLower(d.Name), strings.ToLower(setting)) {
			return []Info{d}, nil
		}
	}
	why := fmt.Errorf("%w %q: this computer has %d", ErrUnknown, setting, len(devices))
	if len(devices) == 0 && missing != nil {
		why = fmt.Errorf("%w (%w)", why, missing)
	}
	return nil, why
}
