// Package look compares pictures of a page with kept ones, so that what a person would see as another page counts, and
// what another version of a browser draws a little differently does not.
//
// Floor 6, programs: tests use it.
package look

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"math"
	"slices"
)

// Pictures are kept and compared at a quarter of their size, where the edges of letters are gone and words are gray.
const scale = 4

// A tile is compared as a whole: a lamp of another color or a line of other words shows in one, however large the page
// is.
const (
	tileSide      = 8  // pixels of a small picture: 32 of the page
	tileTolerance = 18 // levels of 255 by which a tile's pixels may differ in the mean
	sizeTolerance = 2  // pixels of a small picture by which its height may differ
	shift         = 1  // pixels of a small picture by which a tile may have moved: letters of other widths push what follows
)

// colorsMost is how many colors a kept picture has at most.
const colorsMost = 256

// Shrink returns a picture at a quarter of its size: each pixel is the mean of 16.
func Shrink(from image.Image) *image.RGBA {
	whole, b := image.NewRGBA(image.Rect(0, 0, from.Bounds().Dx(), from.Bounds().Dy())), from.Bounds()
	draw.Draw(whole, whole.Rect, from, b.Min, draw.Src)
	to := image.NewRGBA(image.Rect(0, 0, b.Dx()/scale, b.Dy()/scale))
	for y := range to.Rect.Dy() {
		for x := range to.Rect.Dx() {
			to.SetRGBA(x, y, mean(whole, x*scale, y*scale))
		}
	}
	return to
}

// mean is the mean color of a square of pixels.
func mean(from *image.RGBA, left, top int) color.RGBA {
	var sum [3]int
	for y := top; y < top+scale; y++ {
		row := from.Pix[from.PixOffset(left, y):]
		for x := range scale {
			for i := range sum {
				sum[i] += int(row[4*x+i])
			}
		}
	}
	const n = scale * scale
	return color.RGBA{uint8((sum[0] + n/2) / n), uint8((sum[1] + n/2) / n), uint8((sum[2] + n/2) / n), 255}
}

// Write keeps a small picture as PNG, with few colors.
func Write(w io.Writer, small *image.RGBA) error {
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	return encoder.Encode(w, reduce(small))
}

// reduce rounds colors until a palette has room for all.
func reduce(small *image.RGBA) *image.Paletted {
	for step := 4; ; step *= 2 {
		index := map[color.RGBA]uint8{}
		to := image.NewPaletted(small.Rect, nil)
		for y := range small.Rect.Dy() {
			for x := range small.Rect.Dx() {
				c := round(small.RGBAAt(x, y), step)
				at, known := index[c]
				if !known {
					at = uint8(len(index))
					index[c] = at
					to.Palette = append(to.Palette, c)
				}
				to.SetColorIndex(x, y, at)
			}
		}
		if len(index) <= colorsMost {
			return to
		}
	}
}

func round(c color.RGBA, step int) color.RGBA {
	to := func(v uint8) uint8 { return uint8(min(255, (int(v)+step/2)/step*step)) }
	return color.RGBA{to(c.R), to(c.G), to(c.B), 255}
}

// Read reads what Write wrote.
func Read(r io.Reader) (*image.RGBA, error) {
	kept, err := png.Decode(r)
	if err != nil {
		return nil, err
	}
	to := image.NewRGBA(kept.Bounds())
	draw.Draw(to, to.Rect, kept, kept.Bounds().Min, draw.Src)
	return to, nil
}

// Difference is where two small pictures differ most.
type Difference struct {
	Place image.Point // of the tile's corner, in pixels of the page
	By    float64     // levels of 255, in the mean over the tile
	Tiles int         // that differ by more than what is tolerated
}

// Compare finds how a small picture differs from a kept one. The error says what a person would see; nil: they look
// alike.
func Compare(kept, now *image.RGBA) (Difference, error) {
	var d Difference
	k, n := kept.Rect, now.Rect
	if by := n.Dy() - k.Dy(); k.Dx() != n.Dx() || max(by, -by) > sizeTolerance {
		return d, fmt.Errorf("it has %d x %d pixels, and was kept with %d x %d", n.Dx()*scale, n.Dy()*scale, k.Dx()*scale, k.Dy()*scale)
	}
	both := k.Intersect(n)
	for y := 0; y < both.Dy(); y += tileSide {
		for x := 0; x < both.Dx(); x += tileSide {
			by := differ(kept, now, image.Rect(x, y, x+tileSide, y+tileSide).Intersect(both))
			if by > tileTolerance {
				d.Tiles++
			}
			if by > d.By {
				d.By, d.Place = by, image.Pt(x*scale, y*scale)
			}
		}
	}
	if d.Tiles > 0 {
		return d, fmt.Errorf("%d places differ, most that at %d, %d: by %.0f levels of 255", d.Tiles, d.Place.X, d.Place.Y, d.By)
	}
	return d, nil
}

// differ is the mean difference of a part of two pictures, of the channel that differs most, where the part fits best.
func differ(a, b *image.RGBA, part image.Rectangle) float64 {
	least := math.Inf(1)
	for y := -shift; y <= shift; y++ {
		for x := -shift; x <= shift; x++ {
			if moved := part.Add(image.Pt(x, y)); moved.In(b.Rect) {
				least = min(least, differAt(a, b, part, image.Pt(x, y)))
			}
		}
	}
	return least
}

// differAt is the mean difference of a part of a picture from what another has there, moved.
func differAt(a, b *image.RGBA, part image.Rectangle, moved image.Point) float64 {
	var sums [3]int
	for y := part.Min.Y; y < part.Max.Y; y++ {
		for x := part.Min.X; x < part.Max.X; x++ {
			p, q := a.RGBAAt(x, y), b.RGBAAt(x+moved.X, y+moved.Y)
			for i, by := range []int{int(p.R) - int(q.R), int(p.G) - int(q.G), int(p.B) - int(q.B)} {
				sums[i] += max(by, -by)
			}
		}
	}
	return float64(slices.Max(sums[:])) / float64(part.Dx()*part.Dy())
}
