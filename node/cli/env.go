package cli

import (
	"context"
	"flag"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/evoswarm/evoswarm/envs"
	_ "github.com/evoswarm/evoswarm/envs/all" // the worlds
	"github.com/evoswarm/evoswarm/internal/nearest"
)

const envHelp = `Shows the worlds that policies can be trained in, and runs single episodes of them.

Usage:
    evonode env list [--json]
    evonode env show ENV [--json]
    evonode env trace ENV (--seed N | --draws FILE | --state FILE) --actions FILE [--wind P,T]

ENV is Gymnasium's id, in upper or lower case.

list prints a line per world: id, observation length, actions, step limit, return from which it counts as solved.
With --json each line is what show prints, without doc.

show prints the world's documentation. With --json: id, revision, title, doc, obs_dim, obs_low, obs_high, action,
state, max_steps, solved_return, solved_ours, view, fps.

trace runs one episode step by step, so that a world can be laid beside its original. It prints one JSON line for the
reset, {"obs":[...]}, and one per step, {"obs":[...],"reward":r,"terminated":b,"truncated":b,"state":[...]}. It stops
after the last action or where the episode ends. FILE may be - for standard input.
    --seed N         draw the start from the noise stream of episode seed N
    --draws FILE     a JSON array of numbers u in [0,1) used instead of noise, one per draw, in Gymnasium's order:
                     uniform = low + u (high - low), integer = low + floor(u (high - low))
    --state FILE     start from this state: {"state":[...]}
    --actions FILE   a number or a JSON array per line
    --wind P,T       the landers only: wind of power P (0 to 20) with turbulence T (0 to 2); Gymnasium's own are 15 and 1.5
    --json           accepted for uniformity: the output is JSON anyway

Example:
    $ yes 1 | head -n 3 | evonode env trace CartPole-v1 --seed 7 --actions -
`

func envCommand() *command {
	return &command{name: "env", summary: "list, show and trace the worlds", help: envHelp, bind: func(fs *flag.FlagSet) runner {
		var t traceFlags
		asJSON := fs.Bool("json", false, "")
		t.bind(fs)
		return func(_ context.Context, s *IO, args []string) error {
			if len(args) == 0 {
				return usage("missing list, show or trace", "for example: evonode env list")
			}
			verb, args := args[0], args[1:]
			if verb != "trace" && t.any() {
				return usage("--seed, --draws, --state, --actions and --wind belong to trace", "see evonode env --help")
			}
			switch verb {
			case "list":
				return envList(s, args, *asJSON)
			case "show":
				return envShow(s, args, *asJSON)
			case "trace":
				return t.run(s, args)
			}
			hint := "see evonode env --help"
			if near := nearest.Names(verb, []string{"list", "show", "trace"}); len(near) > 0 {
				hint = "did you mean evonode env " + near[0] + "?"
			}
			return usage(fmt.Sprintf("unknown command \"env %s\"", verb), hint)
		}
	}}
}

// findEnv resolves a world's id, with a hint for one that does not exist.
func findEnv(id string) (*envs.Spec, error) {
	spec, err := envs.Find(id)
	if err == nil {
		return spec, nil
	}
	hint := "evonode env list shows the worlds there are"
	if near := envs.Nearest(id); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, ", ") + "? evonode env list shows all"
	}
	return nil, wrong(fmt.Errorf("%w %q", envs.ErrUnknown, id), hint)
}

func envList(s *IO, args []string, asJSON bool) error {
	if err := none(args); err != nil {
		return err
	}
	if asJSON {
		for _, spec := range envs.All() {
			// The outer Doc hides the long one of the spec.
			if err := s.printJSON(struct {
				*envs.Spec
				Doc string `json:"doc,omitempty"`
			}{Spec: spec}); err != nil {
				return err
			}
		}
		return nil
	}
	w := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "ID\tOBS\tACTIONS\tSTEPS\tSOLVED AT\tWORLD")
	for _, spec := range envs.All() {
		fmt.Fprintf(w, "%s\t%d\t%s\t%d\t%s\t%s\n", spec.ID, spec.ObsDim, actions(spec.Action), spec.MaxSteps, threshold(spec), spec.Title)
	}
	return w.Flush()
}

func envShow(s *IO, args []string, asJSON bool) error {
	id, err := argument(args, "ENV", "evonode env show CartPole-v1")
	if err != nil {
		return err
	}
	spec, err := findEnv(id)
	if err != nil {
		return err
	}
	if asJSON {
		return s.printJSON(spec)
	}
	return printEnv(s.Out, spec)
}

func printEnv(w io.Writer, spec *envs.Spec) error {
	_, err := fmt.Fprintf(w, "# %s (%s, revision %d)\n\n%s\n\nobservations %d, actions %s, at most %d steps, solved at %s\n",
		spec.Title, spec.ID, spec.Revision, strings.TrimSpace(spec.Doc), spec.ObsDim, actions(spec.Action), spec.MaxSteps, threshold(spec))
	return err
}

// actions describes an action space in a word.
func actions(a envs.Space) string {
	if a.Discrete {
		return fmt.Sprintf("%d discrete", a.N)
	}
	return fmt.Sprintf("%d real in [%v, %v]", a.Dim, a.Low[0], a.High[0])
}

func threshold(spec *envs.Spec) string {
	if spec.SolvedOurs {
		return fmt.Sprintf("%v (ours)", spec.SolvedReturn)
	}
	return fmt.Sprint(spec.SolvedReturn)
}
