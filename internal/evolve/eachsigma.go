package evolve

import "fmt"

// sigmaBounds is the initial value and the range of standard deviations that adapt, one per parameter. All three are
// positive and finite.
type sigmaBounds struct{ start, floor, ceiling float32 }

// eachSigmaSettings describes sigmaBounds.
func eachSigmaSettings(start, floor float64) []Setting {
	return []Setting{
		{Name: "sigma", Doc: "initial standard deviation of the perturbation of each parameter", Default: start, Min: 1e-6, Max: 1000},
		{Name: "sigma_max", Doc: "ceiling over each adapting sigma", Default: 1000.0, Min: 1e-6, Max: 1000},
		{Name: "sigma_min", Doc: "floor under each adapting sigma", Default: floor, Min: 1e-6, Max: 1000},
	}
}

// newSigmaBounds reads eachSigmaSettings. The error wraps ErrParams.
func newSigmaBounds(method string, p Params) (sigmaBounds, error) {
	start, floor, ceiling := p.number("sigma"), p.number("sigma_min"), p.number("sigma_max")
	if floor > start || start > ceiling {
		return sigmaBounds{}, fmt.Errorf("%w: %s: sigma is %v, want a number in [sigma_min, sigma_max], which is [%v, %v]",
			ErrParams, method, start, floor, ceiling)
	}
	return sigmaBounds{float32(start), float32(floor), float32(ceiling)}, nil
}

// fill sets every sigma to the initial value.
func (b sigmaBounds) fill(sigma []float32) {
	for i := range sigma {
		sigma[i] = b.start
	}
}

// hold clamps x to the bounds; NaN becomes the floor.
func (b sigmaBounds) hold(x float32) float32 {
	switch {
	case x > b.ceiling:
		return b.ceiling
	case x >= b.floor:
		return x
	}
	return b.floor
}
