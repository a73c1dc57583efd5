package sweep

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/evoswarm/evoswarm/node/verb"
)

// compareFiles serves `evonode sweep compare A B`.
func (f *sweepFlags) compareFiles(s *verb.IO, args []string, given []string) error {
	for _, name := range given {
		if name != "json" {
			return verb.Misused("--"+name+" with sweep compare", "it takes two tables and --json")
		}
	}
	if len(args) != 2 {
		return verb.Misused(fmt.Sprintf("%d tables", len(args)), "two are compared, for example: evonode sweep compare a.csv b.csv")
	}
	a, err := Read(args[0])
	if err != nil {
		return err
	}
	b, err := Read(args[1])
	if err != nil {
		return err
	}
	return printComparison(s, args[0], args[1], a, b, f.json)
}

// printComparison prints how b differs from a.
func printComparison(s *verb.IO, nameA, nameB string, a, b []Row, asJSON bool) error {
	c, err := Compare(a, b)
	if err != nil {
		return verb.Failed(err, "compare sweeps of the same environment that have finished runs")
	}
	if asJSON {
		return s.PrintJSON(c)
	}
	var t strings.Builder
	for _, side := range []struct {
		letter, name string
		Summary
	}{{"A", nameA, c.A}, {"B", nameB, c.B}} {
		what := strings.Join(slices.DeleteFunc([]string{side.Env, side.Strategy, side.Until}, func(s string) bool { return s == "" }), ", ")
		fmt.Fprintf(&t, "%s: %s (%s)\n%s", side.letter, side.name, what, summaryText(side.Summary))
		if side.Left > 0 {
			fmt.Fprintf(&t, "%d unfinished runs are left out\n", side.Left)
		}
	}
	fmt.Fprintf(&t, "B against A, with 95 %% bootstrap intervals\n")
	fmt.Fprintf(&t, "solved     %+.2f (%+.2f to %+.2f)\n", float64(c.Rate.Value), float64(c.Rate.Low), float64(c.Rate.High))
	for _, m := range c.Costs {
		name, digits := "env-steps", 0
		if m.Measure == Seconds {
			name, digits = "seconds", 3
		}
		fmt.Fprintf(&t, "%-9s  median %s; ratio %s; %s\n", name, signed(m.Difference, digits), ratioText(m.Ratio), map[string]string{
			"a": "A takes less", "b": "B takes less", "unclear": "no clear difference"}[m.Better])
	}
	_, err = fmt.Fprint(s.Out, t.String())
	return err
}

// signed prints a difference with its interval.
func signed(i Interval, digits int) string {
	f := func(x Real) string { return known("%+.*f", x, digits) }
	return fmt.Sprintf("%s (%s to %s)", f(i.Value), f(i.Low), f(i.High))
}

// ratioText prints a ratio with its interval.
func ratioText(i Interval) string {
	f := func(x Real) string { return known("%.*f", x, 2) }
	return fmt.Sprintf("%s (%s to %s)", f(i.Value), f(i.Low), f(i.High))
}

// known prints a number, or a word for an infinite or unknown one.
func known(format string, x Real, digits int) string {
	switch v := float64(x); {
	case math.IsNaN(v):
		return "unknown"
	case math.IsInf(v, 1):
		return "+infinite"
	case math.IsInf(v, -1):
		return "-infinite"
	default:
		return fmt.Sprintf(format, digits, v)
	}
}
