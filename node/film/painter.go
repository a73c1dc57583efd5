package film

import (
	"fmt"
	"image"
	"image/draw"
	"math"

	"codeberg.org/go-fonts/liberation/liberationsansregular"
	"git.sr.ht/~sbinet/gg"
	"golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"

	"github.com/evoswarm/evoswarm/envs"
)

// hairline is the thinnest line there is, in pixels.
const hairline = 1.5

// gutter is the width of a strip at the left that is cut off: the rasterizer draws the left edge of shapes that reach
// beyond the picture too dark.
const gutter = 1

// far is beyond every picture, in pixels; coordinates are clamped to it.
const far = 8 * MaxSide

// Letters grow with the picture's width, from textMin on.
const (
	textShare = 1.0 / 46 // of the width
	textMin   = 13       // pixels
)

// Painter draws one picture after the other. It is not safe for concurrent use.
type Painter struct {
	theme   *Theme
	img     *image.RGBA
	shapes  *gg.Context
	face    font.Face
	scene   image.Rectangle
	caption image.Rectangle // under the scene
	caster  caster          // of scenes in space
}

// NewPainter returns a painter of pictures of that size. Errors wrap ErrSize.
func NewPainter(size image.Point, theme *Theme) (*Painter, error) {
	if err := CheckSize(size); err != nil {
		return nil, err
	}
	text := textSize(size.X)
	parsed, err := opentype.Parse(liberationsansregular.TTF)
	if err != nil {
		return nil, fmt.Errorf("caption font: %w", err)
	}
	face, err := opentype.NewFace(parsed, &opentype.FaceOptions{Size: text, DPI: 72, Hinting: font.HintingVertical})
	if err != nil {
		return nil, fmt.Errorf("caption font: %w", err)
	}
	wide := image.NewRGBA(image.Rect(0, 0, gutter+size.X, size.Y))
	img := &image.RGBA{Pix: wide.Pix[4*gutter:], Stride: wide.Stride, Rect: image.Rectangle{Max: size}}
	p := &Painter{theme: theme, img: img, shapes: gg.NewContextForRGBA(wide), face: face, scene: img.Rect, caption: img.Rect}
	p.scene.Max.Y -= captionHeight(size.X)
	p.caption.Min.Y = p.scene.Max.Y
	p.shapes.Translate(gutter, 0)
	p.shapes.SetLineCapRound()
	p.shapes.SetLineJoin(gg.LineJoinRound)
	return p, nil
}

// textSize returns the size of letters, in pixels.
func textSize(width int) float64 { return max(textMin, float64(width)*textShare) }

// captionHeight returns the height of the strip that is below the scene in a picture of that width.
func captionHeight(width int) int { return 2 * int(textSize(width)) }

// SizeFor returns the size of a picture that shows view as large as possible in width x height pixels, and below it the
// caption. Both sides are even, as encoders of videos want them.
func SizeFor(view envs.Bounds, width, height int) image.Point {
	w, h := view.MaxX-view.MinX, view.MaxY-view.MinY
	scale := min(float64(width)/w, float64(height)/h)
	x := max(int(math.Round(w*scale/2))*2, MinSide)
	return image.Pt(x, max(int(math.Round(h*scale/2))*2, MinSide)+captionHeight(x))
}

// Paint draws the scene above a caption with one text at its left and one at its right. Where there is no
// room for both, the left one is left out. The picture is the painter's, which draws the next over it.
func (p *Painter) Paint(s *envs.Scene, left, right string) *image.RGBA {
	draw.Draw(p.img, p.img.Rect, image.NewUniform(p.theme.Paper), image.Point{}, draw.Src)
	if s.InSpace() {
		p.caster.cast(p.img, p.scene, s, p.theme)
	} else {
		p.flat(s)
	}
	p.write(left, right)
	return p.img
}

// flat draws a flat scene.
func (p *Painter) flat(s *envs.Scene) {
	f := fitIn(&s.Bounds, float64(p.scene.Dx()), float64(p.scene.Dy()))
	for i := range s.Shapes {
		p.shape(&s.Shapes[i], f)
	}
	p.clip(&s.Bounds, f)
}

// clip takes away what is beyond the bounds.
func (p *Painter) clip(b *envs.Bounds, f fit) {
	left, bottom := f.at(b.MinX, b.MinY)
	right, top := f.at(b.MaxX, b.MaxY)
	in := image.Rect(int(math.Round(left)), int(math.Round(top)), int(math.Round(right)), int(math.Round(bottom)))
	for _, out := range [4]image.Rectangle{
		{Min: p.scene.Min, Max: image.Pt(in.Min.X, p.scene.Max.Y)}, {Min: image.Pt(in.Max.X, p.scene.Min.Y), Max: p.scene.Max},
		{Min: p.scene.Min, Max: image.Pt(p.scene.Max.X, in.Min.Y)}, {Min: image.Pt(p.scene.Min.X, in.Max.Y), Max: p.scene.Max},
	} {
		draw.Draw(p.img, out, image.NewUniform(p.theme.Paper), image.Point{}, draw.Src)
	}
}

// fit maps world units to pixels: x' = x scale + left, y' = bottom - y scale.
type fit struct {
	scale, left, bottom float64
}

// fitIn shows all of b as large as possible in width x height pixels, in the middle, without distortion.
func fitIn(b *envs.Bounds, width, height float64) fit {
	w, h := b.MaxX-b.MinX, b.MaxY-b.MinY
	scale := min(width/w, height/h)
	return fit{scale: scale, left: (width-w*scale)/2 - b.MinX*scale, bottom: (height+h*scale)/2 + b.MinY*scale}
}

// at returns where a point of the world is in the picture.
func (f fit) at(x, y float64) (px, py float64) {
	return held(x*f.scale + f.left), held(f.bottom - y*f.scale)
}

// held clamps x to what the rasterizer can handle.
func held(x float64) float64 { return min(max(x, -far), far) }

// shape draws one shape; one with a value that is not a number is left out.
func (p *Painter) shape(s *envs.Shape, f fit) {
	p.shapes.ClearPath()
	if !p.trace(s, f) {
		return
	}
	if c, ok := p.theme.Roles[s.Fill]; ok {
		p.shapes.SetColor(c)
		p.shapes.FillPreserve()
	}
	if c, ok := p.theme.Roles[s.Stroke]; ok {
		p.shapes.SetColor(c)
		p.shapes.SetLineWidth(held(max(s.Width*f.scale, hairline)))
		p.shapes.StrokePreserve()
	}
}

// trace makes the outline of s the path, and reports whether it has one.
func (p *Painter) trace(s *envs.Shape, f fit) bool {
	radius := held(s.Radius * f.scale)
	if math.IsNaN(radius) || math.IsNaN(s.Width) {
		return false
	}
	for i := 0; i+1 < len(s.Points); i += 2 {
		x, y := f.at(s.Points[i], s.Points[i+1])
		if math.IsNaN(x) || math.IsNaN(y) {
			return false
		}
		if s.Kind == envs.Circle {
			p.shapes.DrawCircle(x, y, radius)
			return true
		}
		p.shapes.LineTo(x, y)
	}
	if s.Kind == envs.Polygon {
		p.shapes.ClosePath()
	}
	return len(s.Points) > 0
}

// write draws the caption.
func (p *Painter) write(left, right string) {
	box := p.caption
	draw.Draw(p.img, box, image.NewUniform(p.theme.Paper), image.Point{}, draw.Src)
	rule := box
	rule.Max.Y = rule.Min.Y + 1
	draw.Draw(p.img, rule, image.NewUniform(p.theme.Rule), image.Point{}, draw.Src)

	d := font.Drawer{Dst: p.img, Src: image.NewUniform(p.theme.Ink), Face: p.face}
	margin := fixed.I(box.Dy() / 2)
	room := fixed.I(box.Dx()) - 2*margin
	metrics := p.face.Metrics()
	base := fixed.I(box.Min.Y+box.Max.Y+1)/2 + (metrics.CapHeight)/2
	d.Dot = fixed.Point26_6{X: fixed.I(box.Max.X) - margin - d.MeasureString(right), Y: base}
	if d.MeasureString(right) <= room {
		d.DrawString(right)
		room -= d.MeasureString(right) + margin
	}
	d.Dot = fixed.Point26_6{X: fixed.I(box.Min.X) + margin, Y: base}
	if d.MeasureString(left) <= room {
		d.DrawString(left)
	}
}
