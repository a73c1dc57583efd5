// Package film draws scenes of environments to pictures and makes films of them: animated GIFs, animated PNGs, or
// folders with a PNG for each frame.
//
// A [Painter] draws an envs.Scene as the volunteer page does, in the colors of a [Theme]. What it draws goes to a
// [Writer], frame by frame: none keeps more than two pictures in memory, however long the film is.
//
// Pictures are local: the same scene may give other pixels on another machine.
package film

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"path/filepath"
	"strings"
	"time"
)

var (
	// ErrFormat is returned for a file name that ends in no known format.
	ErrFormat = errors.New("unknown film format")
	// ErrSize is returned for pictures with a side shorter than MinSide or longer than MaxSide.
	ErrSize = errors.New("bad picture size")
	// ErrFrames is returned where the number of frames, or the size of one, is not what was announced.
	ErrFrames = errors.New("wrong frames")
)

// The least and the largest width and height of a picture, in pixels.
const (
	MinSide = 32
	MaxSide = 4096
)

// CheckSize returns an error that wraps ErrSize unless pictures of that size can be made.
func CheckSize(size image.Point) error {
	if min(size.X, size.Y) < MinSide || max(size.X, size.Y) > MaxSide {
		return fmt.Errorf("%w: %dx%d; each side has %d to %d pixels", ErrSize, size.X, size.Y, MinSide, MaxSide)
	}
	return nil
}

// Format is how a film is written.
type Format string

// The formats.
const (
	GIF  Format = "gif"  // 255 colors, and time in hundredths of a second
	APNG Format = "apng" // every color; programs without animation show the first frame
)

// FormatOf returns the format that a file's name ends in.
func FormatOf(name string) (Format, error) {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".gif":
		return GIF, nil
	case ".png", ".apng":
		return APNG, nil
	}
	return "", fmt.Errorf("%w: %q; known are .gif, .png and .apng", ErrFormat, name)
}

// Writer takes the frames of a film. None is safe for concurrent use.
type Writer interface {
	// Add appends a frame that is shown for hold. It keeps no reference to img, which is opaque.
	Add(img *image.RGBA, hold time.Duration) error
	// Close writes what comes after the last frame. The film is whole only if it returns nil.
	Close() error
}

// clock counts the time of a film in units of a format, so that rounding does not add up.
type clock struct {
	unit          time.Duration
	now, reported time.Duration
}

// span returns for how many units the next frame is shown, which is to be shown for hold.
func (c *clock) span(hold time.Duration) int {
	c.now += hold
	n := (c.now - c.reported + c.unit/2) / c.unit
	c.reported += n * c.unit
	return int(n)
}

// canvas remembers the last frame of a film, all of whose frames have one size.
type canvas struct {
	last *image.RGBA
}

// next returns the smallest rectangle that holds all pixels in which img differs from the frame before, at least one
// pixel, and all of the first frame; then img is the last one.
func (c *canvas) next(img *image.RGBA) (image.Rectangle, error) {
	if c.last == nil {
		c.last = image.NewRGBA(img.Rect)
		c.keep(img, img.Rect)
		return img.Rect, nil
	}
	if img.Rect != c.last.Rect {
		return image.Rectangle{}, fmt.Errorf("%w: one of %v after one of %v", ErrFrames, img.Rect.Size(), c.last.Rect.Size())
	}
	changed := difference(c.last, img)
	if changed.Empty() {
		changed = image.Rectangle{Min: img.Rect.Min, Max: img.Rect.Min.Add(image.Pt(1, 1))}
	}
	c.keep(img, changed)
	return changed, nil
}

// keep copies a part of img.
func (c *canvas) keep(img *image.RGBA, part image.Rectangle) {
	for y := part.Min.Y; y < part.Max.Y; y++ {
		copy(c.last.Pix[c.last.PixOffset(part.Min.X, y):c.last.PixOffset(part.Max.X, y)], img.Pix[img.PixOffset(part.Min.X, y):])
	}
}

// difference returns the smallest rectangle that holds all pixels in which a and b, of one size, differ.
func difference(a, b *image.RGBA) image.Rectangle {
	var all image.Rectangle
	for y := a.Rect.Min.Y; y < a.Rect.Max.Y; y++ {
		row := a.Pix[a.PixOffset(a.Rect.Min.X, y):a.PixOffset(a.Rect.Max.X, y)]
		other := b.Pix[b.PixOffset(b.Rect.Min.X, y):b.PixOffset(b.Rect.Max.X, y)]
		first, last := apart(row, other)
		if first < last {
			all = all.Union(image.Rect(a.Rect.Min.X+first/4, y, a.Rect.Min.X+(last+3)/4, y+1))
		}
	}
	return all
}

// apart returns the first place where two rows differ, and the one after the last; the same place if they are equal.
func apart(a, b []byte) (first, last int) {
	last = len(a)
	for first < last && a[first] == b[first] {
		first++
	}
	for last > first && a[last-1] == b[last-1] {
		last--
	}
	return first, last
}

// opaque is a color without transparency, written 0xRRGGBB.
func opaque(rgb uint32) color.RGBA {
	return color.RGBA{uint8(rgb >> 16), uint8(rgb >> 8), uint8(rgb), 255}
}
