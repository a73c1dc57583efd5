package catalog

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/evoswarm/evoswarm/envs"
	_ "github.com/evoswarm/evoswarm/envs/all" // the worlds
	"github.com/evoswarm/evoswarm/node/verb"
)

// EnvVerb is evonode env.
func EnvVerb() *verb.Verb {
	words := []string{"list", "show", "trace"}
	return &verb.Verb{
		Name: "env", Args: "list|show|trace", Summary: "list, show and trace the environments",
		Intro: "Shows the environments that policies can be trained in, and runs single episodes of them.",
		Usage: []string{
			"env list [--json]",
			"env show ENV [--env-param NAME=VALUE] [--json]",
			"env trace ENV (--seed N | --draws FILE | --state FILE) --actions FILE [--env-param NAME=VALUE]",
		},
		Details: envDetails,
		Example: "yes 1 | head -n 3 | evonode env trace CartPole-v1 --seed 7 --actions -",
		Words:   words,
		Bind: func(fs *verb.Flags) verb.Run {
			var t traceFlags
			t.bind(fs)
			asJSON := false
			fs.JSON(&asJSON, "JSON, of list and show; the output of trace is JSON anyway")
			return func(_ context.Context, s *verb.IO, args []string) error {
				if len(args) == 0 {
					return verb.Misused("missing list, show or trace", "for example: evonode env list")
				}
				word, args := args[0], args[1:]
				if word != "trace" && t.any() {
					return verb.Misused("--seed, --draws, --state and --actions belong to trace", "see evonode env --help")
				}
				if word != "trace" && word != "show" && len(t.params) > 0 {
					return verb.Misused("--env-param belongs to show and trace", "see evonode env --help")
				}
				switch word {
				case "list":
					return envList(s, args, asJSON)
				case "show":
					return envShow(s, args, t.params, asJSON)
				case "trace":
					return t.run(s, args)
				}
				return verb.Unknown("env", word, words)
			}
		},
	}
}

const envDetails = `ENV is Gymnasium's id, in upper or lower case.

list prints a line per environment: id, observation length, actions, step limit, and the return from which it counts
as solved. With --json each line is what show prints, without doc.

show prints the environment's documentation, its parameters (--env-param), and how well each strategy learned it with its
preset. With --json: id, revision, title, doc, obs_dim, obs_low, obs_high, action, state, max_steps, solved_return,
solved_ours, view, fps, params (if there are any: name, kind, default, low, high, unit, doc), and presets: for each strategy its name, whether it is the default, and its trials: runs, solved, steps (median of env-steps,
0 for never), tuning (the settings were chosen by these runs). No runs: nobody has tried it here.

trace runs one episode step by step, to be compared with the original. It prints one JSON line for the reset,
{"obs":[...]}, and one per step, {"obs":[...],"reward":r,"terminated":b,"truncated":b,"state":[...]}. It stops after the
last action or where the episode ends. FILE may be - for standard input.`

// Env resolves an environment's id, with a hint for one that does not exist.
func Env(id string) (*envs.Spec, error) {
	spec, err := envs.Find(id)
	if err == nil {
		return spec, nil
	}
	hint := "evonode env list shows all"
	if near := envs.Nearest(id); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, ", ") + "? evonode env list shows all"
	}
	return nil, verb.Wrong(fmt.Errorf("%w %q", envs.ErrUnknown, id), hint)
}

func envList(s *verb.IO, args []string, asJSON bool) error {
	if err := verb.None(args); err != nil {
		return err
	}
	if asJSON {
		for _, spec := range envs.All() {
			// The outer Doc hides the long one of the spec.
			if err := s.PrintJSON(struct {
				*envs.Spec
				Doc string `json:"doc,omitempty"`
			}{Spec: spec}); err != nil {
				return err
			}
		}
		return nil
	}
	w := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tOBS\tACTIONS\tSTEPS\tSOLVED AT\tENVIRONMENT")
	for _, spec := range envs.All() {
		fmt.Fprintf(w, "%s\t%d\t%s\t%d\t%s\t%s\n", spec.ID, spec.ObsDim, Actions(spec.Action), spec.MaxSteps, Threshold(spec), spec.Name())
	}
	return w.Flush()
}

func envShow(s *verb.IO, args []string, params map[string]string, asJSON bool) error {
	id, err := verb.Argument(args, "ENV", "evonode env show CartPole-v1")
	if err != nil {
		return err
	}
	spec, err := Env(id)
	if err != nil {
		return err
	}
	if spec, err = Adjust(spec, params); err != nil {
		return err
	}
	if asJSON {
		return s.PrintJSON(struct {
			*envs.Spec
			Presets []trials `json:"presets"`
		}{spec, trialsIn(spec)})
	}
	if err := printEnv(s.Out, spec); err != nil {
		return err
	}
	if err := printParams(s.Out, spec); err != nil {
		return err
	}
	return printTrials(s.Out, spec)
}

func printEnv(w io.Writer, spec *envs.Spec) error {
	_, err := fmt.Fprintf(w, "# %s (%s, revision %d)\n\n%s\n\nobservations %d, actions %s, at most %d steps, solved at %s\n",
		spec.Name(), spec.ID, spec.Revision, strings.TrimSpace(spec.Doc), spec.ObsDim, Actions(spec.Action), spec.MaxSteps, Threshold(spec))
	return err
}

// printParams prints a line per parameter.
func printParams(out io.Writer, spec *envs.Spec) error {
	if len(spec.Params) == 0 {
		return nil
	}
	fmt.Fprintln(out)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "PARAMETER\tDEFAULT\tWHAT")
	for i := range spec.Params {
		p := &spec.Params[i]
		unit := ""
		if p.Unit != "" {
			unit = " [" + p.Unit + "]"
		}
		fmt.Fprintf(w, "%s\t%s\t%s%s: %s\n", p.Name, p.Text(p.Default), p.Doc, unit, p.Range())
	}
	return w.Flush()
}

// Actions describes an action space in a word.
func Actions(a envs.Space) string {
	if a.Discrete {
		return fmt.Sprintf("%d discrete", a.N)
	}
	return fmt.Sprintf("%d real in [%v, %v]", a.Dim, a.Low[0], a.High[0])
}

// Threshold is the mean return from which an environment counts as solved.
func Threshold(spec *envs.Spec) string {
	if spec.SolvedOurs {
		return fmt.Sprintf("%v (ours)", spec.SolvedReturn)
	}
	return fmt.Sprint(spec.SolvedReturn)
}
