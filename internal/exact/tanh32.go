package exact

// Tanh32's two branches meet at tanhSeam. Below it x + x^3 (s0 + s1 x^2 + ...), above it 1 - 2/(1 + g^4)
// where g(x) = g0 + g1 x + ... is close to e^(x/2); the coefficients of g are minimax for the error of the
// result, 2^-26, so that they are free to be coarse where the result is all but 1.
const (
	tanhS0 float32 = -0.3333329800270817
	tanhS1 float32 = 0.13331924140889598
	tanhS2 float32 = -0.05378383137129256
	tanhS3 float32 = 0.020795975056447147
	tanhS4 float32 = -0.005895161758277414

	tanhG0 float32 = 0.99998247271092
	tanhG1 float32 = 0.5001049616218158
	tanhG2 float32 = 0.1247427398903457
	tanhG3 float32 = 0.02116817587078882
	tanhG4 float32 = 0.0023528801369724992
	tanhG5 float32 = 0.00037066512730138705
	tanhG6 float32 = -5.399028755380395e-06
	tanhG7 float32 = 4.775740185683241e-06

	tanhSeam float32 = 0.6
	tanhEnd  float32 = 12 // beyond, the result stays 1 and g would overflow
)

// Tanh32 returns the hyperbolic tangent of x. Error below 3.2 ulp (found by trying every argument),
// |Tanh32(x)| <= 1, odd in every bit; over the whole line a greater argument never gives less by more than 1
// ulp. Tanh32(±0) = ±0, ±1 from |x| = 9.0503 on; NaN gives NaN.
//
// It is the definition for every faster version: both branches are computed and one is selected, the clamp
// and the sign are selects, every operation is one float32 operation in the order written, so lanes of any
// width agree bit for bit. Bit exact.
func Tanh32(x float32) float32 {
	a := x
	if x < 0 {
		a = -x
	}
	if a > tanhEnd {
		a = tanhEnd
	}
	g := tanhG6 + float32(a*tanhG7)
	g = tanhG5 + float32(a*g)
	g = tanhG4 + float32(a*g)
	g = tanhG3 + float32(a*g)
	g = tanhG2 + float32(a*g)
	g = tanhG1 + float32(a*g)
	g = tanhG0 + float32(a*g)
	g = float32(g * g)
	g = float32(g * g)
	high := 1 - 2/(1+g)
	if x < 0 {
		high = -high
	}

	z := float32(a * a)
	s := tanhS3 + float32(z*tanhS4)
	s = tanhS2 + float32(z*s)
	s = tanhS1 + float32(z*s)
	s = tanhS0 + float32(z*s)
	low := x + float32(x*float32(z*s))

	y := high
	if a < tanhSeam {
		y = low
	}
	if x == 0 {
		y = x // keeps -0
	}
	if x != x {
		y = nan32()
	}
	return y
}
