package film

import (
	"image"
	"image/color"
	"math"

	"github.com/evoswarm/evoswarm/envs"
)

// How the light falls. web/src/lens.ts has the same numbers.
const (
	bright = 0.30 // how much white a surface gets that faces the light
	dim    = 0.45 // how much black one that faces away
	shadow = 0.22 // how much black the floor in a shadow
)

// The floor fades between these distances from the camera's target, in distances of the camera; its lines are
// so wide, in cells. web/src/lens.ts has the same numbers.
const (
	fadeFrom  = 1.5
	fadeTo    = 4.5
	lineWidth = 0.025
)

// What a ray sees besides solids, which have numbers from 0 on.
const (
	seesNothing = -1 - iota
	seesFloor
	seesShadow
)

// finer is where in a pixel rays go that pass an edge, in pixels.
var finer = [4][2]float64{{0.375, 0.125}, {0.875, 0.375}, {0.125, 0.625}, {0.625, 0.875}}

// rgb is a color, each part from 0 to 255.
type rgb struct{ r, g, b float64 }

func rgbOf(c color.RGBA) rgb { return rgb{float64(c.R), float64(c.G), float64(c.B)} }

// mixed returns a with so much of b, from 0 to 1.
func (a rgb) mixed(b rgb, share float64) rgb {
	mix := func(x, y float64) float64 { return x + float64((y-x)*share) }
	return rgb{mix(a.r, b.r), mix(a.g, b.g), mix(a.b, b.b)}
}

var black, white = rgb{}, rgb{255, 255, 255}

// lit returns the color of a surface, by the cosine of the angle between it and the light.
func (a rgb) lit(cosine float64) rgb {
	if cosine > 0 {
		return a.mixed(white, float64(bright*cosine))
	}
	return a.mixed(black, float64(-dim*cosine))
}

// caster draws scenes in space with rays: one for each pixel, and four where it is at an edge. Its memory is
// used again.
type caster struct {
	lens         lens
	light        vector
	paper        rgb
	solids       []solid
	hasFloor     bool
	floor        vector // a corner of its grid
	cell         float64
	fill, stroke rgb
	fadeSquares  [2]float64
	target       vector
	// What is seen in the pixels of the row above, and in this one.
	above, here []int
	row         []rgb
	active      []int // solids that this row may show
}

// cast draws a scene in space on a part of img.
func (k *caster) cast(img *image.RGBA, part image.Rectangle, s *envs.Scene, theme *Theme) {
	if !k.prepare(s, part.Size(), theme) {
		return
	}
	width := part.Dx()
	k.above, k.here = fitted(k.above, width), fitted(k.here, width)
	k.row = fitted(k.row, width)
	edges := make([]bool, 2*width) // of this row, and of the one above
	for y := range part.Dy() {
		k.meet(y)
		for x := range width {
			k.row[x], k.here[x] = k.look(float64(x)+0.5, float64(y)+0.5)
		}
		this, last := edges[width*(y&1):][:width], edges[width*(y&1^1):][:width]
		for x := range this {
			this[x] = x > 0 && k.here[x] != k.here[x-1] || x+1 < width && k.here[x] != k.here[x+1]
			if y > 0 && k.here[x] != k.above[x] {
				this[x], last[x] = true, true
			}
		}
		// A pixel of the row above is known to be at an edge only now.
		pixels := img.Pix[img.PixOffset(part.Min.X, part.Min.Y+y):]
		for x := range width {
			k.row[x].put(pixels[4*x:])
		}
		if y > 0 {
			k.smooth(img, part, y-1, last)
		}
		if y == part.Dy()-1 {
			k.smooth(img, part, y, this)
		}
		k.above, k.here = k.here, k.above
	}
}

// fitted returns a list of n, in the memory of list if it is long enough.
func fitted[T any](list []T, n int) []T {
	if cap(list) < n {
		return make([]T, n)
	}
	return list[:n]
}

// rounded returns the color of a pixel.
func (a rgb) rounded() color.RGBA {
	return color.RGBA{uint8(a.r + 0.5), uint8(a.g + 0.5), uint8(a.b + 0.5), 255}
}

// put writes a color to the four bytes of a pixel.
func (a rgb) put(pixel []byte) {
	c := a.rounded()
	pixel[0], pixel[1], pixel[2], pixel[3] = c.R, c.G, c.B, c.A
}

// prepare makes a scene ready, and reports whether there is something to see. What Check refuses is left out.
func (k *caster) prepare(s *envs.Scene, size image.Point, theme *Theme) bool {
	one := envs.Scene{Bounds: envs.Bounds{MaxX: 1, MaxY: 1}, Camera: s.Camera}
	if one.Check() != nil || size.X <= 0 || size.Y <= 0 {
		return false
	}
	k.lens = newLens(&s.Camera, size)
	k.light = k.lens.light()
	k.paper = rgbOf(theme.Paper)
	k.target = at(s.Camera.Target[:])
	from, to := fadeFrom*s.Camera.Distance, fadeTo*s.Camera.Distance
	k.fadeSquares = [2]float64{from * from, to * to}
	k.hasFloor = false
	k.solids = k.solids[:0]
	for i := range s.Shapes[:min(len(s.Shapes), envs.MaxSolids)] {
		sh := &s.Shapes[i]
		if one.Shapes = s.Shapes[i : i+1]; one.Check() != nil {
			continue
		}
		if sh.Kind == envs.Floor {
			k.hasFloor, k.floor, k.cell = true, at(sh.Points), sh.Width
			k.fill = rgbOf(theme.Roles[sh.Fill])
			k.stroke = k.fill
			if c, ok := theme.Roles[sh.Stroke]; ok {
				k.stroke = rgbOf(c)
			}
			continue
		}
		k.solids = append(k.solids, newSolid(sh, rgbOf(theme.Roles[sh.Fill])))
	}
	for i := range k.solids {
		k.solids[i].place(&k.lens, k.light, k.floor.z)
	}
	return true
}

// meet finds the solids that rays through row y may hit.
func (k *caster) meet(y int) {
	k.active = k.active[:0]
	for i := range k.solids {
		if w := &k.solids[i].within; w.Min.Y <= y && y < w.Max.Y && w.Min.X < w.Max.X {
			k.active = append(k.active, i)
		}
	}
}

// smooth draws the pixels of a row again that are at an edge.
func (k *caster) smooth(img *image.RGBA, part image.Rectangle, y int, edges []bool) {
	pixels := img.Pix[img.PixOffset(part.Min.X, part.Min.Y+y):]
	met := false
	for x, edge := range edges {
		if !edge {
			continue
		}
		if !met {
			k.meet(y)
			met = true
		}
		var sum rgb
		for _, by := range finer {
			c, _ := k.look(float64(x)+by[0], float64(y)+by[1])
			sum = rgb{sum.r + c.r, sum.g + c.g, sum.b + c.b}
		}
		rgb{sum.r / 4, sum.g / 4, sum.b / 4}.put(pixels[4*x:])
	}
}

// look returns what is seen at a point of the picture, and its color.
func (k *caster) look(px, py float64) (rgb, int) {
	d := k.lens.ray(px, py)
	nearest, sees := math.Inf(1), seesNothing
	x := int(px)
	for _, i := range k.active {
		s := &k.solids[i]
		if x < s.within.Min.X || x >= s.within.Max.X {
			continue
		}
		if t := s.hit(k.lens.eye, d); t < nearest {
			nearest, sees = t, i
		}
	}
	if k.hasFloor {
		if t := (k.floor.z - k.lens.eye.z) / d.z; t > 0 && t < nearest {
			return k.ground(d, t)
		}
	}
	if sees < 0 {
		return k.paper, sees
	}
	s := &k.solids[sees]
	return s.color.lit(s.normal(k.lens.eye.plus(d.times(nearest))).dot(k.light)), sees
}

// ground returns what is seen of the floor along t times d.
func (k *caster) ground(d vector, t float64) (rgb, int) {
	p := k.lens.eye.plus(d.times(t))
	off := p.minus(k.target)
	square := float64(off.x*off.x) + float64(off.y*off.y)
	if square >= k.fadeSquares[1] {
		return k.paper, seesNothing
	}
	c, sees := k.fill.mixed(k.stroke, k.lines(p, d, t)), seesFloor
	p.z = k.floor.z
	for i := range k.solids {
		if k.solids[i].shades(p, k.light) {
			c, sees = c.mixed(black, shadow), seesShadow
			break
		}
	}
	if square > k.fadeSquares[0] {
		from, to := math.Sqrt(k.fadeSquares[0]), math.Sqrt(k.fadeSquares[1])
		c = c.mixed(k.paper, smoothly((math.Sqrt(square)-from)/(to-from)))
	}
	return c, sees
}

// smoothly goes from 0 to 1 as x does, without a kink.
func smoothly(x float64) float64 { return float64(float64(x*x) * (3 - float64(2*x))) }

// lines returns how much of a pixel the lines of the floor's grid cover, from 0 to 1.
func (k *caster) lines(p, d vector, t float64) float64 {
	if k.cell == 0 {
		return 0
	}
	// How far one sees along the floor from this pixel to the next one, to the right and down.
	right := k.lens.right.times(t)
	down := d.times(float64(t*k.lens.over.z) / d.z).minus(k.lens.over.times(t))
	x := covered(p.x-k.floor.x, math.Abs(right.x)+math.Abs(down.x), k.cell)
	y := covered(p.y-k.floor.y, math.Abs(right.y)+math.Abs(down.y), k.cell)
	return 1 - float64((1-x)*(1-y))
}

// covered returns how much of a stretch of that width around x is within lines that are a cell apart.
func covered(x, width, cell float64) float64 {
	half := lineWidth * cell / 2
	if width >= cell {
		return lineWidth
	}
	x -= float64(cell * math.Floor(x/cell+0.5)) // from the nearest line
	return max(min(x+width/2, half)-max(x-width/2, -half), 0) / width
}
