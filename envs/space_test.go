package envs_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evoswarm/evoswarm/envs"
)

// form is that of the pictures here.
var form = envs.Bounds{MaxX: 3, MaxY: 2}

// solids is a scene with every kind of shape in space.
func solids() *envs.Scene {
	var s envs.Scene
	s.Look(form, envs.Camera{Target: [3]float64{0, 0, 1}, Distance: 4, Azimuth: 90, Elevation: -20})
	s.Floor(envs.Terrain, envs.Ground, 1, 0, 0, 0)
	s.Sphere(envs.Joint, 0.5, [3]float64{1, 0, 2})
	s.Capsule(envs.Body, 0.25, [3]float64{0, 0, 1}, [3]float64{0, 0, 2})
	s.Cylinder(envs.Goal, 0.1, [3]float64{-1, 0, 0}, [3]float64{-1, 0, 0.5})
	s.Solid(envs.Box, envs.Accent, [3]float64{1, 2, 3}, [3]float64{4, 5, 6}, [9]float64{1, 0, 0, 0, 1, 0, 0, 0, 1})
	return &s
}

func TestSpaceJSON(t *testing.T) {
	got, err := json.Marshal(solids())
	if err != nil {
		t.Fatal(err)
	}
	want := `{"bounds":{"min_x":0,"min_y":0,"max_x":3,"max_y":2},` +
		`"camera":{"target":[0,0,1],"distance":4,"azimuth":90,"elevation":-20},"shapes":[` +
		`{"kind":"floor","points":[0,0,0],"width":1,"fill":"terrain","stroke":"ground"},` +
		`{"kind":"sphere","points":[1,0,2],"radius":0.5,"fill":"joint"},` +
		`{"kind":"capsule","points":[0,0,1,0,0,2],"radius":0.25,"fill":"body"},` +
		`{"kind":"cylinder","points":[-1,0,0,-1,0,0.5],"radius":0.1,"fill":"goal"},` +
		`{"kind":"box","points":[4,5,6,1,0,0,0,2,0,0,0,3],"fill":"accent"}]}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Error(diff)
	}
	var back envs.Scene
	if err := json.Unmarshal(got, &back); err != nil || cmp.Diff(&back, solids()) != "" {
		t.Errorf("reading it again: %v %s", err, cmp.Diff(&back, solids()))
	}
}

// A scene that was in space and is flat now has no camera, and the other way around nothing flat.
func TestSpaceAndFlat(t *testing.T) {
	s := solids()
	s.Clear(form)
	s.Circle(envs.Body, 1, 1, 1)
	if s.InSpace() || s.Check() != nil {
		t.Errorf("cleared, its camera is %+v: %v", s.Camera, s.Check())
	}
	s.Look(form, envs.Camera{Distance: 1})
	if !s.InSpace() || s.Check() != nil || len(s.Shapes) != 0 {
		t.Errorf("in space, it has %d shapes: %v", len(s.Shapes), s.Check())
	}
}

// Solid takes the sizes, centers and matrices of MuJoCo's geoms.
func TestSolid(t *testing.T) {
	// A quarter turn around x: the third axis is along -y, the second along z.
	turned := [9]float64{1, 0, 0, 0, 0, -1, 0, 1, 0}
	at := [3]float64{10, 20, 30}
	for _, c := range []struct {
		kind   envs.Kind
		points []float64
		radius float64
	}{
		{envs.Sphere, []float64{10, 20, 30}, 1},
		{envs.Capsule, []float64{10, 22, 30, 10, 18, 30}, 1},
		{envs.Cylinder, []float64{10, 22, 30, 10, 18, 30}, 1},
		{envs.Box, []float64{10, 20, 30, 1, 0, 0, 0, 0, 2, 0, -3, 0}, 0},
	} {
		var s envs.Scene
		s.Look(form, envs.Camera{Distance: 1})
		s.Solid(c.kind, envs.Body, [3]float64{1, 2, 3}, at, turned)
		if err := s.Check(); err != nil {
			t.Error(err)
		}
		got := s.Shapes[0]
		if diff := cmp.Diff(envs.Shape{Kind: c.kind, Points: c.points, Radius: c.radius, Fill: envs.Body}, got); diff != "" {
			t.Errorf("%s: %s", c.kind, diff)
		}
	}
	defer func() {
		if got, _ := recover().(string); !strings.Contains(got, `Solid of a "line"`) {
			t.Errorf("a line: %q", got)
		}
	}()
	new(envs.Scene).Solid(envs.Line, envs.Body, at, at, turned)
}

// Each thing that no page can show is refused, by an error that names it.
func TestSceneCheck(t *testing.T) {
	if err := solids().Check(); err != nil {
		t.Fatal(err)
	}
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		change func(s *envs.Scene)
		want   string
	}{
		{func(s *envs.Scene) { s.Bounds = envs.Bounds{} }, "bounds are"},
		{func(s *envs.Scene) { s.Bounds.MaxX = nan }, "bounds are"},
		{func(s *envs.Scene) { s.Bounds.MaxX = inf }, "bounds are"},
		{func(s *envs.Scene) { s.Camera.Distance = 0 }, "the camera's distance is 0"},
		{func(s *envs.Scene) { s.Camera.Distance = -1 }, "the camera's distance is -1"},
		{func(s *envs.Scene) { s.Camera.Distance = nan }, "the camera's distance is NaN"},
		{func(s *envs.Scene) { s.Camera.Distance = inf }, "the camera's distance is +Inf"},
		{func(s *envs.Scene) { s.Camera.Elevation = 91 }, "the camera's elevation is 91, want -90 to 90"},
		{func(s *envs.Scene) { s.Camera.Elevation = nan }, "the camera's elevation is NaN"},
		{func(s *envs.Scene) { s.Camera.Azimuth = inf }, "the camera's azimuth is +Inf"},
		{func(s *envs.Scene) { s.Camera.Target[1] = nan }, "the camera's target is [0 NaN 1]"},
		{func(s *envs.Scene) { s.Camera.Target[2] = 2e6 }, "the camera's target is"},
		{func(s *envs.Scene) { s.Camera = envs.Camera{} }, "shape 0: a floor is in space, and the scene has no camera"},
		{func(s *envs.Scene) { s.Circle(envs.Body, 0, 0, 1) }, "shape 5: a circle is flat, and the scene has a camera"},
		{func(s *envs.Scene) { s.Shapes[1].Kind = "torus" }, `shape 1: its kind is "torus"`},
		{func(s *envs.Scene) { s.Shapes[1].Points = nil }, "shape 1: a sphere of 0 numbers"},
		{func(s *envs.Scene) { s.Shapes[2].Points = s.Shapes[2].Points[:5] }, "shape 2: a capsule of 5 numbers"},
		{func(s *envs.Scene) { s.Shapes[2].Points = append(s.Shapes[2].Points, 1) }, "shape 2: a capsule of 7 numbers"},
		{func(s *envs.Scene) { s.Shapes[3].Points[4] = nan }, "shape 3: its point 4 is NaN"},
		{func(s *envs.Scene) { s.Shapes[3].Points[4] = inf }, "shape 3: its point 4 is +Inf"},
		{func(s *envs.Scene) { s.Shapes[3].Points[4] = 1e7 }, "shape 3: its point 4 is 1e+07"},
		{func(s *envs.Scene) { s.Shapes[1].Radius = nan }, "shape 1: its radius is NaN"},
		{func(s *envs.Scene) { s.Shapes[1].Radius = 0 }, "shape 1: its radius is 0"},
		{func(s *envs.Scene) { s.Shapes[1].Radius = -1 }, "shape 1: its radius is -1"},
		{func(s *envs.Scene) { s.Shapes[0].Width = nan }, "shape 0: its width is NaN"},
		{func(s *envs.Scene) { s.Shapes[0].Width = -1 }, "shape 0: its width is -1"},
		{func(s *envs.Scene) { s.Shapes[1].Fill = "" }, "shape 1: a sphere without a color"},
		{func(s *envs.Scene) { s.Shapes[1].Fill = "pink" }, `shape 1: its color is "pink"`},
		{func(s *envs.Scene) { s.Shapes[0].Stroke = "pink" }, `shape 0: its color is "pink"`},
		{func(s *envs.Scene) { s.Shapes[4].Points[4] = 1 }, "shape 4: its axes [1 1 0 0 2 0 0 0 3] are not at right angles"},
		{func(s *envs.Scene) { s.Shapes[4].Points[3] = 0 }, "or have no length"},
		{func(s *envs.Scene) { s.Floor(envs.Terrain, envs.Ground, 1, 0, 0, 0) }, "it has 2 floors"},
		{func(s *envs.Scene) {
			for range envs.MaxSolids {
				s.Sphere(envs.Body, 1, [3]float64{})
			}
		}, "it has 1029 shapes, at most 1024"},
	} {
		s := solids()
		c.change(s)
		if err := s.Check(); !errors.Is(err, envs.ErrScene) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
	for _, c := range []struct {
		change func(s *envs.Scene)
		want   string
	}{
		{func(s *envs.Scene) { s.Line(envs.Ground, 0, 1, 2, 3) }, "a line of 3 numbers"},
		{func(s *envs.Scene) { s.Line(envs.Ground, 0, 1, 2, nan, 4) }, "its point 2 is NaN"},
		{func(s *envs.Scene) { s.Circle("", 0, 0, 1) }, "a circle without a color"},
		{func(s *envs.Scene) { s.Polygon(envs.Body, 0, 0, 1, 1) }, "a polygon of 4 numbers"},
		{func(s *envs.Scene) { s.Circle(envs.Body, 0, 0, nan) }, "its radius is NaN"},
	} {
		var s envs.Scene
		s.Clear(form)
		c.change(&s)
		if err := s.Check(); !errors.Is(err, envs.ErrScene) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("flat: got %v, want %q", err, c.want)
		}
	}
}

// A drawing in space uses the memory of the one before.
func TestSpaceIsUsedAgain(t *testing.T) {
	s := solids()
	c := s.Camera
	if n := testing.AllocsPerRun(100, func() {
		s.Look(form, c)
		s.Floor(envs.Terrain, envs.Ground, 1, 0, 0, 0)
		s.Capsule(envs.Body, 1, [3]float64{}, [3]float64{0, 0, 1})
	}); n != 0 {
		t.Errorf("it allocates %v times", n)
	}
}
