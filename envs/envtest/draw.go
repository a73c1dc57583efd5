package envtest

import (
	"encoding/json"
	"testing"

	"github.com/evoswarm/evoswarm/envs"
)

// testDraw checks that every state of an episode is drawn as a scene that can be shown, some of it in view, and that
// drawing changes nothing.
func testDraw(t *testing.T, spec *envs.Spec) {
	p := newPlayer(spec)
	var scene envs.Scene
	for seed := range uint64(3) {
		p.reset(seed)
		for range 30 {
			before := p.state()
			p.env.(envs.Drawer).Draw(&scene)
			checkScene(t, &scene)
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
func checkScene(t *testing.T, s *envs.Scene) {
	t.Helper()
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	if s.InSpace() {
		checkSolids(t, s)
		return
	}
	inView := 0
	for _, sh := range s.Shapes {
		for j := 0; j < len(sh.Points); j += 2 {
			x, y := sh.Points[j], sh.Points[j+1]
			if x >= s.Bounds.MinX && x <= s.Bounds.MaxX && y >= s.Bounds.MinY && y <= s.Bounds.MaxY {
				inView++
			}
		}
	}
	if inView < 3 {
		t.Errorf("%d points in view, want a drawing", inView)
	}
}

// checkSolids checks that something but the floor is where the camera looks.
func checkSolids(t *testing.T, s *envs.Scene) {
	t.Helper()
	for _, sh := range s.Shapes {
		if sh.Kind == envs.Floor {
			continue
		}
		var square float64
		for i, x := range s.Camera.Target {
			square += (sh.Points[i] - x) * (sh.Points[i] - x)
		}
		if square < s.Camera.Distance*s.Camera.Distance/4 {
			return
		}
	}
	t.Errorf("nothing is near the camera's target %v", s.Camera.Target)
}
