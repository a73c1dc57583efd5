package box2d

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func drawVec(t *rapid.T, low, high float32) Vec2 {
	return Vec2{rapid.Float32Range(low, high).Draw(t, "x"), rapid.Float32Range(low, high).Draw(t, "y")}
}

func TestMassOfABox(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hx, hy := rapid.Float32Range(0.1, 3).Draw(t, "hx"), rapid.Float32Range(0.1, 3).Draw(t, "hy")
		s := Box(hx, hy)
		mass, center, inertia := s.massData(2)
		near := func(name string, got, want float32) {
			if math.Abs(float64(got-want)) > 1e-5*(1+math.Abs(float64(want))) {
				t.Errorf("%s of %v x %v: got %v, want %v", name, hx, hy, got, want)
			}
		}
		near("mass", mass, 8*hx*hy)
		near("center", center.X+center.Y, 0)
		near("inertia", inertia, mass*(hx*hx+hy*hy)/3)
	})
}

// A hull is convex, turns to the left, and leaves no point outside.
func TestPolygonIsAHull(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(3, MaxPolygonVertices).Draw(t, "n")
		points := make([]Vec2, n)
		for i := range points {
			a := (float64(i) + rapid.Float64Range(0, 0.8).Draw(t, "a")) * 2 * math.Pi / float64(n)
			r := rapid.Float64Range(0.5, 2).Draw(t, "r")
			points[i] = Vec2{float32(r * math.Cos(a)), float32(r * math.Sin(a))}
		}
		s := Polygon(points)
		for i := int32(0); i < s.count; i++ {
			if l := length(s.normals[i]); l < 0.999 || l > 1.001 {
				t.Fatalf("normal %d: length %v", i, l)
			}
			for _, p := range points {
				if d := dot(s.normals[i], sub(p, s.vertices[i])); d > 1e-5 {
					t.Fatalf("%v: point %v is %v outside of face %d", points, p, d, i)
				}
			}
		}
	})
}

// The nearest hit does not depend on the order of the fixtures, and is on the nearest fixture that one alone hits.
func TestRayCastFindsTheNearest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var ground land
		for range rapid.IntRange(1, 12).Draw(t, "n") {
			a := drawVec(t, -5, 5)
			if rapid.Bool().Draw(t, "edge") {
				ground.edge(a, drawVec(t, -5, 5), Material{})
				continue
			}
			s := Polygon([]Vec2{a, {a.X + 1, a.Y}, {a.X + 1, a.Y + 2}, {a.X, a.Y + 1}})
			ground.polygon(&s, Material{})
		}
		p1, p2 := drawVec(t, -9, 9), drawVec(t, -9, 9)
		got, hit := ground.rayCast(p1, p2)
		want, any := float32(1), false
		for i := len(ground.fixtures) - 1; i >= 0; i-- {
			f, h := RayCast(ground.fixtures[i:i+1], ground.hulls, p1, p2)
			want, any = min(want, f), any || h
		}
		if got != want || hit != any {
			t.Fatalf("from %v to %v: got %v %v, want %v %v", p1, p2, got, hit, want, any)
		}
	})
}

func TestRayCast(t *testing.T) {
	s := Box(1, 1)
	var ground land
	ground.edge(Vec2{-2, 0}, Vec2{2, 0}, Material{})
	ground.polygon(&s, Material{})
	for _, c := range []struct {
		p1, p2 Vec2
		want   float32
		hit    bool
	}{
		{Vec2{1.5, 1}, Vec2{1.5, -1}, 0.5, true},
		{Vec2{0, 3}, Vec2{0, -1}, 0.5, true},      // the polygon, not the edge behind it
		{Vec2{0, 0.5}, Vec2{0, -0.5}, 0.5, true},  // from inside the polygon only the edge
		{Vec2{3, 1}, Vec2{3, -1}, 1, false},       // misses
		{Vec2{1.5, 1}, Vec2{1.5, 0.5}, 1, false},  // too short
		{Vec2{-2, 0.5}, Vec2{2, 0.5}, 0.25, true}, // from the left
		{Vec2{1.5, -1}, Vec2{1.5, 1}, 0.5, true},  // an edge has two sides
		{Vec2{-1.5, 0}, Vec2{-1.2, 0}, 1, false},  // along an edge
	} {
		if got, hit := ground.rayCast(c.p1, c.p2); got != c.want || hit != c.hit {
			t.Errorf("from %v to %v: got %v %v, want %v %v", c.p1, c.p2, got, hit, c.want, c.hit)
		}
	}
}
