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
	some := Group{"a.csv", rows("W", 100, inf, 300), Curves{0: {{50, 1}, {100, 2}}, 1: {{70, 1.5}}}}
	for _, c := range []struct {
		name, start string
		groups      []Group
	}{
		{"a.png", "\x89PNG\r\n", []Group{some, {"b.csv", some.Rows, nil}}},
		{"a.svg", "<?xml", []Group{some}},
		{"one point.svg", "<?xml", []Group{{"a.csv", rows("W", 50), Curves{0: {{50, 1}}}}}},
		{"no curves.svg", "<?xml", []Group{{"a.csv", some.Rows, nil}}},
		{"never.svg", "<?xml", []Group{{"a.csv", rows("W", inf), nil}}},
		{"no runs.svg", "<?xml", []Group{{"a.csv", nil, nil}}},
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

// Each sweep has its name and number of runs in the legend, and a line with a band. There are no single
// points, not even for seeds that were evaluated once.
func TestPlotShows(t *testing.T) {
	p := Plot{Title: "W", Groups: []Group{
		{"a.csv", rows("W", 100, 120, 90), Curves{0: {{100, 480}}, 1: {{120, 490}}, 2: {{90, 500}}}},
		{"b.csv", rows("W", 100, inf), Curves{0: {{50, 1}, {100, 480}}, 1: {{50, 1}, {5000, 200}}}},
	}}
	for i, strategy := range []string{"dises", "openai-es"} {
		for k := range p.Groups[i].Rows {
			p.Groups[i].Rows[k].Strategy = strategy
		}
	}
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
			t.Errorf("the curve of %s goes over %d points to %v env-steps", p.Groups[i].File, len(band.Steps), band.Steps)
		}
	}
	if strings.Contains(string(data), "A2.5,2.5") { // an arc
		t.Error("there is a dot in the picture")
	}
}

func TestPlotNames(t *testing.T) {
	of := func(file, strategy string) Group { return Group{File: file, Rows: []Row{{Strategy: strategy}}} }
	p := Plot{Groups: []Group{of("a.csv", "dises"), of("b.csv", "ars"), of("c.csv", "dises"), of("d.csv", ""), {File: "e.csv"}}}
	if got, want := p.Names(), []string{"dises (a.csv)", "ars", "dises (c.csv)", "d.csv", "e.csv"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
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
