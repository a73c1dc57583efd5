package sweep

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/evoswarm/evoswarm/node/chart"
)

// Point is one look at the mean policy while a run trained.
type Point struct {
	Steps  uint64  // env-steps of training so far
	Return float64 // mean return
}

// Curves holds the looks of each seed that was trained, in order.
type Curves map[uint64][]Point

// Group is a sweep to be drawn among others.
type Group struct {
	Name string
	Rows []Row
}

// Draw writes a plot to the named file, .png or .svg, all of it or nothing: above, the return of each seed against
// env-steps beside the threshold (left out without curves); below, the share of the finished runs of each group that have
// solved the world after so many env-steps. The curves are those of the first group.
func Draw(name, title string, threshold float64, curves Curves, groups ...Group) error {
	format, err := chart.FormatOf(name)
	if err != nil {
		return err
	}
	var column []*chart.Chart
	if len(curves) > 0 {
		column = append(column, returnsOf(title, threshold, curves))
		title = ""
	}
	column = append(column, sharesOf(title, groups))
	var b bytes.Buffer
	if err := chart.WriteColumn(&b, format, column...); err != nil {
		return err
	}
	return replaceFile(name, b.Bytes())
}

// returnsOf has a line for each seed.
func returnsOf(title string, threshold float64, curves Curves) *chart.Chart {
	c := &chart.Chart{Title: title, X: "env-steps", Y: "return of the mean policy", Level: &threshold, About: fmt.Sprintf("threshold %v", threshold)}
	var seeds []uint64
	for seed := range curves {
		seeds = append(seeds, seed)
	}
	slices.Sort(seeds)
	for _, seed := range seeds {
		s := chart.Series{Faint: true}
		for _, at := range curves[seed] {
			s.X, s.Y = append(s.X, float64(at.Steps)), append(s.Y, at.Return)
		}
		c.Series = append(c.Series, s)
	}
	return c
}

// sharesOf has a staircase for each group.
func sharesOf(title string, groups []Group) *chart.Chart {
	floor, ceil, last := 0.0, 1.0, 1.0
	for _, g := range groups {
		for _, r := range finished(g.Rows) {
			last = max(last, float64(r.Steps))
		}
	}
	c := &chart.Chart{Title: title, X: "env-steps", Y: "share of runs solved", Floor: &floor, Ceil: &ceil}
	for _, g := range groups {
		x, y := staircase(costs(finished(g.Rows), Steps), 1.02*last) // so that the last step is seen
		c.Series = append(c.Series, chart.Series{Name: g.Name, X: x, Y: y})
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
