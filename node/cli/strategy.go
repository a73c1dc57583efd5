package cli

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/nearest"
)

const strategyHelp = `Shows the evolution strategies and their settings.

Usage:
    evonode strategy list [--json]
    evonode strategy show STRATEGY [--json]

list prints a line per strategy with the names of its settings. show says what the strategy does, where it comes from,
and what evonode train --param sets: each setting's default and range.
    --json    one JSON object per strategy: name, revision, doc, settings (name, doc, default, min, max, integer,
              choices; min, max and integer of numbers, choices of texts)

Example:
    $ evonode strategy show openai-es
`

func strategyCommand() *command {
	return &command{name: "strategy", summary: "the evolution strategies and their settings", help: strategyHelp, bind: func(fs *flag.FlagSet) runner {
		asJSON := fs.Bool("json", false, "")
		return func(_ context.Context, s *IO, args []string) error {
			if len(args) == 0 {
				return usage("missing list or show", "for example: evonode strategy list")
			}
			switch verb := args[0]; verb {
			case "list":
				return strategyList(s, args[1:], *asJSON)
			case "show":
				return strategyShow(s, args[1:], *asJSON)
			default:
				hint := "see evonode strategy --help"
				if near := nearest.Names(verb, []string{"list", "show"}); len(near) > 0 {
					hint = "did you mean evonode strategy " + near[0] + "?"
				}
				return usage(fmt.Sprintf("unknown command \"strategy %s\"", verb), hint)
			}
		}
	}}
}

// strategyLine is a strategy of strategy --json.
type strategyLine struct {
	Name     string        `json:"name"`
	Revision uint64        `json:"revision"`
	Doc      string        `json:"doc"`
	Settings []settingLine `json:"settings"`
}

type settingLine struct {
	Name    string   `json:"name"`
	Doc     string   `json:"doc"`
	Default any      `json:"default"`
	Min     *float64 `json:"min,omitempty"`
	Max     *float64 `json:"max,omitempty"`
	Integer bool     `json:"integer,omitempty"`
	Choices []string `json:"choices,omitempty"`
}

func newStrategyLine(m evolve.Method) strategyLine {
	l := strategyLine{m.Name, m.Revision, m.Doc, []settingLine{}}
	for _, s := range m.Settings {
		line := settingLine{Name: s.Name, Doc: s.Doc, Default: s.Default, Integer: s.Integer, Choices: s.Choices}
		if len(s.Choices) == 0 {
			line.Min, line.Max = &s.Min, &s.Max
		}
		l.Settings = append(l.Settings, line)
	}
	return l
}

func strategyList(s *IO, args []string, asJSON bool) error {
	if err := none(args); err != nil {
		return err
	}
	w := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', 0)
	for _, m := range evolve.Methods() {
		if asJSON {
			if err := s.printJSON(newStrategyLine(m)); err != nil {
				return err
			}
			continue
		}
		var names []string
		for _, setting := range m.Settings {
			names = append(names, setting.Name)
		}
		fmt.Fprintf(w, "%s\t%s\n", m.Name, wrapped(names, "\t"))
	}
	return w.Flush()
}

func strategyShow(s *IO, args []string, asJSON bool) error {
	name, err := argument(args, "STRATEGY", "evonode strategy show openai-es")
	if err != nil {
		return err
	}
	m, err := evolve.Find(name)
	if err != nil {
		return unknownStrategy(name)
	}
	if asJSON {
		return s.printJSON(newStrategyLine(m))
	}
	fmt.Fprintf(s.Out, "%s, revision %d\n\n%s\n\nSettings (evonode train --param NAME=VALUE):\n", m.Name, m.Revision, paragraph(m.Doc))
	w := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', 0)
	for _, setting := range m.Settings {
		fmt.Fprintf(w, "  %s\t%v\t%s\t%s\n", setting.Name, setting.Default, rangeOf(setting), setting.Doc)
	}
	return w.Flush()
}

// paragraph breaks text into lines of at most 110 letters.
func paragraph(text string) string {
	var b strings.Builder
	width := 0
	for _, word := range strings.Fields(text) {
		switch {
		case width == 0:
		case width+1+len(word) > 110:
			b.WriteByte('\n')
			width = 0
		default:
			b.WriteByte(' ')
			width++
		}
		b.WriteString(word)
		width += len(word)
	}
	return b.String()
}

// rangeOf says what a setting takes.
func rangeOf(s evolve.Setting) string {
	if len(s.Choices) > 0 {
		return strings.Join(s.Choices, ", ")
	}
	text := fmt.Sprintf("%g to %g", s.Min, s.Max)
	if s.Integer {
		text += ", whole"
	}
	return text
}
