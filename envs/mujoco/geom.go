package mujoco

// Types of a [Geom], with MuJoCo's numbers.
const (
	Plane    = 0
	Sphere   = 2
	Capsule  = 3
	Cylinder = 5
)

// Geom is a shape that belongs to a body.
type Geom struct {
	Type int32
	Body int32
	Size [3]float64 // radius, half length [m]
	Rgba [4]float64
}

// Rules of physics, which a world's Data carries.
const (
	// Rules40 are those of MuJoCo 4.0.
	Rules40 = iota
	// Rules35 are those of MuJoCo 3.5: Runge-Kutta's stages of a free joint's rotation are added up as vectors,
	// Newton's method stops later, and projected Gauss-Seidel visits constraints in order.
	Rules35
	// Rules33 are those of MuJoCo 3.3.7 and 3.4: Rules35, but the margin of a contact is the larger one of its geoms'
	// margins, not their sum.
	Rules33
)

// MinVal is what MuJoCo takes for zero in a division.
const MinVal = 1e-15

// maxVal is beyond what a position, velocity or acceleration may be.
const maxVal = 1e10

// Wild says whether x is not a number, or beyond the range of MuJoCo's states.
func Wild(x float64) bool { return !(x <= maxVal && x >= -maxVal) }
