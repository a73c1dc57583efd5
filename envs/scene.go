package envs

import "github.com/evoswarm/evoswarm/internal/exact"

// A Scene is a drawing as data: shapes in world units with named color roles. Scale and colors are chosen
// where it is shown. It is flat, with y up, or in space, with z up: then it has a Camera.
type Scene struct {
	// Bounds is the part of a flat world to show. What is beyond it is cut off. Of a scene in space it is the
	// form of the picture, width to height.
	Bounds Bounds `json:"bounds"`
	// Camera is from where a scene in space is seen; the zero value is that of flat scenes.
	Camera Camera `json:"camera,omitzero"`
	// Shapes of a flat scene are drawn one over the other, the first at the back. In space the nearest hides
	// the others.
	Shapes []Shape `json:"shapes"`
}

// Bounds is a rectangle in world units.
type Bounds struct {
	MinX float64 `json:"min_x"`
	MinY float64 `json:"min_y"`
	MaxX float64 `json:"max_x"`
	MaxY float64 `json:"max_y"`
}

// Kind says what a Shape is.
type Kind string

// The kinds of flat shapes.
const (
	// Line is an open path through Points.
	Line Kind = "line"
	// Polygon is a closed path through Points.
	Polygon Kind = "polygon"
	// Circle has its center at Points[0:2] and Radius.
	Circle Kind = "circle"
)

// Role names a color by what it is for. The zero value draws nothing.
type Role string

// The color roles that a page or a plot has to know.
const (
	// Ground is what does not move.
	Ground Role = "ground"
	// Body is the main moving part.
	Body Role = "body"
	// Accent is a second moving part that must stand out from Body.
	Accent Role = "accent"
	// Joint is where parts are connected.
	Joint Role = "joint"
	// Goal is what has to be reached.
	Goal Role = "goal"
	// Terrain is ground that fills an area, behind everything else.
	Terrain Role = "terrain"
	// Flame is what an engine blows out.
	Flame Role = "flame"
	// Ray is a line along which a sensor looks, faint so that it hides nothing.
	Ray Role = "ray"
)

// Roles lists the color roles.
func Roles() []Role { return []Role{Ground, Body, Accent, Joint, Goal, Terrain, Flame, Ray} }

// Shape is one element of a Scene.
type Shape struct {
	Kind Kind `json:"kind"`
	// Points are x, y pairs in world units; in space x, y, z triples.
	Points []float64 `json:"points"`
	// Radius in world units of what is round, else 0.
	Radius float64 `json:"radius,omitempty"`
	// Width of the line or outline in world units; 0 is the thinnest line there is.
	Width float64 `json:"width,omitempty"`
	// Fill and Stroke are the colors of the inside and of the outline.
	Fill   Role `json:"fill,omitempty"`
	Stroke Role `json:"stroke,omitempty"`
}

// Clear empties the scene for a flat drawing within b. The memory is used again.
func (s *Scene) Clear(b Bounds) {
	s.Bounds, s.Camera = b, Camera{}
	s.Shapes = s.Shapes[:0]
}

// Line adds an open path through the x, y pairs.
func (s *Scene) Line(stroke Role, width float64, points ...float64) {
	sh := s.next(Line, points)
	sh.Stroke, sh.Width = stroke, width
}

// Polygon adds a filled polygon with the x, y pairs as corners.
func (s *Scene) Polygon(fill Role, points ...float64) {
	s.next(Polygon, points).Fill = fill
}

// Circle adds a filled circle.
func (s *Scene) Circle(fill Role, x, y, radius float64) {
	sh := s.next(Circle, []float64{x, y})
	sh.Fill, sh.Radius = fill, radius
}

// Bar adds a filled bar of the given width from (x0, y0) to (x1, y1).
// It adds nothing if the ends are the same.
func (s *Scene) Bar(fill Role, width, x0, y0, x1, y1 float64) {
	dx, dy, ok := unit(x1-x0, y1-y0)
	if !ok {
		return
	}
	half := width / 2
	nx, ny := float64(-dy*half), float64(dx*half)
	s.Polygon(fill, x0+nx, y0+ny, x0-nx, y0-ny, x1-nx, y1-ny, x1+nx, y1+ny)
}

// next adds a shape with a copy of points, in the memory of an earlier drawing if there is any.
func (s *Scene) next(k Kind, points []float64) *Shape {
	if len(s.Shapes) < cap(s.Shapes) {
		s.Shapes = s.Shapes[:len(s.Shapes)+1]
	} else {
		s.Shapes = append(s.Shapes, Shape{})
	}
	sh := &s.Shapes[len(s.Shapes)-1]
	*sh = Shape{Kind: k, Points: append(sh.Points[:0], points...)}
	return sh
}

// unit returns the direction of (x, y) with length 1; ok is false if it has none.
func unit(x, y float64) (ux, uy float64, ok bool) {
	n := exact.Sqrt(float64(x*x) + float64(y*y))
	if n == 0 {
		return 0, 0, false
	}
	return x / n, y / n, true
}
