//go:build (amd64 || arm64) && !nogpu

package gpu

import (
	"errors"
	"testing"
)

// TestFit: a device that says of itself that it lacks something is refused.
func TestFit(t *testing.T) {
	const good = clDenormals | clInfNaN | clNearest | clDivide
	fit := map[uint32]uint64{clDeviceAvailable: 1, clDeviceCompiler: 1, clDeviceLittleEndian: 1, clDeviceAddressBits: 64, clDeviceDouble: good, clDeviceSingle: good}
	for name, c := range map[string]struct {
		version string
		what    uint32
		value   uint64
		want    error
	}{
		"fit":                   {"OpenCL 3.0 PoCL", 0, 0, nil},
		"OpenCL 1.1":            {"OpenCL 1.1 old", 0, 0, ErrOld},
		"no version":            {"Vulkan", 0, 0, ErrOld},
		"not there":             {"OpenCL 1.2", clDeviceAvailable, 0, ErrUnfit},
		"no compiler":           {"OpenCL 1.2", clDeviceCompiler, 0, ErrUnfit},
		"big-endian":            {"OpenCL 1.2", clDeviceLittleEndian, 0, ErrUnfit},
		"32 bits":               {"OpenCL 1.2", clDeviceAddressBits, 32, ErrUnfit},
		"no float64":            {"OpenCL 1.2", clDeviceDouble, 0, ErrUnfit},
		"no denormals, float64": {"OpenCL 1.2", clDeviceDouble, good &^ clDenormals, ErrUnfit},
		"no denormals, float32": {"OpenCL 1.2", clDeviceSingle, good &^ clDenormals, ErrUnfit},
		"coarse division":       {"OpenCL 1.2", clDeviceSingle, good &^ clDivide, ErrUnfit},
	} {
		err := openclFit(c.version, func(what uint32) uint64 {
			if what == c.what {
				return c.value
			}
			return fit[what]
		})
		if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}
