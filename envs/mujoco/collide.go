package mujoco

import "github.com/evoswarm/evoswarm/internal/exact"

// Touch is where two geoms that are no planes touch: up to two points.
type Touch struct {
	N      int32
	Dist   [2]float64 // negative: they overlap [m]
	Pos    [2][3]float64
	Normal [2][3]float64 // from the first to the second
}

// Spheres adds the contact of two spheres to t, if their distance is at most margin. The axes are the axes of the geoms
// around them: their product is the normal of spheres in one place.
func Spheres(t *Touch, margin float64, pos1, axis1 *[3]float64, radius1 float64, pos2, axis2 *[3]float64, radius2 float64) {
	x, y, z := pos1[0]-pos2[0], pos1[1]-pos2[1], pos1[2]-pos2[2]
	square := (float64(x*x) + float64(y*y)) + float64(z*z)
	reach := (margin + radius1) + radius2
	if square > float64(reach*reach) {
		return
	}
	dist := (exact.Sqrt(square) - radius1) - radius2
	nx, ny, nz, norm := Normalize3(pos2[0]-pos1[0], pos2[1]-pos1[1], pos2[2]-pos1[2])
	if norm < MinVal {
		ax := float64(axis1[1]*axis2[2]) - float64(axis1[2]*axis2[1])
		ay := float64(axis1[2]*axis2[0]) - float64(axis1[0]*axis2[2])
		az := float64(axis1[0]*axis2[1]) - float64(axis1[1]*axis2[0])
		nx, ny, nz, norm = Normalize3(ax, ay, az)
	}
	depth := radius1 + float64(dist/2)
	n := t.N
	t.Dist[n] = dist
	t.Normal[n][0], t.Normal[n][1], t.Normal[n][2] = nx, ny, nz
	t.Pos[n][0] = float64(nx*depth) + pos1[0]
	t.Pos[n][1] = float64(ny*depth) + pos1[1]
	t.Pos[n][2] = float64(nz*depth) + pos1[2]
	t.N = n + 1
}

func clip(x, low, high float64) float64 {
	if x < low {
		return low
	}
	if x > high {
		return high
	}
	return x
}

func along(p *[3]float64, pos, axis *[3]float64, x float64) {
	p[0] = float64(axis[0]*x) + pos[0]
	p[1] = float64(axis[1]*x) + pos[1]
	p[2] = float64(axis[2]*x) + pos[2]
}

func dot3(a, b *[3]float64) float64 {
	return (float64(a[0]*b[0]) + float64(a[1]*b[1])) + float64(a[2]*b[2])
}

// SphereCapsule adds the contact of a sphere and a capsule of the given half length to t.
func SphereCapsule(t *Touch, margin float64, pos1, axis1 *[3]float64, radius1 float64, pos2, axis2 *[3]float64, radius2, half2 float64) {
	var d, p [3]float64
	d[0], d[1], d[2] = pos1[0]-pos2[0], pos1[1]-pos2[1], pos1[2]-pos2[2]
	x := clip(dot3(axis2, &d), -half2, half2)
	along(&p, pos2, axis2, x)
	Spheres(t, margin, pos1, axis1, radius1, &p, axis2, radius2)
}

// aligned is the square of the sine of the angle below which capsules count as parallel.
const aligned = 1e-8

// Capsules adds the contact of two capsules to t; parallel ones may touch in two points. What is parallel depends on
// the rules.
func Capsules(t *Touch, rules int32, margin float64, pos1, axis1 *[3]float64, radius1, half1 float64, pos2, axis2 *[3]float64, radius2, half2 float64) {
	var a, b, d, p, q [3]float64
	for i := range a {
		a[i] = axis1[i] * half1
		b[i] = axis2[i] * half2
		d[i] = pos1[i] - pos2[i]
	}
	ma := dot3(&a, &a)
	mb := -dot3(&a, &b)
	mc := dot3(&b, &b)
	u := -dot3(&a, &d)
	v := dot3(&b, &d)
	det := float64(ma*mc) - float64(mb*mb)
	small := MinVal
	if rules == Rules40 {
		small = aligned * ma * mc
	}
	if exact.Abs(det) >= small {
		x1 := (float64(mc*u) - float64(mb*v)) / det
		x2 := (float64(ma*v) - float64(mb*u)) / det
		if x1 > 1 {
			x1 = 1
			x2 = (v - mb) / mc
		} else if x1 < -1 {
			x1 = -1
			x2 = (v + mb) / mc
		}
		if x2 > 1 {
			x2 = 1
			x1 = clip((u-mb)/ma, -1, 1)
		} else if x2 < -1 {
			x2 = -1
			x1 = clip((u+mb)/ma, -1, 1)
		}
		along(&p, pos1, &a, x1)
		along(&q, pos2, &b, x2)
		Spheres(t, margin, &p, axis1, radius1, &q, axis2, radius2)
		return
	}
	if rules == Rules40 {
		// Where the part of the first next to the second begins and ends.
		low, high, end := (u-mb)/ma, (u+mb)/ma, 1.0
		if low > high {
			low, high, end = high, low, -1
		}
		x1, x2 := low, end
		if low < -1 || low > 1 {
			x1 = clip(low, -1, 1)
			x2 = clip((v-float64(mb*x1))/mc, -1, 1)
		}
		along(&p, pos1, &a, x1)
		along(&q, pos2, &b, x2)
		Spheres(t, margin, &p, axis1, radius1, &q, axis2, radius2)
		x1, x2 = high, -end
		if high < -1 || high > 1 {
			x1 = clip(high, -1, 1)
			x2 = clip((v-float64(mb*x1))/mc, -1, 1)
		}
		along(&p, pos1, &a, x1)
		along(&q, pos2, &b, x2)
		Spheres(t, margin, &p, axis1, radius1, &q, axis2, radius2)
		return
	}
	// The ends of the first, then those of the second, until there are two contacts.
	along(&p, pos1, &a, 1)
	along(&q, pos2, &b, clip((v-mb)/mc, -1, 1))
	Spheres(t, margin, &p, axis1, radius1, &q, axis2, radius2)
	along(&p, pos1, &a, -1)
	along(&q, pos2, &b, clip((v+mb)/mc, -1, 1))
	Spheres(t, margin, &p, axis1, radius1, &q, axis2, radius2)
	if t.N >= 2 {
		return
	}
	along(&q, pos2, &b, 1)
	along(&p, pos1, &a, clip((u-mb)/ma, -1, 1))
	Spheres(t, margin, &p, axis1, radius1, &q, axis2, radius2)
	if t.N >= 2 {
		return
	}
	along(&q, pos2, &b, -1)
	along(&p, pos1, &a, clip((u+mb)/ma, -1, 1))
	Spheres(t, margin, &p, axis1, radius1, &q, axis2, radius2)
}
