package catalog

import (
	"context"
	"fmt"
	"strings"
	"text/tabwriter"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/nearest"
	"github.com/evoswarm/evoswarm/node/verb"
)

// StrategyVerb is evonode strategy.
func StrategyVerb() *verb.Verb {
	words := []string{"list", "show"}
	return &verb.Verb{
		Name: "strategy", Args: "list|show", Summary: "the evolution strategies and their settings",
		Intro: "Shows the evolution strategies and their settings.",
		Usage: []string{"strategy list [--json]", "strategy show STRATEGY [--json]"},
		Details: `list prints a line per strategy with the names of its settings. show says what the strategy does, where it comes from,
and what evonode train --param sets: each setting's default and range.`,
		Example: "evonode strategy show openai-es",
		Words:   words,
		Bind: func(fs *verb.Flags) verb.Run {
			asJSON := false
			fs.JSON(&asJSON, "one JSON object per strategy: name, revision, doc, settings (name, doc, default, min, max, integer, choices; "+
				"min, max and integer of numbers, choices of texts)")
			return func(_ context.Context, s *verb.IO, args []string) error {
				if len(args) == 0 {
					return verb.Misused("missing list or show", "for example: evonode strategy list")
				}
				switch args[0] {
				case "list":
					return strategyList(s, args[1:], asJSON)
				case "show":
					return strategyShow(s, args[1:], asJSON)
				}
				return verb.Unknown("strategy", args[0], words)
			}
		},
	}
}

// Strategies names them all.
func Strategies() []string {
	var names []string
	for _, m := range evolve.Methods() {
		names = append(names, m.Name)
	}
	return names
}

// Strategy finds a strategy, with a hint for one that does not exist.
func Strategy(name string) (evolve.Method, error) {
	m, err := evolve.Find(name)
	if err == nil {
		return m, nil
	}
	names := Strategies()
	hint := "there are " + strings.Join(names, ", ")
	if near := nearest.Names(name, names); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, ", ") + "? T" + hint[1:]
	}
	return m, verb.Wrong(fmt.Errorf("%w %q", evolve.ErrMethod, name), hint)
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

func strategyList(s *verb.IO, args []string, asJSON bool) error {
	if err := verb.None(args); err != nil {
		return err
	}
	w := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', 0)
	for _, m := range evolve.Methods() {
		if asJSON {
			if err := s.PrintJSON(newStrategyLine(m)); err != nil {
				return err
			}
			continue
		}
		var names []string
		for _, setting := range m.Settings {
			names = append(names, setting.Name)
		}
		fmt.Fprintf(w, "%s\t%s\n", m.Name, verb.List(names, "\t"))
	}
	return w.Flush()
}

func strategyShow(s *verb.IO, args []string, asJSON bool) error {
	name, err := verb.Argument(args, "STRATEGY", "evonode strategy show openai-es")
	if err != nil {
		return err
	}
	m, err := Strategy(name)
	if err != nil {
		return err
	}
	if asJSON {
		return s.PrintJSON(newStrategyLine(m))
	}
	fmt.Fprintf(s.Out, "%s, revision %d\n\n%s\n\nSettings (evonode train --param NAME=VALUE):\n", m.Name, m.Revision, verb.Wrap(m.Doc))
	w := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', 0)
	for _, setting := range m.Settings {
		fmt.Fprintf(w, "  %s\t%v\t%s\t%s\n", setting.Name, setting.Default, rangeOf(setting), setting.Doc)
	}
	return w.Flush()
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
