package envs

// Index returns the action that an environment with n discrete actions takes for a: a without its fraction, held to
// 0 .. n-1; NaN is 0. Bit exact.
func Index(a float64, n int) int32 {
	if !(a > 0) {
		return 0
	}
	if a >= float64(n-1) {
		return int32(n - 1)
	}
	return int32(a)
}

// Real returns the value that an environment with real actions takes for a: a itself, but low for NaN, and
// ±Unbounded beyond that, so that costs of raw actions stay finite. Clipping to the box is up to the
// environment. Bit exact.
func Real(a, low float64) float64 {
	if a != a {
		return low
	}
	if a > Unbounded {
		return Unbounded
	}
	if a < -Unbounded {
		return -Unbounded
	}
	return a
}
