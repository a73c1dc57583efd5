package sweep

import (
	"bytes"
	"fmt"

	"github.com/evoswarm/evoswarm/node/chart"
	"github.com/evoswarm/evoswarm/node/verb"
)

// Group is a sweep to be drawn.
type Group struct {
	File   string // of its table, or what else to call it
	Rows   []Row
	Curves Curves // of some of the rows
}

// ReadGroup reads a table, and its learning curves if they were kept.
func ReadGroup(name string) (Group, error) {
	rows, err := Read(name)
	if err != nil {
		return Group{}, err
	}
	curves, err := ReadCurves(CurvesName(name))
	return Group{name, rows, curves}, err
}

// strategy is the one that was swept, "" if the table does not say.
func (g *Group) strategy() string {
	if len(g.Rows) == 0 {
		return ""
	}
	return g.Rows[0].Strategy
}

// Plot is a picture of sweeps of one environment: above, the learning curve of each as interquartile mean and interval
// (left out if no sweep has curves); below, the share of its finished runs that have solved the environment after so
// many env-steps.
type Plot struct {
	Title     string
	Threshold *float64 // from which return on the environment counts as solved; nil: unknown
	Groups    []Group  // at least one
}

// Write draws the plot to the named file, .png or .svg, all of it or nothing.
func (p *Plot) Write(name string) error {
	format, err := chart.FormatOf(name)
	if err != nil {
		return err
	}
	last := p.lastStep()
	shares := p.shares(last)
	column := []*chart.Chart{shares}
	if returns := p.returns(last); len(returns.Series) > 0 {
		shares.Title = ""
		column = []*chart.Chart{returns, shares}
	}
	var b bytes.Buffer
	if err := chart.WriteColumn(&b, format, column...); err != nil {
		return err
	}
	return replaceFile(name, b.Bytes())
}

// Names are those of the groups in the legend: their strategies, with the files where that is not enough.
func (p *Plot) Names() []string {
	names, count := make([]string, len(p.Groups)), map[string]int{}
	for _, g := range p.Groups {
		count[g.strategy()]++
	}
	for i, g := range p.Groups {
		strategy := g.strategy()
		names[i] = strategy
		switch {
		case strategy == "":
			names[i] = g.File
		case count[strategy] > 1:
			names[i] += " (" + g.File + ")"
		}
	}
	return names
}

// Bands aggregates the learning curves of each group, up to where the longest run of all ends.
func (p *Plot) Bands() []Band {
	last, bands := p.lastStep(), make([]Band, len(p.Groups))
	for i, g := range p.Groups {
		bands[i] = g.Curves.Band(last)
	}
	return bands
}

// lastStep is a little more than the env-steps of the longest run, so that its end is seen.
func (p *Plot) lastStep() float64 {
	last := 1.0
	for _, g := range p.Groups {
		last = max(last, g.Curves.lastStep())
		for _, r := range finished(g.Rows) {
			last = max(last, float64(r.Steps))
		}
	}
	return 1.02 * last
}

// returns has a band for each group with learning curves.
func (p *Plot) returns(last float64) *chart.Chart {
	c := &chart.Chart{Title: p.Title, X: "env-steps", Y: "return (interquartile mean, 95 % interval)", Level: p.Threshold}
	if p.Threshold != nil {
		c.About = fmt.Sprintf("solved (%g)", *p.Threshold)
	}
	names := p.Names()
	for i, g := range p.Groups {
		band := g.Curves.Band(last)
		if band.Runs == 0 {
			continue
		}
		s := chart.Series{Name: fmt.Sprintf("%s, %s", names[i], verb.Plural(band.Runs, "run")), Color: i, X: band.Steps, Y: band.IQM}
		if band.Runs > 1 {
			s.Low, s.High = band.Low, band.High
		}
		c.Series = append(c.Series, s)
	}
	return c
}

// shares has a staircase for each group.
func (p *Plot) shares(last float64) *chart.Chart {
	floor, ceil := 0.0, 1.0
	c := &chart.Chart{Title: p.Title, X: "env-steps", Y: "share of runs solved", Floor: &floor, Ceil: &ceil}
	names := p.Names()
	for i, g := range p.Groups {
		done := finished(g.Rows)
		x, y := staircase(costs(done, Steps), last)
		c.Series = append(c.Series, chart.Series{Name: fmt.Sprintf("%s, %s", names[i], verb.Plural(len(done), "run")), Color: i, X: x, Y: y})
	}
	return c
}

// staircase returns the share of sorted costs that are at most x, for x from 0 to last.
func staircase(sorted []float64, last float64) (x, y []float64) {
	x, y = []float64{0}, []float64{0}
	share := 0.0
	for i, c := range sorted {
		if !finite(c) {
			break
		}
		next := float64(i+1) / float64(len(sorted))
		x, y = append(x, c, c), append(y, share, next)
		share = next
	}
	return append(x, last), append(y, share)
}
