package envtest

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"github.com/evoswarm/evoswarm/envs"
)

// testDraw checks that every state of an episode is drawn with known shapes, color roles and finite points,
// some of them in view, and that drawing changes nothing.
func testDraw(t *testing.T, spec *envs.Spec) {
	p := newPlayer(spec)
	var scene envs.Scene
	for seed := range uint64(3) {
		p.reset(seed)
		for range 30 {
			before := p.state()
			p.env.(envs.Drawer).Draw(&scene)
			checkScene(t, spec, &scene)
			for i, x := range p.state() {
				if x != before[i] {
					t.Fatalf("drawing changed state %d from %v to %v", i, before[i], x)
				}
			}
			p.play(1)
		}
	}
	if _, err := json.Marshal(&scene); err != nil {
		t.Errorf("scene as JSON: %v", err)
	}
}

// checkScene checks one drawing.
func checkScene(t *testing.T, spec *envs.Spec, s *envs.Scene) {
	t.Helper()
	if s.Bounds != spec.View && s.Bounds.MaxX-s.Bounds.MinX <= 0 {
		t.Fatalf("bounds are %+v", s.Bounds)
	}
	inView := 0
	for i, sh := range s.Shapes {
		if len(sh.Points)%2 != 0 || len(sh.Points) < minPoints(sh.Kind) {
			t.Fatalf("shape %d: %q of %d numbers", i, sh.Kind, len(sh.Points))
		}
		if !knownRole(sh.Fill) || !knownRole(sh.Stroke) || sh.Fill == "" && sh.Stroke == "" {
			t.Fatalf("shape %d: fill %q, stroke %q", i, sh.Fill, sh.Stroke)
		}
		for j := 0; j < len(sh.Points); j += 2 {
			x, y := sh.Points[j], sh.Points[j+1]
			if math.IsNaN(x+y) || math.IsInf(x+y, 0) {
				t.Fatalf("shape %d: point %d is (%v, %v)", i, j/2, x, y)
			}
			if x >= s.Bounds.MinX && x <= s.Bounds.MaxX && y >= s.Bounds.MinY && y <= s.Bounds.MaxY {
				inView++
			}
		}
	}
	if inView < 3 {
		t.Errorf("%d points in view, want a drawing", inView)
	}
}

// minPoints is the least length of Points for a kind; unknown kinds fail.
func minPoints(k envs.Kind) int {
	switch k {
	case envs.Circle:
		return 2
	case envs.Line:
		return 4
	case envs.Polygon:
		return 6
	}
	return math.MaxInt
}

// knownRole reports whether a page knows the color.
func knownRole(r envs.Role) bool { return r == "" || slices.Contains(envs.Roles(), r) }
