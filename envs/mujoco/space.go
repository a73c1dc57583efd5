package mujoco

import "github.com/evoswarm/evoswarm/internal/exact"

// NormInv returns what a quaternion of the given norm is multiplied by to have norm 1: exactly 1 where it is near.
func NormInv(norm float64) float64 {
	if exact.Abs(norm-1) > MinVal {
		return 1 / norm
	}
	return 1
}

// Normalize4 returns q with norm 1, or no rotation if its norm vanishes.
func Normalize4(w, x, y, z float64) (nw, nx, ny, nz float64) {
	norm := exact.Sqrt(((float64(w*w) + float64(x*x)) + float64(y*y)) + float64(z*z))
	if norm < MinVal {
		return 1, 0, 0, 0
	}
	inv := NormInv(norm)
	return w * inv, x * inv, y * inv, z * inv
}

// Normalize3 returns v with norm 1 and its norm before, or the x axis if the norm vanishes.
func Normalize3(x, y, z float64) (nx, ny, nz, norm float64) {
	norm = exact.Sqrt((float64(x*x) + float64(y*y)) + float64(z*z))
	if norm < MinVal {
		return 1, 0, 0, norm
	}
	inv := 1 / norm
	return x * inv, y * inv, z * inv, norm
}

// Integrate turns the quaternion q by the rotation v, a vector in its own frame, times dt.
func Integrate(q *[4]float64, v *[3]float64, dt float64) {
	x, y, z, norm := Normalize3(v[0], v[1], v[2])
	s, c := exact.Sincos(0.5 * float64(dt*norm))
	x, y, z = x*s, y*s, z*s
	a0, a1, a2, a3 := Normalize4(q[0], q[1], q[2], q[3])
	q[0] = ((float64(a0*c) - float64(a1*x)) - float64(a2*y)) - float64(a3*z)
	q[1] = ((float64(a0*x) + float64(a1*c)) + float64(a2*z)) - float64(a3*y)
	q[2] = ((float64(a0*y) - float64(a1*z)) + float64(a2*c)) + float64(a3*x)
	q[3] = ((float64(a0*z) + float64(a1*y)) - float64(a2*x)) + float64(a3*c)
}

// Bend turns w, the angular velocity of a frame that is turned by the vector u, into the rate at which u changes: the
// correction of Munthe-Kaas to Runge-Kutta's method.
func Bend(w, u *[3]float64) {
	ax := float64(u[1]*w[2]) - float64(u[2]*w[1])
	ay := float64(u[2]*w[0]) - float64(u[0]*w[2])
	az := float64(u[0]*w[1]) - float64(u[1]*w[0])
	bx := float64(u[1]*az) - float64(u[2]*ay)
	by := float64(u[2]*ax) - float64(u[0]*az)
	bz := float64(u[0]*ay) - float64(u[1]*ax)
	square := (float64(u[0]*u[0]) + float64(u[1]*u[1])) + float64(u[2]*u[2])
	c := 1.0/12 + float64(square*(1.0/720+float64(square*(1.0/30240))))
	if square > 0.01 {
		half := 0.5 * exact.Sqrt(square)
		sin, cos := exact.Sincos(half)
		c = (1 - half*cos/sin) / square
	}
	w[0] = (w[0] + float64(0.5*ax)) + float64(bx*c)
	w[1] = (w[1] + float64(0.5*ay)) + float64(by*c)
	w[2] = (w[2] + float64(0.5*az)) + float64(bz*c)
}

// Frame fills in the axes of a contact: frame has the normal, which has norm 1, in its first row and the wish for
// the second one in the second.
func Frame(frame *[9]float64) {
	frame[0], frame[1], frame[2], _ = Normalize3(frame[0], frame[1], frame[2])
	if (float64(frame[3]*frame[3])+float64(frame[4]*frame[4]))+float64(frame[5]*frame[5]) < 0.25 {
		frame[3], frame[4], frame[5] = 0, 0, 0
		if frame[1] < 0.5 && frame[1] > -0.5 {
			frame[4] = 1
		} else {
			frame[5] = 1
		}
	}
	a := (float64(frame[0]*frame[3]) + float64(frame[1]*frame[4])) + float64(frame[2]*frame[5])
	x := frame[3] - float64(frame[0]*a)
	y := frame[4] - float64(frame[1]*a)
	z := frame[5] - float64(frame[2]*a)
	frame[3], frame[4], frame[5], _ = Normalize3(x, y, z)
	frame[6] = float64(frame[1]*frame[5]) - float64(frame[2]*frame[4])
	frame[7] = float64(frame[2]*frame[3]) - float64(frame[0]*frame[5])
	frame[8] = float64(frame[0]*frame[4]) - float64(frame[1]*frame[3])
}

// Unit returns the sign of x, as 1 or -1 up to rounding, or 1 where x vanishes: a vector of one number with norm 1.
func Unit(x float64) float64 {
	norm := exact.Sqrt(float64(x * x))
	if norm < MinVal {
		return 1
	}
	return x * (1 / norm)
}

// Unit2 returns the vector (x, y) with norm 1, or (1, 0) where it vanishes.
func Unit2(x, y float64) (ux, uy float64) {
	norm := exact.Sqrt(float64(x*x) + float64(y*y))
	if norm < MinVal {
		return 1, 0
	}
	inv := 1 / norm
	return x * inv, y * inv
}

// Clamp returns the number of [low, high] that is nearest to x.
func Clamp(x, low, high float64) float64 {
	if x < low {
		return low
	}
	if x > high {
		return high
	}
	return x
}

// Pivot returns x, or a small number instead of one that is smaller: what Cholesky's method takes the root of.
func Pivot(x float64) float64 {
	if x < MinVal {
		return MinVal
	}
	return x
}

// InertCom sets r to the inertia of a body about a point from which its mass center is at (x, y, z): the three on the
// diagonal, the three off it, mass times place, mass. mat turns the axes of its own inertia (i0, i1, i2) to the world.
func InertCom(r *[10]float64, mat *[9]float64, i0, i1, i2, x, y, z, mass float64) {
	a0, a1, a2 := mat[0]*i0, mat[3]*i0, mat[6]*i0
	b0, b1, b2 := mat[1]*i1, mat[4]*i1, mat[7]*i1
	c0, c1, c2 := mat[2]*i2, mat[5]*i2, mat[8]*i2
	r[0] = ((float64(mat[0]*a0) + float64(mat[1]*b0)) + float64(mat[2]*c0)) + float64(mass*(float64(y*y)+float64(z*z)))
	r[1] = ((float64(mat[3]*a1) + float64(mat[4]*b1)) + float64(mat[5]*c1)) + float64(mass*(float64(x*x)+float64(z*z)))
	r[2] = ((float64(mat[6]*a2) + float64(mat[7]*b2)) + float64(mat[8]*c2)) + float64(mass*(float64(x*x)+float64(y*y)))
	r[3] = ((float64(mat[0]*a1) + float64(mat[1]*b1)) + float64(mat[2]*c1)) - float64(mass*x*y)
	r[4] = ((float64(mat[0]*a2) + float64(mat[1]*b2)) + float64(mat[2]*c2)) - float64(mass*x*z)
	r[5] = ((float64(mat[3]*a2) + float64(mat[4]*b2)) + float64(mat[5]*c2)) - float64(mass*y*z)
	r[6] = mass * x
	r[7] = mass * y
	r[8] = mass * z
	r[9] = mass
}

// MulInertVec sets r to the inertia i times the motion v.
func MulInertVec(r *[6]float64, i *[10]float64, v *[6]float64) {
	v0, v1, v2, v3, v4, v5 := v[0], v[1], v[2], v[3], v[4], v[5]
	i6, i7, i8, i9 := i[6], i[7], i[8], i[9]
	r[0] = (((float64(i[0]*v0) + float64(i[3]*v1)) + float64(i[4]*v2)) - float64(i8*v4)) + float64(i7*v5)
	r[1] = (((float64(i[3]*v0) + float64(i[1]*v1)) + float64(i[5]*v2)) + float64(i8*v3)) - float64(i6*v5)
	r[2] = (((float64(i[4]*v0) + float64(i[5]*v1)) + float64(i[2]*v2)) - float64(i7*v3)) + float64(i6*v4)
	r[3] = (float64(i8*v1) - float64(i7*v2)) + float64(i9*v3)
	r[4] = (float64(i6*v2) - float64(i8*v0)) + float64(i9*v4)
	r[5] = (float64(i7*v0) - float64(i6*v1)) + float64(i9*v5)
}

// BodyForce sets r to the force that moves a body of inertia i with acceleration a and velocity w.
func BodyForce(r *[6]float64, i *[10]float64, a, w *[6]float64) {
	var f, p [6]float64
	MulInertVec(&f, i, a)
	MulInertVec(&p, i, w)
	r[0] = f[0] + ((float64(w[1]*p[2]) - float64(w[2]*p[1])) + (float64(w[4]*p[5]) - float64(w[5]*p[4])))
	r[1] = f[1] + ((float64(w[2]*p[0]) - float64(w[0]*p[2])) + (float64(w[5]*p[3]) - float64(w[3]*p[5])))
	r[2] = f[2] + ((float64(w[0]*p[1]) - float64(w[1]*p[0])) + (float64(w[3]*p[4]) - float64(w[4]*p[3])))
	r[3] = f[3] + (float64(w[1]*p[5]) - float64(w[2]*p[4]))
	r[4] = f[4] + (float64(w[2]*p[3]) - float64(w[0]*p[5]))
	r[5] = f[5] + (float64(w[0]*p[4]) - float64(w[1]*p[3]))
}
