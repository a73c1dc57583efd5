package mujoco

import (
	"math"
	"math/rand/v2"
	"testing"
)

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-12) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

func nearVector(t *testing.T, what string, got, want [3]float64) {
	t.Helper()
	for i := range got {
		if !(math.Abs(got[i]-want[i]) <= 1e-12) {
			t.Errorf("%s: %v, want %v", what, got, want)
			return
		}
	}
}

// TestSpheres places spheres of radius 1 and 2.
func TestSpheres(t *testing.T) {
	z := [3]float64{0, 0, 1}
	for _, c := range []struct {
		what        string
		pos         [3]float64
		margin      float64
		n           int32
		dist        float64
		at, towards [3]float64
	}{
		{"apart", [3]float64{3.5, 0, 0}, 0, 0, 0, [3]float64{}, [3]float64{}},
		{"apart, within the margin", [3]float64{3.5, 0, 0}, 0.5, 1, 0.5, [3]float64{1.25, 0, 0}, [3]float64{1, 0, 0}},
		{"touching", [3]float64{0, -3, 0}, 0, 1, 0, [3]float64{0, -1, 0}, [3]float64{0, -1, 0}},
		{"overlapping", [3]float64{0, 0, 2}, 0, 1, -1, [3]float64{0, 0, 0.5}, [3]float64{0, 0, 1}},
		{"one place, parallel axes", [3]float64{}, 0, 1, -3, [3]float64{-0.5, 0, 0}, [3]float64{1, 0, 0}},
	} {
		var touch Touch
		Spheres(&touch, c.margin, &[3]float64{}, &z, 1, &c.pos, &z, 2)
		if touch.N != c.n {
			t.Errorf("%s: %d contacts, want %d", c.what, touch.N, c.n)
			continue
		}
		if c.n > 0 {
			near(t, c.what, touch.Dist[0], c.dist)
			nearVector(t, c.what+": place", touch.Pos[0], c.at)
			nearVector(t, c.what+": normal", touch.Normal[0], c.towards)
		}
	}
}

// TestSphereCapsule places a sphere of radius 1 next to a capsule of radius 0.5 along z, from -2 to 2.
func TestSphereCapsule(t *testing.T) {
	z := [3]float64{0, 0, 1}
	for _, c := range []struct {
		what string
		pos  [3]float64
		dist float64
	}{
		{"next to it", [3]float64{1.25, 0, 1}, -0.25},
		{"above its end", [3]float64{0, 0, 3.5}, 0},
		{"off its end", [3]float64{0.6, 0, -2.8}, -0.5},
	} {
		var touch Touch
		SphereCapsule(&touch, 0, &c.pos, &z, 1, &[3]float64{}, &z, 0.5, 2)
		if touch.N != 1 {
			t.Errorf("%s: %d contacts", c.what, touch.N)
			continue
		}
		near(t, c.what, touch.Dist[0], c.dist)
	}
}

// TestCapsules compares the distance of capsules with the smallest one that sampling their axes finds.
func TestCapsules(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	axis := func() [3]float64 {
		x, y, z, _ := Normalize3(r.NormFloat64(), r.NormFloat64(), r.NormFloat64())
		return [3]float64{x, y, z}
	}
	for range 300 {
		p, q := [3]float64{}, [3]float64{r.NormFloat64(), r.NormFloat64(), r.NormFloat64()}
		a, b := axis(), axis()
		h, k := 0.1+r.Float64(), 0.1+r.Float64()
		var touch Touch
		Capsules(&touch, Rules40, 1e3, &p, &a, 0.1, h, &q, &b, 0.2, k)
		if touch.N != 1 {
			t.Fatalf("%d contacts", touch.N)
		}
		least := math.Inf(1)
		for i := -200; i <= 200; i++ {
			x := float64(i) / 200 * h
			var e [3]float64
			along(&e, &p, &a, x)
			e[0], e[1], e[2] = e[0]-q[0], e[1]-q[1], e[2]-q[2]
			y := clip(dot3(&e, &b), -k, k) // the nearest on the other axis
			d := math.Hypot(math.Hypot(e[0]-y*b[0], e[1]-y*b[1]), e[2]-y*b[2])
			least = min(least, d)
		}
		if got := touch.Dist[0] + 0.3; got > least+1e-12 || got < least-0.01 {
			t.Errorf("distance of the axes %v, sampled %v", got, least)
		}
	}
}

// TestParallelCapsules finds two contacts of capsules that lie side by side, at the ends of what they share;
// their order depends on the rules.
func TestParallelCapsules(t *testing.T) {
	z := [3]float64{0, 0, 1}
	low, high := [3]float64{0.5, 0, -1}, [3]float64{0.5, 0, 2}
	for _, c := range []struct {
		rules int32
		up    [3]float64 // axis of the second
		lean  float64    // of the second, to the side
		want  [][3]float64
	}{
		{Rules40, z, 0, [][3]float64{low, high}},
		{Rules40, [3]float64{0, 0, -1}, 0, [][3]float64{low, high}},
		{Rules40, z, 5e-5, [][3]float64{low, high}},
		{Rules40, z, 2e-4, [][3]float64{low}},
		{Rules35, z, 0, [][3]float64{high, low}},
		{Rules35, z, 1e-6, [][3]float64{low}},
	} {
		q := [3]float64{1 - c.lean, 0, 1}
		axis := normed([3]float64{-c.lean, 0, c.up[2]})
		var touch Touch
		Capsules(&touch, c.rules, 0.1, &[3]float64{}, &z, 0.5, 2, &q, &axis, 0.5, 2)
		if int(touch.N) != len(c.want) {
			t.Errorf("%+v: %d contacts, want %d", c, touch.N, len(c.want))
			continue
		}
		for i, w := range c.want {
			for k := range w {
				if d := math.Abs(touch.Pos[i][k] - w[k]); d > 1e-3 && len(c.want) == 2 {
					t.Errorf("%+v: contact %d at %v, want %v", c, i, touch.Pos[i], w)
				}
			}
		}
	}
	var touch Touch
	q := [3]float64{0, 0, 4.75}
	Capsules(&touch, Rules40, 0, &[3]float64{}, &z, 0.5, 2, &q, &z, 0.5, 2)
	if touch.N == 0 {
		t.Fatal("capsules end to end do not touch")
	}
	near(t, "end to end", touch.Dist[0], -0.25)
}

// TestFrame checks that frames are orthonormal and keep the normal.
func TestFrame(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for i := range 1000 {
		x, y, z, _ := Normalize3(r.NormFloat64(), r.NormFloat64(), r.NormFloat64())
		f := [9]float64{x, y, z}
		if i%2 == 0 {
			f[3], f[4], f[5], _ = Normalize3(r.NormFloat64(), r.NormFloat64(), r.NormFloat64())
		}
		Frame(&f)
		nearVector(t, "normal", [3]float64(f[:3]), [3]float64{x, y, z})
		for a := range 3 {
			for b := range 3 {
				want := 0.0
				if a == b {
					want = 1
				}
				u, v := [3]float64(f[3*a:3*a+3]), [3]float64(f[3*b:3*b+3])
				near(t, "product of axes", dot3(&u, &v), want)
			}
		}
	}
}

// TestIntegrate turns by known angles.
func TestIntegrate(t *testing.T) {
	q := [4]float64{1, 0, 0, 0}
	v := [3]float64{0, 0, math.Pi}
	for range 10 {
		Integrate(&q, &v, 0.05)
	}
	near(t, "cosine", q[0], math.Cos(math.Pi/4))
	near(t, "sine", q[3], math.Sin(math.Pi/4))
	still := q
	Integrate(&q, &[3]float64{}, 0.05)
	for i := range q {
		near(t, "no rotation", q[i], still[i])
	}
	q = [4]float64{}
	Integrate(&q, &[3]float64{}, 1)
	near(t, "of no quaternion", q[0], 1)
}

// TestBend holds the rate of a rotation vector to what turns the frame as its angular velocity does: along the curve
// u(t) whose rate is Bend's, exp(u) must follow Integrate.
func TestBend(t *testing.T) {
	w := [3]float64{3, -2, 5}
	for _, size := range []float64{0.01, 0.05, 0.2, 1, 2.5} {
		n := normed([3]float64{1, 2, -0.5})
		u := [3]float64{n[0] * size, n[1] * size, n[2] * size}
		rate := w
		Bend(&rate, &u)
		const h = 1e-6
		before, after := [4]float64{1, 0, 0, 0}, [4]float64{1, 0, 0, 0}
		Integrate(&before, &u, 1)
		Integrate(&before, &w, h)
		further := [3]float64{u[0] + h*rate[0], u[1] + h*rate[1], u[2] + h*rate[2]}
		Integrate(&after, &further, 1)
		for i := range before {
			if d := math.Abs(before[i] - after[i]); d > 2e-11 {
				t.Errorf("turned by %v: off by %g after %g s", size, d, h)
			}
		}
	}
}

// normed returns v with norm 1.
func normed(v [3]float64) [3]float64 {
	x, y, z, _ := Normalize3(v[0], v[1], v[2])
	return [3]float64{x, y, z}
}

// TestImpedance follows the curve: its ends, its symmetry, its bend.
func TestImpedance(t *testing.T) {
	for _, c := range []struct{ violation, want float64 }{
		{0, 0.8}, {0.01, 0.9}, {1, 0.9}, {-1, 0.9}, {0.005, 0.85}, {-0.005, 0.85}, {0.0025, 0.8 + 0.1*2*0.25*0.25}, {0.0075, 0.9 - 0.1*2*0.25*0.25},
	} {
		near(t, "impedance", Impedance(c.violation, 0.8, 0.9, 0.01, 0.5), c.want)
	}
	near(t, "flat", Impedance(0.5, 0.8, 0.8, 0.01, 0.5), 0.8)
	near(t, "without width", Impedance(0.5, 0.8, 0.9, 0, 0.5), 0.8500000000000001)
	near(t, "regularization", Regularize(0.8, 2), 0.5)
	near(t, "no inertia", Regularize(0.8, 0), MinVal)
}

// TestRemainder compares with the division.
func TestRemainder(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for n := uint32(1); n < 256; n++ {
		for i := range 2000 {
			x := r.Uint32()
			if i < 600 {
				x = n*(r.Uint32()/n) + uint32(i%3) - 1
			}
			if i == 600 {
				x = math.MaxUint32
			}
			if got := Remainder(x, n); got != x%n {
				t.Fatalf("%d modulo %d: %d, want %d", x, n, got, x%n)
			}
		}
	}
}

// TestPcg gives the words that the definition of PCG32 gives, computed elsewhere with unbounded integers.
func TestPcg(t *testing.T) {
	state := uint64(0)
	for i, want := range []uint32{0, 0xe4c14788, 0x379c6516, 0x5c4ab3bb, 0x601d23e0, 0x1c382b8c} {
		state = Pcg(state)
		if got := PcgWord(state); got != want {
			t.Errorf("word %d: %#x, want %#x", i, got, want)
		}
	}
}
