package mujoco

// Impedance returns how much of a constraint's violation the constraint corrects: between low, where there is none, and
// high, from the given width on. The curve has its bend at mid, with exponent 2.
func Impedance(violation, low, high, width, mid float64) float64 {
	if low == high || width <= MinVal {
		return 0.5 * (low + high)
	}
	x := violation / width
	if x < 0 {
		x = -x
	}
	if x >= 1 {
		return high
	}
	if x <= 0 {
		return low
	}
	y := 1.0
	if x <= mid {
		y = 1 / mid * float64(x*x)
	} else {
		y = 1 - float64(1/(1-mid)*float64((1-x)*(1-x)))
	}
	return low + float64(y*(high-low))
}

// Regularize returns the regularization of a constraint with the given impedance and inverse inertia.
func Regularize(impedance, inverse float64) float64 {
	r := (1 - impedance) * inverse / impedance
	if r < MinVal {
		return MinVal
	}
	return r
}
