package catalog

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/presets"
)

// trials says how a strategy did in an environment with its preset.
type trials struct {
	Strategy string `json:"strategy"`
	Default  bool   `json:"default"`
	Runs     int    `json:"runs"`
	Solved   int    `json:"solved"`
	Steps    uint64 `json:"steps"`
	Tuning   bool   `json:"tuning"`
}

// trialsIn returns the trials of every strategy, the default strategy first.
func trialsIn(spec *envs.Spec) []trials {
	var first, rest []trials
	for _, m := range evolve.Methods() {
		t := presets.For(spec, m).Trials
		row := trials{m.Name, m.Name == presets.DefaultStrategy(spec.ID), t.Runs, t.Solved, t.Steps, t.Tuning}
		if row.Default {
			first = append(first, row)
		} else {
			rest = append(rest, row)
		}
	}
	return append(first, rest...)
}

func printTrials(out io.Writer, spec *envs.Spec) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "\nSTRATEGY\tSOLVED\tENV-STEPS, MEDIAN\n")
	for _, t := range trialsIn(spec) {
		name := t.Strategy
		if t.Default {
			name += " (default)"
		}
		fmt.Fprintf(w, "%s\t%s\n", name, t.outcome())
	}
	return w.Flush()
}

// outcome is the rest of the strategy's line, with a tab between cells.
func (t trials) outcome() string {
	if t.Runs == 0 {
		return "not tried"
	}
	solved, steps := fmt.Sprintf("%d of %d", t.Solved, t.Runs), "never"
	if t.Tuning {
		solved += " (tuning)"
	}
	if t.Steps > 0 {
		steps = fmt.Sprint(t.Steps)
	}
	return solved + "\t" + steps
}
