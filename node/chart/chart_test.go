package chart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
)

func sample() *Chart {
	level := 4.5
	return &Chart{Title: "CartPole <v1>", X: "env-steps", Y: "return", Level: &level, About: "solved (4.5)", Series: []Series{
		{Name: "a & b", X: []float64{0, 10000, 20000}, Y: []float64{1, 2, 5}, Low: []float64{0, 1, 4}, High: []float64{2, 3, 6}},
		{Name: "dot", Color: 1, X: []float64{5000}, Y: []float64{3}},
	}}
}

func TestPNG(t *testing.T) {
	var b bytes.Buffer
	if err := sample().Write(&b, PNG); err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	colors := map[[3]uint32]int{}
	for x := range img.Bounds().Dx() {
		for y := range img.Bounds().Dy() {
			r, g, b, _ := img.At(x, y).RGBA()
			colors[[3]uint32{r >> 8, g >> 8, b >> 8}]++
		}
	}
	// Paper, letters, and the first two curves.
	for _, c := range [][3]uint32{{255, 255, 255}, {0, 0, 0}, {241, 90, 96}, {122, 195, 106}} {
		if colors[c] < 10 {
			t.Errorf("%d pixels of color %v", colors[c], c)
		}
	}
}

// An SVG is well-formed and has all texts.
func TestSVG(t *testing.T) {
	var b bytes.Buffer
	if err := sample().Write(&b, SVG); err != nil {
		t.Fatal(err)
	}
	var texts []string
	d := xml.NewDecoder(&b)
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if data, ok := token.(xml.CharData); ok {
			texts = append(texts, strings.TrimSpace(string(data)))
		}
	}
	for _, want := range []string{"CartPole <v1>", "env-steps", "return", "a & b", "dot", "solved (4.5)", "20k"} {
		if !slices.Contains(texts, want) {
			t.Errorf("%q is not in the picture: %q", want, texts)
		}
	}
}

func TestRefuses(t *testing.T) {
	for _, c := range []struct {
		name   string
		format Format
		change func(*Chart)
		want   error
	}{
		{"nothing", PNG, func(c *Chart) { c.Series = nil }, ErrSeries},
		{"no points", PNG, func(c *Chart) { c.Series[1].X, c.Series[1].Y = nil, nil }, ErrSeries},
		{"lengths", PNG, func(c *Chart) { c.Series[0].Y = c.Series[0].Y[1:] }, ErrSeries},
		{"half a band", SVG, func(c *Chart) { c.Series[0].High = nil }, ErrSeries},
		{"NaN", SVG, func(c *Chart) { c.Series[1].Y[0] = math.NaN() }, ErrSeries},
		{"infinity", SVG, func(c *Chart) { c.Series[0].Low[1] = math.Inf(-1) }, ErrSeries},
		{"format", "gif", func(*Chart) {}, ErrFormat},
	} {
		chart := sample()
		c.change(chart)
		if err := chart.Write(io.Discard, c.format); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
	if _, err := FormatOf("a.pdf"); !errors.Is(err, ErrFormat) {
		t.Errorf("a.pdf: %v", err)
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		want      string
	}{
		{0, 1, "0 0.2 0.4 0.6 0.8 1"},
		{0, 470000, "0 100k 200k 300k 400k"},
		{-1200, -110, "-1200 -1000 -800 -600 -400 -200"},
		{0, 5e6, "0 1M 2M 3M 4M 5M"},
		{7, 7, "7"},
	} {
		var got []string
		for _, tick := range (ticks{}).Ticks(c.low, c.high) {
			got = append(got, tick.Label)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("from %v to %v: %q, want %q", c.low, c.high, got, c.want)
		}
	}
}

// A chart of a single value, or of equal values, can be drawn.
func TestFlat(t *testing.T) {
	for _, y := range [][]float64{{3}, {500, 500}} {
		c := &Chart{Series: []Series{{Name: "flat", X: []float64{0, 1}[:len(y)], Y: y}}}
		if err := c.Write(io.Discard, PNG); err != nil {
			t.Errorf("%v: %v", y, err)
		}
	}
}
