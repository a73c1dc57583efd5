package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/node/httpd"
	"github.com/evoswarm/evoswarm/node/verb"
)

// ControlVerbs are the verbs that talk to the node that runs here.
func ControlVerbs() []*verb.Verb {
	return []*verb.Verb{
		statusVerb(),
		BranchVerb(),
		controlVerb("pause", "stop this computer's evaluations; the node stays in the swarm", "Stops this computer's evaluations; the node stays in the swarm. It stays paused until resume, even over restarts.", "POST"),
		controlVerb("resume", "start them again", "Starts this computer's evaluations again after pause.", "POST"),
		controlVerb("stop", "end the node here, and hand over", "Ends the node that runs here: it hands over, writes everything to disk and leaves. Waits until it is gone.", "POST"),
	}
}

const (
	controlDetails = "Talks to the node that runs on the data folder, through a socket there that only you can open."
	statusFields   = "one JSON object: run, env, strategy, height, head, leader, self, leads, term, peers, evaluations, steps, mine, " +
		"evals_per_s, best, mean, return (of the mean policy), threshold, solved, solved_at, state (training, catching-up, idle or paused), reason, why, behind (entries still to fold), " +
		"own (computed since the start: computed, logged, waiting, late, replaced), lifetime (evaluations of this computer in its runs, logged or replaced), " +
		"runs (how many those are), reorgs, reorg (the last time that entries were replaced: height, gone, come), branches (that are kept), workers, page, addresses (at which others may reach it), uptime, version; of a node with several runs this is the first one's, and active has such an object for each"
)

func statusVerb() *verb.Verb {
	return &verb.Verb{
		Name: "status", Summary: "what the node here is doing", Intro: "Prints what the node that runs here is doing.",
		Usage: []string{"status [--watch] [--data DIR] [--json]"},
		Details: controlDetails + "\n\nWith --watch it shows more, once a second until Ctrl-C: who is here, who leads, how much of the last 50 generations each " +
			"has computed, what became of what was computed here, and how many generations a heavier branch replaced last.",
		Example: "evonode status --watch",
		Bind: func(fs *verb.Flags) verb.Run {
			data, asJSON, watching := "", false, false
			bindData(fs, &data, "the node's data folder")
			fs.Bool(&watching, "watch", "show it again every second, with who takes part")
			fs.JSON(&asJSON, statusFields+"; with --watch one a second, with roster (members, others, entries, reorgs, reorg), and rosters for several runs")
			return func(ctx context.Context, s *verb.IO, args []string) error {
				dir, err := dirAlone(data, args)
				if err != nil {
					return err
				}
				if watching {
					return watch(ctx, s, dir, asJSON)
				}
				return control(ctx, s, dir, "GET", "status", asJSON)
			}
		},
	}
}

// dirAlone is the data folder that a verb without arguments is about.
func dirAlone(data string, args []string) (string, error) {
	if err := verb.None(args); err != nil {
		return "", err
	}
	return dataDir(data)
}

func controlVerb(name, summary, intro, method string) *verb.Verb {
	return &verb.Verb{
		Name: name, Summary: summary, Intro: intro,
		Usage:   []string{name + " [--data DIR] [--json]"},
		Details: controlDetails,
		Example: "evonode " + name,
		Bind: func(fs *verb.Flags) verb.Run {
			data, asJSON := "", false
			bindData(fs, &data, "the node's data folder")
			fs.JSON(&asJSON, statusFields)
			return func(ctx context.Context, s *verb.IO, args []string) error {
				dir, err := dirAlone(data, args)
				if err != nil {
					return err
				}
				return control(ctx, s, dir, method, name, asJSON)
			}
		},
	}
}

// bindData defines --data.
func bindData(fs *verb.Flags, to *string, what string) {
	fs.String(to, "data", "DIR", what+" (default: $XDG_DATA_HOME/evoswarm, else ~/.local/share/evoswarm)")
}

// dataDir returns the data folder: the flag's, or the user's.
func dataDir(flagged string) (string, error) {
	if flagged != "" {
		return filepath.Abs(flagged)
	}
	if x := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(x) {
		return filepath.Join(x, "evoswarm"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", verb.Failed(fmt.Errorf("no data folder: %w", err), "name one with --data DIR")
	}
	return filepath.Join(home, ".local", "share", "evoswarm"), nil
}

// stopPatience is how long stop waits for the node to be gone.
const stopPatience = 30 * time.Second

func control(ctx context.Context, s *verb.IO, data, method, name string, asJSON bool) error {
	asking, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	status, err := httpd.Ask(asking, data, method, name)
	if err != nil {
		return notRunning(err)
	}
	if name == "stop" {
		if err := waitGone(ctx, data); err != nil {
			return err
		}
	}
	if asJSON {
		return s.PrintJSON(status)
	}
	if name == "stop" {
		_, err := fmt.Fprintln(s.Out, "stopped")
		return err
	}
	return printStatus(s.Out, status)
}

// notRunning adds to the error of a question to a node what to do where none runs.
func notRunning(err error) error {
	if errors.Is(err, httpd.ErrNotRunning) {
		return verb.Failed(err, "start one with evonode --bootstrap or evonode join, or name its folder with --data")
	}
	return err
}

// waitGone returns once no node answers on data any more.
func waitGone(ctx context.Context, data string) error {
	ctx, cancel := context.WithTimeout(ctx, stopPatience)
	defer cancel()
	for {
		_, err := httpd.Ask(ctx, data, "GET", "status")
		if errors.Is(err, httpd.ErrNotRunning) {
			return nil
		}
		select {
		case <-ctx.Done():
			return verb.Failed(fmt.Errorf("the node on %s did not end within %v", data, stopPatience), "look at its messages, or end the process")
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// printStatus prints what the node does, run by run.
func printStatus(w io.Writer, s httpd.Status) error {
	if len(s.Active) == 0 {
		return printOne(w, s)
	}
	for i, run := range s.Active {
		if i > 0 {
			if _, err := fmt.Fprintln(w); err != nil {
				return err
			}
		}
		if err := printOne(w, run); err != nil {
			return err
		}
	}
	return nil
}

// maxAddressesShown is how many addresses of a node are printed.
const maxAddressesShown = 4

// printOne prints what the node does in one run.
func printOne(w io.Writer, s httpd.Status) error {
	var b strings.Builder
	fmt.Fprintf(&b, "state        %s\n", stateText(s.Status))
	if s.Run == "" && s.Error != "" {
		fmt.Fprintf(&b, "error        %s\n", s.Error)
	}
	if s.Run != "" {
		fmt.Fprintf(&b, "run          %s (%s, %s)\n", s.Run, envs.Label(s.Env, s.EnvParams), s.Strategy)
		fmt.Fprintf(&b, "policy       %s\n", policyText(s))
		fmt.Fprintf(&b, "head         %s at height %d\n", s.Head, s.Height)
		fmt.Fprintf(&b, "leader       %s in term %d\n", leaderOf(s), s.Term)
		fmt.Fprintf(&b, "evaluations  %d (%.0f/s), %d of them by this node\n", s.Evaluations, s.EvalsPerS, s.Mine)
		fmt.Fprintf(&b, "lifetime     %s by this computer in %s, logged or replaced\n", verb.Plural(int(s.Lifetime), "evaluation"), verb.Plural(s.Runs, "run"))
		if r := s.Reorg; r != nil {
			fmt.Fprintf(&b, "replaced     %s above generation %d by %d others; %s since the start (evonode branch list)\n",
				verb.Plural(int(r.Gone), "generation"), r.Height, r.Come, verb.Plural(int(s.Reorgs), "time"))
		}
		if s.First > 1 && s.Base == 0 {
			fmt.Fprintf(&b, "log          from generation %d on; what lies before was dropped (--keep)\n", s.First)
		}
		fmt.Fprintf(&b, "fitness      best %s, mean %s in the newest generation\n", verb.Number(s.Best), verb.Number(s.Mean))
	}
	fmt.Fprintf(&b, "peers        %d\n", s.Peers)
	fmt.Fprintf(&b, "workers      %d\n", s.Workers)
	if s.Devices > 0 {
		fmt.Fprintf(&b, "devices      %d (evonode device list)\n", s.Devices)
	}
	for i, a := range s.Addresses[:min(len(s.Addresses), maxAddressesShown)] {
		label := ""
		if i == 0 {
			label = "address"
		}
		fmt.Fprintf(&b, "%-12s %s\n", label, a)
	}
	if more := len(s.Addresses) - maxAddressesShown; more > 0 {
		fmt.Fprintf(&b, "%-12s and %d more (--json)\n", "", more)
	}
	fmt.Fprintf(&b, "up           %v\n", (time.Duration(s.Uptime) * time.Second).String())
	_, err := io.WriteString(w, b.String())
	return err
}

// policyText says how good the policy is.
func policyText(s httpd.Status) string {
	text := "not evaluated yet"
	if s.Return != nil {
		text = fmt.Sprintf("return %.1f at generation %d", *s.Return, s.ReturnHeight)
	}
	if s.Threshold != nil {
		text += fmt.Sprintf(" (goal %g)", *s.Threshold)
	}
	switch {
	case s.SolvedAt != nil:
		text += fmt.Sprintf(", solved at generation %d", *s.SolvedAt)
	case s.Return != nil:
		text += ", not solved yet"
	}
	return text
}

// leaderOf names the leader for people.
func leaderOf(s httpd.Status) string {
	switch {
	case s.Leads:
		return "this node"
	case s.Leader == "":
		return "nobody"
	case len(s.Leader) > 8:
		return s.Leader[:8]
	}
	return s.Leader
}
