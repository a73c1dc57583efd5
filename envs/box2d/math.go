package box2d

import "github.com/evoswarm/evoswarm/internal/exact"

// Vec2 is a column vector.
type Vec2 struct{ X, Y float32 }

// rot is a rotation: sine and cosine of an angle.
type rot struct{ s, c float32 }

// transform is the position and rotation of a body's frame in the world.
type transform struct {
	p Vec2
	q rot
}

// aabb is an axis-aligned box.
type aabb struct{ lower, upper Vec2 }

func makeRot(angle float32) rot {
	s, c := exact.SinCos32(angle)
	return rot{s, c}
}

func add(a, b Vec2) Vec2 { return Vec2{a.X + b.X, a.Y + b.Y} }

func sub(a, b Vec2) Vec2 { return Vec2{a.X - b.X, a.Y - b.Y} }

func neg(a Vec2) Vec2 { return Vec2{-a.X, -a.Y} }

func scale(s float32, a Vec2) Vec2 { return Vec2{float32(s * a.X), float32(s * a.Y)} }

func dot(a, b Vec2) float32 { return float32(a.X*b.X) + float32(a.Y*b.Y) }

func cross(a, b Vec2) float32 { return float32(a.X*b.Y) - float32(a.Y*b.X) }

// right returns a turned by -90 degrees: the cross product of a and 1.
func right(a Vec2) Vec2 { return Vec2{a.Y, -a.X} }

// spin returns the cross product of s and a: the velocity at a of a body that turns with s.
func spin(s float32, a Vec2) Vec2 { return Vec2{float32(-s * a.Y), float32(s * a.X)} }

// plus returns a, with +0 for any zero. Values that carry over to the next step pass through it, so that the
// sign of a zero does not depend on how it was computed.
func plus(a float32) float32 { return a + 0 }

func length(a Vec2) float32 { return exact.Sqrt32(dot(a, a)) }

// normalize returns a scaled to length 1, and its length. A vector that is too short is returned unchanged
// with length 0.
func normalize(a Vec2) (Vec2, float32) {
	n := length(a)
	if n < epsilon {
		return a, 0
	}
	inv := 1 / n
	return Vec2{float32(a.X * inv), float32(a.Y * inv)}, n
}

// turn rotates v by q.
func turn(q rot, v Vec2) Vec2 {
	return Vec2{float32(q.c*v.X) - float32(q.s*v.Y), float32(q.s*v.X) + float32(q.c*v.Y)}
}

// turnBack rotates v by the inverse of q.
func turnBack(q rot, v Vec2) Vec2 {
	return Vec2{float32(q.c*v.X) + float32(q.s*v.Y), float32(-q.s*v.X) + float32(q.c*v.Y)}
}

// mul converts v from the frame of t to world coordinates.
func mul(t transform, v Vec2) Vec2 {
	return Vec2{
		(float32(t.q.c*v.X) - float32(t.q.s*v.Y)) + t.p.X,
		(float32(t.q.s*v.X) + float32(t.q.c*v.Y)) + t.p.Y,
	}
}

// mulBack converts v from world coordinates to the frame of t.
func mulBack(t transform, v Vec2) Vec2 { return turnBack(t.q, Vec2{v.X - t.p.X, v.Y - t.p.Y}) }

// The builtins min and max do not serve here: the comparisons in b2Min, b2Max, b2Clamp and b2Abs of the
// reference decide which operand is returned for NaN and for zeros of different sign.

func least(a, b float32) float32 {
	if a < b {
		return a
	}
	return b
}

func most(a, b float32) float32 {
	if a > b {
		return a
	}
	return b
}

func clamp(a, low, high float32) float32 { return most(low, least(a, high)) }

func abs(a float32) float32 {
	if a > 0 {
		return a
	}
	return -a
}

func leastVec(a, b Vec2) Vec2 { return Vec2{least(a.X, b.X), least(a.Y, b.Y)} }

func mostVec(a, b Vec2) Vec2 { return Vec2{most(a.X, b.X), most(a.Y, b.Y)} }

func (a *aabb) contains(b *aabb) bool {
	return a.lower.X <= b.lower.X && a.lower.Y <= b.lower.Y && b.upper.X <= a.upper.X && b.upper.Y <= a.upper.Y
}

func (a *aabb) overlaps(b *aabb) bool {
	return !(b.lower.X > a.upper.X || b.lower.Y > a.upper.Y || a.lower.X > b.upper.X || a.lower.Y > b.upper.Y)
}
