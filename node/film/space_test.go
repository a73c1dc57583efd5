package film

import (
	"bytes"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evoswarm/evoswarm/envs"
)

var updatePictures = flag.Bool("film.update", false, "write testdata/*.png again")

// room is a camera's picture, without a caption.
var room = envs.Bounds{MaxX: 4, MaxY: 3}

// figure is a body of as many parts as a humanoid has, between a box and a cylinder.
func figure() *envs.Scene {
	var s envs.Scene
	s.Look(room, envs.Camera{Target: [3]float64{0, 0, 0.8}, Distance: 3.2, Azimuth: 120, Elevation: -20})
	s.Floor(envs.Terrain, envs.Ground, 0.5, 0, 0, 0)
	s.Capsule(envs.Body, 0.07, [3]float64{0, -0.07, 1.4}, [3]float64{0, 0.07, 1.4})
	s.Sphere(envs.Accent, 0.09, [3]float64{0, 0, 1.59})
	s.Capsule(envs.Body, 0.06, [3]float64{-0.01, -0.06, 1.28}, [3]float64{-0.01, 0.06, 1.28})
	s.Capsule(envs.Body, 0.06, [3]float64{-0.02, -0.06, 1.14}, [3]float64{-0.02, 0.06, 1.14})
	s.Capsule(envs.Body, 0.09, [3]float64{-0.02, -0.07, 0.98}, [3]float64{-0.02, 0.07, 0.98})
	for _, y := range []float64{-1, 1} {
		hip, knee, foot := [3]float64{-0.02, 0.1 * y, 0.94}, [3]float64{0.15, 0.12 * y, 0.6}, [3]float64{-0.05, 0.12 * y, 0.2}
		s.Capsule(envs.Body, 0.06, hip, knee)
		s.Sphere(envs.Joint, 0.065, knee)
		s.Capsule(envs.Body, 0.049, knee, foot)
		s.Sphere(envs.Body, 0.075, [3]float64{-0.05, 0.12 * y, 0.1})
		shoulder, elbow, hand := [3]float64{0, 0.17 * y, 1.46}, [3]float64{0.1 * y, 0.33 * y, 1.3}, [3]float64{0.3, 0.25 * y, 1.45}
		s.Capsule(envs.Body, 0.04, shoulder, elbow)
		s.Sphere(envs.Joint, 0.045, elbow)
		s.Capsule(envs.Body, 0.031, elbow, hand)
		s.Sphere(envs.Accent, 0.04, hand)
	}
	s.Box(envs.Goal, [3]float64{1, 0.7, 0.15}, [3]float64{0.2, 0.1, 0}, [3]float64{-0.1, 0.2, 0}, [3]float64{0, 0, 0.15})
	s.Cylinder(envs.Flame, 0.2, [3]float64{-0.9, 0.2, 0}, [3]float64{-0.9, 0.2, 0.4})
	return &s
}

// seen is figure from elsewhere.
func seen(azimuth, elevation, distance float64) *envs.Scene {
	s := figure()
	s.Camera.Azimuth, s.Camera.Elevation, s.Camera.Distance = azimuth, elevation, distance
	return s
}

// taken is the picture of a scene.
func taken(s *envs.Scene, size image.Point, theme *Theme) *image.RGBA {
	img := image.NewRGBA(image.Rectangle{Max: size})
	new(caster).cast(img, img.Rect, s, theme)
	return img
}

// The pictures are those in testdata, pixel for pixel, on every machine.
func TestSpacePictures(t *testing.T) {
	near := figure()
	near.Camera.Distance = 0.6 // the eye is between the arms
	for _, c := range []struct {
		name  string
		scene *envs.Scene
		theme *Theme
	}{
		{"figure-light", figure(), Light}, {"figure-dark", figure(), Dark}, {"above", seen(0, -90, 4), Light}, {"below", seen(45, 30, 3), Light}, {"near", near, Light},
	} {
		got := taken(c.scene, image.Pt(160, 120), c.theme)
		path := filepath.Join("testdata", c.name+".png")
		if *updatePictures {
			var b bytes.Buffer
			if err := png.Encode(&b, got); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		want, err := png.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		for y := range 120 {
			for x := range 160 {
				if w := color.RGBAModel.Convert(want.At(x, y)); got.RGBAAt(x, y) != w {
					t.Fatalf("%s: pixel %d, %d is %v, want %v (-film.update writes what it is)", c.name, x, y, got.RGBAAt(x, y), w)
				}
			}
		}
	}
}

// A painter draws above the caption; what it drew before leaves nothing behind, in space or flat.
func TestPaintSpace(t *testing.T) {
	size := image.Pt(160, 120+captionHeight(160))
	p := newPainter(t, size, Light)
	for range 2 {
		p.Paint(sample(1), "", "")
		p.Paint(seen(10, -40, 2), "before", "before")
		got := p.Paint(figure(), "", "")
		want := taken(figure(), image.Pt(160, 120), Light)
		for y := range 120 {
			if !bytes.Equal(got.Pix[got.PixOffset(0, y):got.PixOffset(160, y)], want.Pix[want.PixOffset(0, y):want.PixOffset(0, y)+640]) {
				t.Fatalf("row %d is another", y)
			}
		}
	}
	fresh := newPainter(t, size, Light).Paint(sample(1), "", "")
	if !bytes.Equal(flat(p.Paint(sample(1), "", "")), flat(fresh)) {
		t.Error("a flat picture after one in space is another")
	}
}

// Solids are where the camera of MuJoCo shows them: at azimuth 90 x is to the right, z up, and y away.
func TestWhereThingsAre(t *testing.T) {
	var s envs.Scene
	s.Look(room, envs.Camera{Target: [3]float64{0, 0, 1}, Distance: 10, Azimuth: 90})
	s.Sphere(envs.Body, 0.1, [3]float64{0, 0, 1})
	s.Sphere(envs.Accent, 0.1, [3]float64{1, 0, 1})
	s.Sphere(envs.Joint, 0.1, [3]float64{0, 0, 2})
	s.Sphere(envs.Flame, 0.4, [3]float64{0, 1, 1}) // behind the first
	img := taken(&s, image.Pt(400, 300), Light)
	unit := field * 150 / 10 // pixels of a meter
	for _, c := range []struct {
		x, y float64
		role envs.Role
	}{{0, 0, envs.Body}, {1, 0, envs.Accent}, {0, 1, envs.Joint}, {-0.25, 0, envs.Flame}, {-1, 0, ""}, {0, -1, ""}} {
		got := img.RGBAAt(int(200+c.x*unit), int(150-c.y*unit))
		if c.role == "" && got == Light.Paper || c.role != "" && shadeOf(got, Light.Roles[c.role]) {
			continue
		}
		t.Errorf("at %v, %v is %v, want a shade of %q", c.x, c.y, got, c.role)
	}
}

// shadeOf reports whether light gives the color base that shade.
func shadeOf(got, base color.RGBA) bool {
	for i := range 201 {
		want := rgbOf(base).lit(float64(i-100) / 100).rounded()
		if max(gap(got.R, want.R), gap(got.G, want.G), gap(got.B, want.B)) <= 1 {
			return true
		}
	}
	return false
}

// depth is how far p is from the surface of a shape, negative inside: written in another way than hit.
func depth(sh *envs.Shape, p vector) float64 {
	a := at(sh.Points)
	if sh.Kind == envs.Box {
		most := math.Inf(-1)
		for i := range 3 {
			side := at(sh.Points[3+3*i:])
			most = max(most, math.Abs(p.minus(a).dot(side.unit()))-side.length())
		}
		return most
	}
	if sh.Kind == envs.Sphere {
		return p.minus(a).length() - sh.Radius
	}
	axis := at(sh.Points[3:]).minus(a)
	y := p.minus(a).dot(axis.unit())
	if sh.Kind == envs.Capsule {
		return p.minus(a).minus(axis.unit().times(min(max(y, 0), axis.length()))).length() - sh.Radius
	}
	return max(p.minus(a).minus(axis.unit().times(y)).length()-sh.Radius, -y, y-axis.length())
}

// randomSolid draws a shape near the origin.
func randomSolid(rng *rand.Rand) *envs.Shape {
	var s envs.Scene
	p := func() [3]float64 { return [3]float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()} }
	radius := 0.1 + rng.Float64()
	switch rng.IntN(4) {
	case 0:
		s.Sphere(envs.Body, radius, p())
	case 1:
		s.Capsule(envs.Body, radius, p(), p())
	case 2:
		s.Cylinder(envs.Body, radius, p(), p())
	default:
		ca, sa := math.Cos(radius*9), math.Sin(radius*9)
		cb, sb := math.Cos(radius*77), math.Sin(radius*77)
		s.Solid(envs.Box, envs.Body, [3]float64{0.1 + rng.Float64(), 0.1 + rng.Float64(), 0.1 + rng.Float64()}, p(),
			[9]float64{ca, -sa * cb, sa * sb, sa, ca * cb, -ca * sb, 0, sb, cb})
	}
	return &s.Shapes[0]
}

// A ray enters a solid where its surface is and no earlier, and misses it only if it never gets inside.
func TestHits(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	hits := 0
	for range 20_000 {
		sh := randomSolid(rng)
		s := newSolid(sh, rgb{})
		o := vector{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}.unit().times(6)
		d := vector{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}.minus(o).times(0.1 + rng.Float64())
		if rng.IntN(4) == 0 && s.square > 0 { // along the axis
			d = s.axis.times(math.Copysign(1, rng.Float64()-0.5))
			o = s.a.minus(d.times(5)).plus(vector{0.3 * rng.NormFloat64(), 0.3 * rng.NormFloat64(), 0.3 * rng.NormFloat64()})
		}
		if depth(sh, o) < 1e-9 {
			continue // from within nothing is seen
		}
		got := s.hit(o, d)
		last := min(got, 20)
		for i := range 200 { // nothing is before it
			if at := last * float64(i) / 200; depth(sh, o.plus(d.times(at))) < -1e-6 {
				t.Fatalf("%+v: a ray from %v along %v hits at %v, and is inside at %v", sh, o, d, got, at)
			}
		}
		if math.IsInf(got, 1) {
			continue
		}
		hits++
		p := o.plus(d.times(got))
		if off := depth(sh, p); math.Abs(off) > 1e-6 {
			t.Fatalf("%+v: a ray from %v along %v hits at %v, which is %v away", sh, o, d, got, off)
		}
		n := s.normal(p)
		if math.Abs(n.length()-1) > 1e-9 || math.Abs(depth(sh, p.plus(n.times(1e-4)))-1e-4) > 2e-6 || n.dot(d) > 1e-3*d.length() {
			t.Fatalf("%+v: at %v the normal is %v", sh, p, n)
		}
	}
	if hits < 4000 {
		t.Errorf("%d rays hit", hits)
	}
}

// Where a solid is looked for, in the picture and on the floor, is where it can be: a picture that looks
// everywhere is the same.
func TestExtents(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	size := image.Pt(80, 60)
	for i := range 300 {
		var s envs.Scene
		s.Look(room, envs.Camera{Distance: 0.5 + 8*rng.Float64(), Azimuth: 360 * rng.Float64(), Elevation: 180*rng.Float64() - 90})
		s.Floor(envs.Terrain, envs.Ground, 1, 0, 0, -1)
		for range 1 + rng.IntN(3) {
			s.Shapes = append(s.Shapes, *randomSolid(rng))
		}
		var near, everywhere caster
		img, all := image.NewRGBA(image.Rectangle{Max: size}), image.NewRGBA(image.Rectangle{Max: size})
		near.cast(img, img.Rect, &s, Light)
		everywhere.prepare(&s, size, Light)
		for j := range everywhere.solids {
			k := &everywhere.solids[j]
			k.within = all.Rect
			k.minX, k.minY, k.maxX, k.maxY = math.Inf(-1), math.Inf(-1), math.Inf(1), math.Inf(1)
		}
		everywhere.meet(0)
		for y := range size.Y {
			near.meet(y)
			for x := range size.X {
				a, _ := near.look(float64(x)+0.5, float64(y)+0.5)
				if b, _ := everywhere.look(float64(x)+0.5, float64(y)+0.5); a != b {
					t.Fatalf("scene %d, pixel %d, %d: %v, looking everywhere %v\n%+v", i, x, y, a, b, s)
				}
			}
		}
	}
}

// What Check refuses is left out, and stops no film.
func TestPaintWildSpace(t *testing.T) {
	want := taken(figure(), image.Pt(64, 48), Light)
	nan := math.NaN()
	for i, change := range []func(s *envs.Scene){
		func(s *envs.Scene) { s.Sphere(envs.Body, nan, [3]float64{}) },
		func(s *envs.Scene) { s.Sphere(envs.Body, 1, [3]float64{nan}) },
		func(s *envs.Scene) { s.Capsule(envs.Body, 1, [3]float64{}, [3]float64{math.Inf(1)}) },
		func(s *envs.Scene) { s.Sphere("pink", 1, [3]float64{}) },
		func(s *envs.Scene) { s.Circle(envs.Body, 0, 0, 1) },
		func(s *envs.Scene) { s.Shapes = append(s.Shapes, envs.Shape{Kind: envs.Box, Fill: envs.Body}) },
	} {
		s := figure()
		change(s)
		if got := taken(s, image.Pt(64, 48), Light); !bytes.Equal(got.Pix, want.Pix) {
			t.Errorf("%d: it is seen", i)
		}
	}
	for _, x := range []float64{nan, math.Inf(1), 1e300, 1e6, -1e6, 1e-300} {
		s := figure()
		s.Capsule(envs.Body, math.Abs(x), [3]float64{x, x, x}, [3]float64{-x, 0, x})
		s.Cylinder(envs.Body, 1, [3]float64{}, [3]float64{})
		newPainter(t, image.Pt(64, 64), Light).Paint(s, "a", "b")
		s.Camera.Target[0] = x
		newPainter(t, image.Pt(64, 64), Light).Paint(s, "a", "b")
		s.Camera.Elevation = x
		newPainter(t, image.Pt(MinSide, MinSide), Light).Paint(s, "a", "b")
	}
	s := figure()
	s.Camera.Distance = nan
	p := newPainter(t, image.Pt(64, 64), Light)
	if got := p.Paint(s, "", "").RGBAAt(30, 20); got != Light.Paper {
		t.Errorf("a camera that is nowhere sees %v", got)
	}
}

// The page has the same light and the same floor.
func TestLightIsThePages(t *testing.T) {
	source, err := os.ReadFile("../../web/src/lens.ts")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{"bright": bright, "dim": dim, "shadow": shadow, "fadeFrom": fadeFrom, "fadeTo": fadeTo, "lineWidth": lineWidth} {
		if line := fmt.Sprintf("export const %s = %v;", name, want); !strings.Contains(string(source), line) {
			t.Errorf("lens.ts has no %q", line)
		}
	}
}

// A GIF of a scene in space has the colors that light makes, but for little.
func TestSpacePalette(t *testing.T) {
	for _, theme := range []*Theme{Light, Dark} {
		p := newSpacePalette(theme, figure())
		if n := len(p.colors); n > 256 || n < 200 {
			t.Errorf("%d colors", n)
		}
		img := taken(figure(), image.Pt(480, 360), theme)
		var worst uint8
		var off []int
		for y := range 360 {
			for x := range 480 {
				c := img.RGBAAt(x, y)
				near := p.colors[p.index(c)].(color.RGBA)
				d := max(gap(c.R, near.R), gap(c.G, near.G), gap(c.B, near.B))
				worst = max(worst, uint8(d))
				off = append(off, d)
			}
		}
		slices.Sort(off)
		if p99 := off[len(off)*99/100]; p99 > 12 || worst > 80 {
			t.Errorf("of 100 pixels one is %d off or more, and one at an edge %d", p99, worst)
		}
	}
	// Every role at once leaves room for each.
	var s envs.Scene
	s.Look(room, envs.Camera{Distance: 1})
	s.Floor(envs.Terrain, envs.Ground, 1, 0, 0, 0)
	for _, r := range envs.Roles() {
		s.Sphere(r, 1, [3]float64{})
	}
	if n := len(newSpacePalette(Light, &s).colors); n > 256 {
		t.Errorf("%d colors", n)
	}
}

// A film in space is one, in each format.
func TestSpaceFilm(t *testing.T) {
	var shots []shot
	p := newPainter(t, image.Pt(120, 90), Light)
	for i := range 5 {
		img := p.Paint(seen(float64(100+5*i), -20, 3), "", "")
		shots = append(shots, shot{&image.RGBA{Pix: slices.Clone(img.Pix), Stride: img.Stride, Rect: img.Rect}, time.Second / 25})
	}
	var b bytes.Buffer
	for _, w := range []Writer{NewSpaceGIF(&b, Light, figure()), NewAPNG(&b, len(shots))} {
		b.Reset()
		for _, s := range shots {
			if err := w.Add(s.img, s.hold); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil || b.Len() < 1000 {
			t.Errorf("%T: %d bytes, %v", w, b.Len(), err)
		}
	}
}

func BenchmarkPaintSpace(b *testing.B) {
	for _, size := range []image.Point{{480, 360}, {1920, 1080}} {
		b.Run(fmt.Sprintf("%dx%d", size.X, size.Y), func(b *testing.B) {
			s, p := figure(), newPainter(b, size, Light)
			b.ReportAllocs()
			for b.Loop() {
				p.Paint(s, "", "")
			}
		})
	}
}
