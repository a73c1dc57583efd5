package envs

import (
	"errors"
	"fmt"
	"slices"
)

// ErrScene is wrapped by the errors of Scene.Check.
var ErrScene = errors.New("bad scene")

// The kinds of shapes in space. Their points are x, y, z triples in meters, z up, and their color is Fill.
const (
	// Sphere has its center at Points[0:3] and Radius.
	Sphere Kind = "sphere"
	// Capsule is what is no further than Radius from the line between Points[0:3] and Points[3:6].
	Capsule Kind = "capsule"
	// Cylinder has flat ends with Radius, whose centers are Points[0:3] and Points[3:6].
	Cylinder Kind = "cylinder"
	// Box has its center at Points[0:3]. From there to the middle of three sides lead Points[3:6], Points[6:9] and
	// Points[9:12], at right angles to each other.
	Box Kind = "box"
	// Floor is the level plane through Points[0:3], in Fill, which fades far from the camera's target. A grid
	// of lines in Stroke goes through the point; Width is from one line to the next. A scene has one at most.
	Floor Kind = "floor"
)

// Limits of a scene in space.
const (
	// MaxSolids is how many shapes it has at most.
	MaxSolids = 1024
	// MaxReach is the largest magnitude of a coordinate, a radius and a width [m].
	MaxReach = 1e6
	// MinDistance and MaxDistance are those of a Camera [m].
	MinDistance, MaxDistance = 0.01, 1e5
)

// A Camera looks at a scene in space. Its angles are those of MuJoCo's free camera. The shorter side of a picture
// shows 45 degrees.
type Camera struct {
	// Target is the point in the middle of the picture: x, y, z [m]. One that follows a body is drawn with it.
	Target [3]float64 `json:"target"`
	// Distance is from the eye to Target [m]; 0 is that of flat scenes.
	Distance float64 `json:"distance"`
	// Azimuth is where it looks, seen from above: 0 is along x, 90 along y, with x to the right [degrees].
	Azimuth float64 `json:"azimuth"`
	// Elevation is how much it looks up, from -90, straight down, to 90 [degrees].
	Elevation float64 `json:"elevation"`
}

// InSpace reports whether the scene has a camera.
func (s *Scene) InSpace() bool { return s.Camera != Camera{} }

// Look empties the scene for a drawing in space, seen by c, in a picture of b's form. The memory is used again.
func (s *Scene) Look(b Bounds, c Camera) {
	s.Clear(b)
	s.Camera = c
}

// Floor adds a level floor through (x, y, z), with lines that are cell apart, or none if it is 0.
func (s *Scene) Floor(fill, stroke Role, cell, x, y, z float64) {
	sh := s.next(Floor, []float64{x, y, z})
	sh.Fill, sh.Stroke, sh.Width = fill, stroke, cell
}

// Sphere adds a sphere around center.
func (s *Scene) Sphere(fill Role, radius float64, center [3]float64) {
	sh := s.next(Sphere, center[:])
	sh.Fill, sh.Radius = fill, radius
}

// Capsule adds a capsule around the line between two points.
func (s *Scene) Capsule(fill Role, radius float64, from, to [3]float64) {
	s.between(Capsule, fill, radius, from, to)
}

// Cylinder adds a cylinder around the line between two points.
func (s *Scene) Cylinder(fill Role, radius float64, from, to [3]float64) {
	s.between(Cylinder, fill, radius, from, to)
}

func (s *Scene) between(kind Kind, fill Role, radius float64, from, to [3]float64) {
	sh := s.next(kind, []float64{from[0], from[1], from[2], to[0], to[1], to[2]})
	sh.Fill, sh.Radius = fill, radius
}

// Box adds a box with three half-axes at right angles.
func (s *Scene) Box(fill Role, center, x, y, z [3]float64) {
	s.next(Box, []float64{center[0], center[1], center[2], x[0], x[1], x[2], y[0], y[1], y[2], z[0], z[1], z[2]}).Fill = fill
}

// Solid adds a body as MuJoCo describes its geoms: by a size, its center, and the matrix of its axes, row by
// row (geom_size, geom_xpos, geom_xmat). The size of a Sphere is its radius; that of a Capsule or Cylinder
// its radius and half the length of its axis, the third one; that of a Box half of each side. It panics for
// other kinds.
func (s *Scene) Solid(kind Kind, fill Role, size, at [3]float64, axes [9]float64) {
	axis := func(i int, length float64) [3]float64 {
		return [3]float64{float64(axes[i] * length), float64(axes[3+i] * length), float64(axes[6+i] * length)}
	}
	switch kind {
	case Sphere:
		s.Sphere(fill, size[0], at)
	case Capsule, Cylinder:
		h := axis(2, size[1])
		s.between(kind, fill, size[0], [3]float64{at[0] - h[0], at[1] - h[1], at[2] - h[2]}, [3]float64{at[0] + h[0], at[1] + h[1], at[2] + h[2]})
	case Box:
		s.Box(fill, at, axis(0, size[0]), axis(1, size[1]), axis(2, size[2]))
	default:
		panic(fmt.Sprintf("envs: Solid of a %q", kind))
	}
}

// Check returns an error that wraps ErrScene if a scene cannot be shown as it is: a shape of an unknown kind,
// or of one that does not belong in a flat scene, or in space; numbers that are missing, not finite or out of
// range; colors that no page knows; more shapes than MaxSolids in space.
func (s *Scene) Check() error {
	if s.Bounds.MaxX-s.Bounds.MinX <= 0 || s.Bounds.MaxY-s.Bounds.MinY <= 0 || !finite(s.Bounds.MaxX-s.Bounds.MinX) || !finite(s.Bounds.MaxY-s.Bounds.MinY) {
		return fmt.Errorf("%w: its bounds are %+v", ErrScene, s.Bounds)
	}
	if s.InSpace() {
		if err := s.Camera.check(); err != nil {
			return err
		}
		if len(s.Shapes) > MaxSolids {
			return fmt.Errorf("%w: it has %d shapes, at most %d are shown in space", ErrScene, len(s.Shapes), MaxSolids)
		}
	}
	floors := 0
	for i := range s.Shapes {
		if err := s.Shapes[i].check(s.InSpace()); err != nil {
			return fmt.Errorf("%w: shape %d: %w", ErrScene, i, err)
		}
		if s.Shapes[i].Kind == Floor {
			floors++
		}
	}
	if floors > 1 {
		return fmt.Errorf("%w: it has %d floors, want one at most", ErrScene, floors)
	}
	return nil
}

func (c *Camera) check() error {
	switch {
	case !within(c.Distance, MinDistance, MaxDistance):
		return fmt.Errorf("%w: the camera's distance is %v, want %v to %v", ErrScene, c.Distance, MinDistance, float64(MaxDistance))
	case !within(c.Elevation, -90, 90):
		return fmt.Errorf("%w: the camera's elevation is %v, want -90 to 90", ErrScene, c.Elevation)
	case !within(c.Azimuth, -MaxReach, MaxReach):
		return fmt.Errorf("%w: the camera's azimuth is %v", ErrScene, c.Azimuth)
	}
	for _, x := range c.Target {
		if !within(x, -MaxReach, MaxReach) {
			return fmt.Errorf("%w: the camera's target is %v", ErrScene, c.Target)
		}
	}
	return nil
}

// form is how many numbers a kind of shape has, and whether it is of scenes in space.
type form struct {
	least, most int // of Points
	round       bool
	inSpace     bool
}

// forms has all kinds.
var forms = map[Kind]form{
	Line: {least: 4}, Polygon: {least: 6}, Circle: {least: 2, round: true},
	Sphere: {least: 3, most: 3, round: true, inSpace: true}, Capsule: {least: 6, most: 6, round: true, inSpace: true},
	Cylinder: {least: 6, most: 6, round: true, inSpace: true}, Box: {least: 12, most: 12, inSpace: true}, Floor: {least: 3, most: 3, inSpace: true},
}

// check says what is wrong with a shape.
func (sh *Shape) check(inSpace bool) error {
	f, ok := forms[sh.Kind]
	switch {
	case !ok:
		return fmt.Errorf("its kind is %q", sh.Kind)
	case f.inSpace && !inSpace:
		return fmt.Errorf("a %s is in space, and the scene has no camera", sh.Kind)
	case !f.inSpace && inSpace:
		return fmt.Errorf("a %s is flat, and the scene has a camera", sh.Kind)
	case len(sh.Points) < f.least || f.most > 0 && len(sh.Points) > f.most || f.most == 0 && len(sh.Points)%2 != 0:
		return fmt.Errorf("a %s of %d numbers", sh.Kind, len(sh.Points))
	case sh.Fill == "" && sh.Stroke == "", sh.Fill == "" && f.inSpace:
		return fmt.Errorf("a %s without a color", sh.Kind)
	}
	for _, r := range [2]Role{sh.Fill, sh.Stroke} {
		if r != "" && !slices.Contains(Roles(), r) {
			return fmt.Errorf("its color is %q", r)
		}
	}
	reach := float64(Unbounded)
	if inSpace {
		reach = MaxReach
	}
	for j, x := range sh.Points {
		if !within(x, -reach, reach) {
			return fmt.Errorf("its point %d is %v", j, x)
		}
	}
	if !within(sh.Radius, 0, reach) || f.inSpace && f.round && sh.Radius == 0 {
		return fmt.Errorf("its radius is %v", sh.Radius)
	}
	if !within(sh.Width, 0, reach) {
		return fmt.Errorf("its width is %v", sh.Width)
	}
	if sh.Kind == Box && !upright(sh.Points[3:]) {
		return fmt.Errorf("its axes %v are not at right angles, or have no length", sh.Points[3:])
	}
	return nil
}

// within reports whether x is a number in [low, high].
func within(x, low, high float64) bool { return low <= x && x <= high }

// upright reports whether three vectors have a length and are at right angles to each other, but for rounding.
func upright(v []float64) bool {
	dot := func(a, b []float64) float64 { return float64(a[0]*b[0]) + float64(a[1]*b[1]) + float64(a[2]*b[2]) }
	for i := range 3 {
		a, b := v[3*i:3*i+3], v[3*((i+1)%3):3*((i+1)%3)+3]
		if d := dot(a, b); !(dot(a, a) > 0) || float64(d*d) > float64(1e-6*float64(dot(a, a)*dot(b, b))) {
			return false
		}
	}
	return true
}
