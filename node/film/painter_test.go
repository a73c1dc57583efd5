package film

import (
	"errors"
	"image"
	"image/color"
	"math"
	"testing"

	"github.com/evoswarm/evoswarm/envs"
)

// view is 4 x 2 units; in a picture of 400 pixels a unit has 100.
var view = envs.Bounds{MinX: -2, MinY: -1, MaxX: 2, MaxY: 1}

func newPainter(t testing.TB, size image.Point, theme *Theme) *Painter {
	t.Helper()
	p, err := NewPainter(size, theme)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// sample is a scene with every kind of shape, moved to the right by x.
func sample(x float64) *envs.Scene {
	var s envs.Scene
	s.Clear(view)
	s.Polygon(envs.Terrain, -9, -9, 9, -9, 9, -0.5, -9, -0.5)
	s.Line(envs.Ground, 0, -2, -0.5, 2, -0.5)
	s.Polygon(envs.Body, x-0.5, -0.5, x+0.5, -0.5, x+0.5, 0.5, x-0.5, 0.5)
	s.Line(envs.Accent, 0.2, x, 0, x, 0.8)
	s.Circle(envs.Joint, x, 0, 0.2)
	return &s
}

// Each shape is where the scene says, in the color of its role, one over the other.
func TestPaint(t *testing.T) {
	for _, theme := range []*Theme{Light, Dark} {
		p := newPainter(t, image.Pt(400, 200+captionHeight(400)), theme)
		p.Paint(sample(1.5), "", "") // must leave nothing behind
		img := p.Paint(sample(0), "left", "right")
		for _, c := range []struct {
			x, y int
			want color.RGBA
		}{
			{2, 2, theme.Paper}, {200, 7, theme.Paper},
			{2, 198, theme.Roles[envs.Terrain]}, {397, 160, theme.Roles[envs.Terrain]}, {200, 155, theme.Roles[envs.Terrain]},
			{155, 105, theme.Roles[envs.Body]}, {245, 145, theme.Roles[envs.Body]}, {350, 105, theme.Paper}, {350, 45, theme.Paper},
			{200, 30, theme.Roles[envs.Accent]}, {193, 70, theme.Roles[envs.Accent]}, {207, 70, theme.Roles[envs.Accent]}, {187, 70, theme.Roles[envs.Body]},
			{200, 12, theme.Roles[envs.Accent]}, // the round end
			{200, 100, theme.Roles[envs.Joint]}, {218, 100, theme.Roles[envs.Joint]}, {200, 118, theme.Roles[envs.Joint]}, {222, 100, theme.Roles[envs.Body]},
			{2, 200, theme.Rule}, {2, 203, theme.Paper},
		} {
			if got := img.RGBAAt(c.x, c.y); got != c.want {
				t.Errorf("pixel %d, %d is %v, want %v", c.x, c.y, got, c.want)
			}
		}
		// The thinnest line, 1.5 pixels, is the same from the left edge to the right one.
		for y := 148; y < 153; y++ {
			if a, b := img.RGBAAt(0, y), img.RGBAAt(399, y); a != b || a != img.RGBAAt(100, y) {
				t.Errorf("row %d goes from %v to %v", y, a, b)
			}
		}
	}
}

// A world in a picture of another form is in the middle, and nothing beyond its bounds is seen.
func TestPaintInTheMiddle(t *testing.T) {
	for _, c := range []struct {
		size    image.Point
		in, out image.Point
	}{
		{image.Pt(800, 200), image.Pt(205, 190), image.Pt(195, 190)},
		{image.Pt(800, 200), image.Pt(595, 190), image.Pt(605, 190)},
		{image.Pt(400, 600), image.Pt(5, 395), image.Pt(5, 405)},
	} {
		size := c.size.Add(image.Pt(0, captionHeight(c.size.X)))
		img := newPainter(t, size, Light).Paint(sample(0), "", "")
		if got := img.RGBAAt(c.in.X, c.in.Y); got != Light.Roles[envs.Terrain] {
			t.Errorf("%v: %v within the bounds is %v", c.size, c.in, got)
		}
		if got := img.RGBAAt(c.out.X, c.out.Y); got != Light.Paper {
			t.Errorf("%v: %v beyond the bounds is %v", c.size, c.out, got)
		}
	}
}

// inked counts the pixels of a caption that are not paper, in its left and in its right half.
func inked(img *image.RGBA, theme *Theme) (left, right int) {
	size := img.Rect.Size()
	for y := size.Y - captionHeight(size.X) + 1; y < size.Y; y++ {
		for x := range size.X {
			switch {
			case img.RGBAAt(x, y) == theme.Paper:
			case x < size.X/2:
				left++
			default:
				right++
			}
		}
	}
	return left, right
}

// The caption is under the scene; what has no room is left out, the right text last.
func TestCaption(t *testing.T) {
	for _, c := range []struct {
		width       int
		left, right bool
	}{{600, true, true}, {100, false, true}, {32, false, false}, {3000, true, true}} {
		p := newPainter(t, image.Pt(c.width, c.width/2+captionHeight(c.width)), Light)
		left, right := inked(p.Paint(sample(0), "Cart Pole · generation 7", "step 9"), Light)
		if left > 0 != c.left || right > 0 != c.right {
			t.Errorf("%d wide: %d pixels of the left text, %d of the right one", c.width, left, right)
		}
	}
}

// Values that no picture can show do not stop a film: a shape that is not a number is left out, others are cut.
func TestPaintWild(t *testing.T) {
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e300, -1e300, 1e9} {
		for _, change := range []func(s *envs.Scene){
			func(s *envs.Scene) { s.Line(envs.Goal, 0, 0, 0, x, 1) },
			func(s *envs.Scene) { s.Line(envs.Goal, math.Abs(x), 0, 0, 1, 1) },
			func(s *envs.Scene) { s.Polygon(envs.Goal, x, 0, 0, x, -x, -x) },
			func(s *envs.Scene) { s.Circle(envs.Goal, x, 0, 1) },
			func(s *envs.Scene) { s.Circle(envs.Goal, 0, 0, math.Abs(x)) },
			func(s *envs.Scene) { s.Bounds.MaxX = x },
			func(s *envs.Scene) { s.Bounds = envs.Bounds{} },
			func(s *envs.Scene) { s.Shapes = append(s.Shapes, envs.Shape{Kind: envs.Line, Stroke: envs.Goal}) },
			func(s *envs.Scene) { s.Polygon("no such role", 0, 0, 1, 0, 1, 1) },
		} {
			s := sample(0)
			change(s)
			newPainter(t, image.Pt(64, 64), Light).Paint(s, "a", "b")
		}
	}
	s := sample(0)
	s.Polygon(envs.Goal, math.NaN(), 0, 1, 0, 1, 1)
	p := newPainter(t, image.Pt(400, 228), Light)
	if got := p.Paint(s, "", "").RGBAAt(200, 100); got != Light.Roles[envs.Joint] {
		t.Errorf("the middle is %v next to a shape that is not a number", got)
	}
}

func TestSizes(t *testing.T) {
	for _, c := range []struct {
		size image.Point
		ok   bool
	}{{image.Pt(MinSide, MinSide), true}, {image.Pt(MaxSide, MaxSide), true}, {image.Pt(MinSide-1, 100), false}, {image.Pt(100, MaxSide+1), false}, {image.Point{}, false}, {image.Pt(-5, -5), false}} {
		if err := CheckSize(c.size); errors.Is(err, ErrSize) == c.ok || (err == nil) != c.ok {
			t.Errorf("%v: %v", c.size, err)
		}
	}
	if _, err := NewPainter(image.Pt(1<<20, 1<<20), Light); !errors.Is(err, ErrSize) {
		t.Errorf("a painter of 2^40 pixels: %v", err)
	}
	for _, c := range []struct {
		view envs.Bounds
		want image.Point
	}{{view, image.Pt(600, 326)}, {envs.Bounds{MaxX: 1, MaxY: 1}, image.Pt(400, 426)}, {envs.Bounds{MaxX: 1, MaxY: 1000}, image.Pt(32, 426)}} {
		if got := SizeFor(c.view, 600, 400); got != c.want {
			t.Errorf("%v: got %v, want %v", c.view, got, c.want)
		}
	}
}
