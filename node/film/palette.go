package film

import (
	"image"
	"image/color"
	"slices"

	"github.com/evoswarm/evoswarm/envs"
)

// leftOut is the index of the transparent color, through which the frame before is seen.
const leftOut = 0

// How many shades the palette has between two colors. Nearly all edges are against the paper or the terrain.
const (
	shadesPaper   = 14
	shadesTerrain = 7
	shadesOther   = 5
)

// maxKnown bounds the colors whose nearest one is remembered.
const maxKnown = 1 << 16

// palette reduces pictures in the colors of a theme, and the shades between them that smooth edges have.
type palette struct {
	colors color.Palette // at most 256
	known  map[color.RGBA]uint8
}

func newPalette(t *Theme) *palette {
	p := &palette{known: map[color.RGBA]uint8{}}
	p.colors = append(p.colors, color.RGBA{}) // leftOut
	p.add(t.Paper)
	var parts []color.RGBA // drawn over the terrain
	for _, role := range envs.Roles() {
		c := t.Roles[role]
		p.add(c)
		if role != envs.Terrain && !slices.Contains(parts, c) {
			parts = append(parts, c)
		}
	}
	terrain := t.Roles[envs.Terrain]
	for _, c := range append([]color.RGBA{t.Rule, t.Ink, terrain}, parts...) {
		p.add(c)
		p.blend(t.Paper, c, shadesPaper)
	}
	for i, c := range parts {
		p.blend(terrain, c, shadesTerrain)
		for _, d := range parts[:i] {
			p.blend(c, d, shadesOther)
		}
	}
	return p
}

// How many shades the palette of scenes in space has: of a surface, from the darkest to the brightest; of the
// floor, from where it begins to fade until it is gone; of letters.
const (
	shadesSolid = 64
	shadesFade  = 14
	shadesInk   = 8
)

// newSpacePalette returns the palette of films that begin with a scene in space: it has the shades that light
// gives to the colors in it.
func newSpacePalette(t *Theme, s *envs.Scene) *palette {
	p := &palette{known: map[color.RGBA]uint8{}}
	p.colors = append(p.colors, color.RGBA{}) // leftOut
	for _, c := range []color.RGBA{t.Paper, t.Rule, t.Ink} {
		p.add(c)
	}
	var floors []rgb
	var solids []color.RGBA
	for _, sh := range s.Shapes {
		fill := t.Roles[sh.Fill]
		if sh.Kind != envs.Floor {
			if !slices.Contains(solids, fill) {
				solids = append(solids, fill)
			}
			continue
		}
		c := rgbOf(fill)
		for _, line := range [3]float64{0, 0.5, 1} {
			if stroke, ok := t.Roles[sh.Stroke]; ok {
				floors = append(floors, c.mixed(rgbOf(stroke), line))
			}
		}
		floors = append(floors, c, c.mixed(black, shadow))
	}
	for _, c := range floors {
		for i := range shadesFade {
			p.add(c.mixed(rgbOf(t.Paper), float64(i)/shadesFade).rounded())
		}
	}
	p.blend(t.Paper, t.Ink, shadesInk)
	room := 256 - len(p.colors)
	n := min(shadesSolid, room/max(len(solids), 1))
	for _, c := range solids {
		for i := range n {
			p.add(rgbOf(c).lit(float64(2*i)/float64(max(n-1, 1)) - 1).rounded())
		}
	}
	return p
}

// add appends a color that is not there yet, if there is room.
func (p *palette) add(c color.RGBA) {
	if len(p.colors) < 256 && !slices.Contains(p.colors, color.Color(c)) {
		p.colors = append(p.colors, c)
	}
}

// blend appends n shades between two colors.
func (p *palette) blend(a, b color.RGBA, n int) {
	mix := func(a, b uint8, i int) uint8 { return uint8((int(a)*(n+1-i) + int(b)*i) / (n + 1)) }
	for i := 1; i <= n; i++ {
		p.add(color.RGBA{mix(a.R, b.R, i), mix(a.G, b.G, i), mix(a.B, b.B, i), 255})
	}
}

// index returns the index of the color nearest to c.
func (p *palette) index(c color.RGBA) uint8 {
	if i, ok := p.known[c]; ok {
		return i
	}
	if len(p.known) >= maxKnown {
		p.known = map[color.RGBA]uint8{}
	}
	i := uint8(1 + color.Palette(p.colors[1:]).Index(c))
	p.known[c] = i
	return i
}

// reduce writes a part of img to dst, whose bounds say which.
func (p *palette) reduce(dst *image.Paletted, img *image.RGBA) {
	r := dst.Rect
	last, at := color.RGBA{}, uint8(0) // neighbors are mostly equal
	for y := r.Min.Y; y < r.Max.Y; y++ {
		pixels := img.Pix[img.PixOffset(r.Min.X, y):]
		row := dst.Pix[dst.PixOffset(r.Min.X, y):]
		for x := range r.Dx() {
			c := color.RGBA{pixels[4*x], pixels[4*x+1], pixels[4*x+2], 255}
			if c != last {
				last, at = c, p.index(c)
			}
			row[x] = at
		}
	}
}
