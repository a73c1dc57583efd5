package film

import (
	"bytes"
	"fmt"
	"image"
	"image/gif"
	"io"
	"time"

	"github.com/evoswarm/evoswarm/envs"
)

// Sizes in the format of a GIF (CompuServe, version 89a, 1990).
const (
	gifHeader = 6 + 7 // signature, logical screen descriptor
	gifColor  = 3     // bytes of a color in a table
	gifUnit   = time.Second / 100
)

// gifLoop says that the film begins again forever.
const gifLoop = "\x21\xff\x0bNETSCAPE2.0\x03\x01\x00\x00\x00"

// gifTrailer ends a GIF.
const gifTrailer = "\x3b"

// MaxFPSGIF is how many frames a second of a GIF has at most: programs show one that asks for more slowly.
const MaxFPSGIF = 50

// gifWriter writes a GIF frame by frame. Package image/gif makes each a GIF of its own, whose parts are put together.
type gifWriter struct {
	w       io.Writer
	palette *palette
	clock   clock
	last    *image.Paletted // nil before the first frame
	now     *image.Paletted
	buffer  bytes.Buffer
}

// NewGIF returns a writer of a GIF in the colors of a theme, and shades between them.
func NewGIF(w io.Writer, theme *Theme) Writer { return newGIF(w, newPalette(theme)) }

// NewSpaceGIF returns a writer of a GIF whose first frame is that scene, in space: it has shades of the colors in it.
func NewSpaceGIF(w io.Writer, theme *Theme, first *envs.Scene) Writer {
	return newGIF(w, newSpacePalette(theme, first))
}

func newGIF(w io.Writer, p *palette) *gifWriter {
	return &gifWriter{w: w, palette: p, clock: clock{unit: gifUnit}}
}

// Add implements [Writer]. Of a frame only what is new is written.
func (g *gifWriter) Add(img *image.RGBA, hold time.Duration) error {
	first := g.last == nil
	if first {
		g.now = image.NewPaletted(img.Rect, g.palette.colors)
		g.last = image.NewPaletted(img.Rect, g.palette.colors)
	}
	if img.Rect != g.now.Rect {
		return fmt.Errorf("%w: one of %v after one of %v", ErrFrames, img.Rect.Size(), g.now.Rect.Size())
	}
	g.palette.reduce(g.now, img)
	part := g.now
	if !first {
		part = fresh(g.last, g.now)
	}
	g.last, g.now = g.now, g.last
	return g.write(part, g.clock.span(hold), first)
}

// write writes a frame, and what comes before the first.
func (g *gifWriter) write(part *image.Paletted, delay int, first bool) error {
	one := gif.GIF{Image: []*image.Paletted{part}, Delay: []int{delay}, Disposal: []byte{gif.DisposalNone}}
	one.Config = image.Config{ColorModel: g.palette.colors, Width: g.now.Rect.Dx(), Height: g.now.Rect.Dy()}
	g.buffer.Reset()
	if err := gif.EncodeAll(&g.buffer, &one); err != nil {
		return fmt.Errorf("GIF: %w", err)
	}
	data := g.buffer.Bytes()
	head := gifHeader + gifColor<<(data[10]&7+1) // with the table of colors, whose size the screen's flags say
	if first {
		if _, err := io.WriteString(g.w, string(data[:head])+gifLoop); err != nil {
			return err
		}
	}
	_, err := g.w.Write(data[head : len(data)-len(gifTrailer)])
	return err
}

// fresh returns the part of now that is new after last. Pixels in it that stay what they were are left out, so that it
// takes few bytes.
func fresh(last, now *image.Paletted) *image.Paletted {
	var all image.Rectangle
	for y := now.Rect.Min.Y; y < now.Rect.Max.Y; y++ {
		at := now.PixOffset(now.Rect.Min.X, y)
		end := at + now.Rect.Dx()
		if first, behind := apart(last.Pix[at:end], now.Pix[at:end]); first < behind {
			all = all.Union(image.Rect(now.Rect.Min.X+first, y, now.Rect.Min.X+behind, y+1))
		}
	}
	if all.Empty() { // a frame has at least one pixel
		all = image.Rectangle{Min: now.Rect.Min, Max: now.Rect.Min.Add(image.Pt(1, 1))}
	}
	part := image.NewPaletted(all, now.Palette)
	for y := all.Min.Y; y < all.Max.Y; y++ {
		from := now.PixOffset(all.Min.X, y)
		row := part.Pix[part.PixOffset(all.Min.X, y):]
		for x := range all.Dx() {
			if i := now.Pix[from+x]; i != last.Pix[from+x] {
				row[x] = i
			} else {
				row[x] = leftOut
			}
		}
	}
	return part
}

// Close implements [Writer].
func (g *gifWriter) Close() error {
	if g.last == nil {
		return fmt.Errorf("%w: none", ErrFrames)
	}
	_, err := io.WriteString(g.w, gifTrailer)
	return err
}
