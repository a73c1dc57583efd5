package sweep

import (
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestPlotWrite(t *testing.T) {
	threshold := 475.0
	some := Group{"dises", rows("W", 100, inf, 300), Curves{0: {{50, 1}, {100, 2}}, 1: {{70, 1.5}}}}
	for _, c := range []struct {
		name, start string
		groups      []Group
	}{
		{"a.png", "\x89PNG\r\n", []Group{some, {"openai-es", some.Rows, nil}}},
		{"a.svg", "<?xml", []Group{some}},
		{"one point.svg", "<?xml", []Group{{"dises", rows("W", 50), Curves{0: {{50, 1}}}}}},
		{"no curves.svg", "<?xml", []Group{{"dises", some.Rows, nil}}},
		{"never.svg", "<?xml", []Group{{"dises", rows("W", inf), nil}}},
		{"no runs.svg", "<?xml", []Group{{"dises", nil, nil}}},
	} {
		path := filepath.Join(t.TempDir(), c.name)
		p := Plot{Title: "W", Threshold: &threshold, Groups: c.groups}
		if err := p.Write(path); err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil || !strings.HasPrefix(string(data), c.start) || strings.Contains(string(data), "NaN") {
			t.Errorf("%s begins with %.20q (%v), want %q and no NaN", c.name, data, err, c.start)
		}
	}
}

// Sweeps are named in the legend with the number of their runs, and drawn as a line and a band each: no point stands
// alone, also not of seeds that were evaluated once.
func TestPlotShows(t *testing.T) {
	p := Plot{Title: "W", Groups: []Group{
		{"dises", rows("W", 100, 120, 90), Curves{0: {{100, 480}}, 1: {{120, 490}}, 2: {{90, 500}}}},
		{"openai-es", rows("W", 100, inf), Curves{0: {{50, 1}, {100, 480}}, 1: {{50, 1}, {5000, 200}}}},
	}}
	path := filepath.Join(t.TempDir(), "a.svg")
	if err := p.Write(path); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	texts := textsOf(t, string(data))
	for _, name := range []string{"dises, 3 runs", "openai-es, 2 runs", "W", "share of runs solved"} {
		if !slices.Contains(texts, name) {
			t.Errorf("%q is not in the picture: %q", name, texts)
		}
	}
	for i, band := range p.Bands() {
		if len(band.Steps) < 2 || band.Steps[len(band.Steps)-1] < 5000 {
			t.Errorf("the curve of %s goes over %d points to %v env-steps", p.Groups[i].Name, len(band.Steps), band.Steps)
		}
	}
	if strings.Contains(string(data), "A2.5,2.5") { // an arc
		t.Error("there is a dot in the picture")
	}
}

// textsOf returns the texts of an SVG file.
func textsOf(t *testing.T, svg string) (texts []string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := d.Token()
		if err == io.EOF {
			return texts
		}
		if err != nil {
			t.Fatal(err)
		}
		if data, ok := token.(xml.CharData); ok {
			texts = append(texts, strings.TrimSpace(string(data)))
		}
	}
}
