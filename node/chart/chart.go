// Package chart draws curves to a PNG or SVG file.
package chart

import (
	"errors"
	"fmt"
	"image/color"
	"io"
	"math"
	"path/filepath"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

var (
	// ErrFormat is returned for a file name without a known format.
	ErrFormat = errors.New("chart: no format of that name")
	// ErrSeries is returned for curves that cannot be drawn: none, of unequal lengths, or with values that
	// are not finite.
	ErrSeries = errors.New("chart: bad curve")
)

// Chart is a set of curves over one pair of axes.
type Chart struct {
	Title  string
	X, Y   string   // names of the axes, with units
	Level  *float64 // of a dashed horizontal line; nil: none
	About  string   // the level's name in the legend
	Floor  *float64 // lower end of the y axis; nil: as the curves need
	Ceil   *float64 // upper end of the y axis; nil: as the curves need
	Series []Series // in the order of the legend, at least one
}

// Series is one curve. Its slices have equal lengths and finite values.
type Series struct {
	Name      string // "": not in the legend
	Color     int    // its number among the colors, so that a curve has the same one in several charts
	X, Y      []float64
	Low, High []float64 // the bounds of a band around the curve; nil: none
}

// Format is how a chart is written.
type Format string

// The formats.
const (
	PNG Format = "png"
	SVG Format = "svg"
)

// FormatOf returns the format that a file name asks for.
func FormatOf(name string) (Format, error) {
	switch f := Format(strings.ToLower(strings.TrimPrefix(filepath.Ext(name), "."))); f {
	case PNG, SVG:
		return f, nil
	}
	return "", fmt.Errorf("%w: %q; known are .png and .svg", ErrFormat, name)
}

// The size of a picture.
const (
	width  = 8 * vg.Inch
	height = 5 * vg.Inch
	margin = vg.Length(8)
)

// sans is the typeface of all text.
const sans = "Sans"

// Write draws the chart.
func (c *Chart) Write(w io.Writer, f Format) error { return WriteColumn(w, f, c) }

// WriteColumn draws charts one below the other, with x axes that are equal and aligned.
func WriteColumn(w io.Writer, f Format, charts ...*Chart) error {
	if f != PNG && f != SVG {
		return fmt.Errorf("%w: %q", ErrFormat, f)
	}
	plots := make([][]*plot.Plot, len(charts))
	low, high := math.Inf(1), math.Inf(-1)
	for i, c := range charts {
		p, err := c.plot()
		if err != nil {
			return err
		}
		plots[i] = []*plot.Plot{p}
		low, high = min(low, p.X.Min), max(high, p.X.Max)
	}
	to, err := draw.NewFormattedCanvas(width, height*vg.Length(len(charts)), string(f))
	if err != nil {
		return fmt.Errorf("chart: %w", err)
	}
	canvas := draw.New(to)
	canvas.SetColor(color.White)
	canvas.Fill(canvas.Rectangle.Path())
	for _, row := range plots {
		row[0].X.Min, row[0].X.Max = low, high
	}
	tiles := draw.Tiles{Rows: len(charts), Cols: 1, PadY: 2 * margin}
	for i, row := range plot.Align(plots, tiles, draw.Crop(canvas, margin, -2*margin, margin, -margin)) {
		plots[i][0].Draw(row[0])
	}
	_, err = to.WriteTo(w)
	return err
}

// plot makes the axes with everything in them.
func (c *Chart) plot() (*plot.Plot, error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = c.Title, c.X, c.Y
	p.Title.Padding, p.Legend.Padding = vg.Points(8), vg.Points(3)
	p.Legend.XOffs, p.Legend.YOffs = -margin, margin // at the lower right, since learning curves rise
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.Tick.Marker, axis.Label.TextStyle.Font.Variant, axis.Tick.Label.Font.Variant = ticks{}, sans, sans
		axis.Label.Padding = vg.Points(4)
	}
	p.Title.TextStyle.Font.Variant, p.Legend.TextStyle.Font.Variant = sans, sans
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = color.Gray{225}, color.Gray{225}
	p.Add(grid)
	for _, s := range c.Series {
		if err := s.draw(p, plotutil.Color(s.Color), plotutil.Dashes(s.Color/len(plotutil.SoftColors))); err != nil {
			return nil, err
		}
	}
	if c.Level != nil {
		c.drawLevel(p)
	}
	if c.Floor != nil {
		p.Y.Min = *c.Floor
	}
	if c.Ceil != nil {
		p.Y.Max = *c.Ceil
	}
	return p, nil
}

func (c *Chart) check() error {
	if len(c.Series) == 0 {
		return fmt.Errorf("%w: there is none", ErrSeries)
	}
	for _, s := range c.Series {
		n := len(s.X)
		if n == 0 || len(s.Y) != n || s.Low != nil && len(s.Low) != n || len(s.Low) != len(s.High) {
			return fmt.Errorf("%w: %s has %d, %d, %d and %d values", ErrSeries, s.Name, n, len(s.Y), len(s.Low), len(s.High))
		}
		for _, values := range [][]float64{s.X, s.Y, s.Low, s.High} {
			for _, v := range values {
				if v-v != 0 {
					return fmt.Errorf("%w: %s has the value %v", ErrSeries, s.Name, v)
				}
			}
		}
	}
	return nil
}

// draw adds the band to p, and the curve on top.
func (s *Series) draw(p *plot.Plot, c color.Color, dashes []vg.Length) error {
	if s.Low != nil {
		outline := points(s.X, s.High)
		for i := len(s.X) - 1; i >= 0; i-- {
			outline = append(outline, plotter.XY{X: s.X[i], Y: s.Low[i]})
		}
		band, err := plotter.NewPolygon(outline)
		if err != nil {
			return fmt.Errorf("chart: %w", err)
		}
		band.Color, band.Width = pale(c, 50), 0
		p.Add(band)
	}
	line, err := plotter.NewLine(points(s.X, s.Y))
	if err != nil {
		return fmt.Errorf("chart: %w", err)
	}
	line.Color, line.Width, line.Dashes = c, vg.Points(1.5), dashes
	p.Add(line)
	if s.Name != "" {
		p.Legend.Add(s.Name, line)
	}
	if len(s.X) > 1 {
		return nil
	}
	dot, err := plotter.NewScatter(points(s.X, s.Y)) // a line of one point is invisible
	if err != nil {
		return fmt.Errorf("chart: %w", err)
	}
	dot.Color = c
	p.Add(dot)
	return nil
}

// pale returns c with the given opacity, up to 255.
func pale(c color.Color, alpha uint8) color.Color {
	r, g, b, _ := c.RGBA()
	return color.NRGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), alpha}
}

func points(x, y []float64) plotter.XYs {
	all := make(plotter.XYs, len(x))
	for i := range x {
		all[i] = plotter.XY{X: x[i], Y: y[i]}
	}
	return all
}

// drawLevel adds the dashed line over the whole width.
func (c *Chart) drawLevel(p *plot.Plot) {
	low, high := math.Inf(1), math.Inf(-1)
	for _, s := range c.Series {
		for _, x := range s.X {
			low, high = min(low, x), max(high, x)
		}
	}
	line, err := plotter.NewLine(points([]float64{low, high}, []float64{*c.Level, *c.Level}))
	if err != nil {
		return // a level that is not finite is not drawn
	}
	line.Color, line.Dashes = color.Gray{100}, []vg.Length{vg.Points(4), vg.Points(3)}
	p.Add(line)
	if c.About != "" {
		p.Legend.Add(c.About, line)
	}
}
