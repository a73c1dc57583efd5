package look

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"testing"
)

// card draws a page of 320 x 240 pixels with a panel, a lamp and lines of letters, moved by some pixels.
func card(moved int, edit func(*image.RGBA)) *image.RGBA {
	page := image.NewRGBA(image.Rect(0, 0, 320, 240))
	fill(page, page.Rect, color.RGBA{246, 246, 243, 255})
	fill(page, image.Rect(20, 20, 300, 220), color.RGBA{255, 255, 255, 255})
	fill(page, image.Rect(40, 40, 52, 52), color.RGBA{31, 122, 100, 255})
	letters(page, 80, 40, 180, moved)
	letters(page, 40, 100, 240, moved)
	letters(page, 40, 120, 240, moved)
	if edit != nil {
		edit(page)
	}
	return Shrink(page)
}

// letters draws strokes as those of a line of text.
func letters(page *image.RGBA, left, top, width, moved int) {
	for x := 0; x < width; x += 4 + x*7%9 {
		fill(page, image.Rect(left+x+moved, top, left+x+moved+2, top+11), color.RGBA{28, 32, 36, 255})
	}
}

// longer adds rows to the end of a small picture.
func longer(small *image.RGBA, rows int) *image.RGBA {
	to := image.NewRGBA(image.Rect(0, 0, small.Rect.Dx(), small.Rect.Dy()+rows))
	draw.Draw(to, small.Rect, small, image.Point{}, draw.Src)
	return to
}

func fill(page *image.RGBA, part image.Rectangle, c color.RGBA) {
	draw.Draw(page, part, image.NewUniform(c), image.Point{}, draw.Src)
}

// TestCompare: what a person would see as another page differs from a kept picture, and what another rasterizer does to
// letters does not.
func TestCompare(t *testing.T) {
	var file bytes.Buffer
	if err := Write(&file, card(0, nil)); err != nil {
		t.Fatal(err)
	}
	kept, err := Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	white := color.RGBA{255, 255, 255, 255}
	for _, c := range []struct {
		name  string
		now   *image.RGBA
		alike bool
	}{
		{"the same", card(0, nil), true},
		{"letters one pixel further", card(1, nil), true},
		{"letters four pixels further", card(4, nil), true},
		{"letters 20 pixels further", card(20, nil), false},
		{"paler letters", card(0, func(p *image.RGBA) {
			for i := range p.Pix {
				if p.Pix[i] < 40 {
					p.Pix[i] += 30
				}
			}
		}), true},
		{"no panel", card(0, func(p *image.RGBA) { fill(p, p.Rect, color.RGBA{246, 246, 243, 255}) }), false},
		{"a lamp of another color", card(0, func(p *image.RGBA) { fill(p, image.Rect(40, 40, 52, 52), color.RGBA{179, 38, 30, 255}) }), false},
		{"a line that is gone", card(0, func(p *image.RGBA) { fill(p, image.Rect(40, 118, 300, 133), white) }), false},
		{"a line that runs over", card(0, func(p *image.RGBA) { letters(p, 280, 100, 40, 0) }), false},
		{"half a line", card(0, func(p *image.RGBA) { fill(p, image.Rect(160, 118, 300, 133), white) }), false},
		{"a longer page", longer(card(0, nil), 5), false},
		{"a page that is a little longer", longer(card(0, nil), 1), true},
	} {
		d, err := Compare(kept, c.now)
		if (err == nil) != c.alike {
			t.Errorf("%s: %+v, %v", c.name, d, err)
		}
	}
}

// TestWrite: a kept picture has few colors, all of them close to those that were there, however many there were.
func TestWrite(t *testing.T) {
	rainbow := image.NewRGBA(image.Rect(0, 0, 256, 64))
	for y := range 64 {
		for x := range 256 {
			rainbow.SetRGBA(x, y, color.RGBA{uint8(x), uint8(4 * y), uint8(255 - x), 255})
		}
	}
	var file bytes.Buffer
	if err := Write(&file, rainbow); err != nil {
		t.Fatal(err)
	}
	kept, err := Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	colors := map[color.RGBA]bool{}
	for y := range 64 {
		for x := range 256 {
			c := kept.RGBAAt(x, y)
			colors[c] = true
			for i, by := range []int{int(c.R) - x, int(c.G) - 4*y, int(c.B) - 255 + x} {
				if max(by, -by) > 16 {
					t.Fatalf("at %d, %d channel %d is off by %d", x, y, i, by)
				}
			}
		}
	}
	if len(colors) > colorsMost {
		t.Errorf("%d colors", len(colors))
	}
	if _, err := Read(bytes.NewReader([]byte("no picture"))); err == nil {
		t.Error("something else is read as a picture")
	}
}
