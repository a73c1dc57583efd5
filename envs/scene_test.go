package envs_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evoswarm/evoswarm/envs"
)

func TestSceneJSON(t *testing.T) {
	var s envs.Scene
	s.Clear(envs.Bounds{MinX: -1, MinY: 0, MaxX: 1, MaxY: 2})
	s.Line(envs.Ground, 0.1, -1, 0, 1, 0)
	s.Bar(envs.Body, 2, 0, 0, 0, 1)
	s.Bar(envs.Body, 2, 3, 3, 3, 3)
	s.Circle(envs.Joint, 0, 1, 0.5)
	got, err := json.Marshal(&s)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"bounds":{"min_x":-1,"min_y":0,"max_x":1,"max_y":2},"shapes":[` +
		`{"kind":"line","points":[-1,0,1,0],"width":0.1,"stroke":"ground"},` +
		`{"kind":"polygon","points":[-1,0,1,0,1,1,-1,1],"fill":"body"},` +
		`{"kind":"circle","points":[0,1],"radius":0.5,"fill":"joint"}]}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
}

// TestSceneIsUsedAgain checks that a second drawing neither keeps nor moves anything of the first.
func TestSceneIsUsedAgain(t *testing.T) {
	var used, fresh envs.Scene
	used.Circle(envs.Goal, 1, 2, 3)
	used.Polygon(envs.Body, 1, 2, 3, 4, 5, 6)
	points := []float64{7, 8, 9, 10}
	for _, s := range []*envs.Scene{&used, &fresh} {
		s.Clear(envs.Bounds{MaxX: 1, MaxY: 1})
		s.Line(envs.Ground, 1, points...)
	}
	points[0] = 0
	if diff := cmp.Diff(fresh, used); diff != "" {
		t.Error(diff)
	}
}
