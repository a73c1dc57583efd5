package box2d

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// drawFixture draws an edge or a polygon that may lie anywhere near p, also far from the origin. Box2D has no edges
// shorter than its slop: what is so short has no normal.
func drawFixture(t *rapid.T, p Vec2) *land {
	var l land
	a := add(p, drawVec(t, -2, 2))
	if rapid.Bool().Draw(t, "edge") {
		way := drawVec(t, -2, 2)
		if length(way) < linearSlop {
			way = Vec2{linearSlop, linearSlop}
		}
		l.edge(a, add(a, way), Material{})
		return &l
	}
	s := Polygon([]Vec2{a, add(a, Vec2{1, 0.1}), add(a, Vec2{1.2, 1}), add(a, Vec2{-0.1, 0.9})})
	l.polygon(&s, Material{})
	return &l
}

// drawSweep draws a body on its way: a little from a place near p.
func drawSweep(t *rapid.T, p Vec2) Body {
	var b Body
	def := boxDef(0, 0, 0)
	if rapid.Bool().Draw(t, "hull") {
		def.Shape = Polygon([]Vec2{{-1, 0.3}, {0.2, 0.3}, {1.1, 0.03}, {1.1, -0.27}, {-1, -0.27}})
	}
	b.create(def)
	b.c0 = add(p, drawVec(t, -1, 1))
	b.a0 = rapid.Float32Range(-7, 7).Draw(t, "a0")
	far := rapid.SampledFrom([]float32{0.01, 0.3, 2}).Draw(t, "far")
	b.c = add(b.c0, drawVec(t, -far, far))
	b.a = b.a0 + rapid.Float32Range(-far, far).Draw(t, "turn")
	b.synchronizeTransform(makeRot(b.a))
	return b
}

// What the quick look clears, the search for a time of impact clears too.
func TestClearedBodiesDoNotMeet(t *testing.T) {
	cleared, met := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		p := Vec2{rapid.SampledFrom([]float32{0, 90}).Draw(t, "place"), 3}
		for range 200 {
			g, b := drawFixture(t, p), drawSweep(t, p)
			var r reach
			r.set(&b)
			h := g.fixtures[0].copyHull(g.hulls)
			_, touching := timeOfImpact(&h, &b.shape, sweep{b.localCenter, b.c0, b.c, b.a0, b.a})
			if touching {
				met++
			}
			if r.clears(&g.fixtures[0], g.hulls, b.shape.count) {
				cleared++
				if touching {
					t.Fatalf("cleared, and yet they meet: %+v, %+v", h, b)
				}
			}
		}
	})
	if cleared == 0 || met == 0 {
		t.Errorf("%d cleared, %d met: want some of each", cleared, met)
	}
}

// What misses a box that is two fattenings larger does not overlap it in the broad phase.
func TestMisses(t *testing.T) {
	missed, overlapped := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		for range 50 {
			p := Vec2{rapid.SampledFrom([]float32{0, 90}).Draw(t, "place"), 3}
			l := drawFixture(t, p)
			a, b := add(p, drawVec(t, -3, 3)), add(p, drawVec(t, -3, 3))
			box := aabb{leastVec(a, b), mostVec(a, b)}
			around, fat := fatten(fatten(box)), l.fixtures[0].box()
			switch misses, overlaps := l.fixtures[0].misses(&around), fat.overlaps(&box); {
			case misses && overlaps:
				t.Fatalf("%+v misses %+v, and yet its box %+v overlaps it", l.fixtures[0], around, fat)
			case misses:
				missed++
			case overlaps:
				overlapped++
			}
		}
	})
	if missed == 0 || overlapped == 0 {
		t.Errorf("%d missed, %d overlapped: want some of each", missed, overlapped)
	}
}

// The distance of shapes is no more than that of any two vertices, and beginning from its own end gives it again.
func TestDistance(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, b := drawFixture(t, Vec2{}), drawSweep(t, Vec2{})
		g := l.fixtures[0].copyHull(l.hulls)
		var cache simplexCache
		d := distance(&cache, &g, &b.shape, b.xf)
		nearest := math.Inf(1)
		for i := int32(0); i < g.count; i++ {
			for j := int32(0); j < b.shape.count; j++ {
				nearest = min(nearest, float64(length(sub(g.vertices[i], b.Vertex(j)))))
			}
		}
		if float64(d) > nearest+1e-5 || d < 0 {
			t.Fatalf("distance %v, nearest vertices %v", d, nearest)
		}
		if again := distance(&cache, &g, &b.shape, b.xf); math.Abs(float64(again-d)) > 1e-5 {
			t.Fatalf("from its own end: got %v, want %v", again, d)
		}
	})
}
