package replay

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/node/verb"
)

// LogVerb is evonode log.
func LogVerb() *verb.Verb {
	return &verb.Verb{
		Name: "log", Args: "LOG", Summary: "list the entries of a seed log",
		Intro:   "Lists the entries of a seed log, and checks form, links, order, counts and signatures on the way.",
		Usage:   []string{"log LOG [--json]", "log LOG --branches [--json]"},
		Details: "LOG is a file, or - for standard input. With --branches it lists instead what was part of the run on this computer until a heavier\nbranch replaced it; LOG is then the log in a node's data folder, and evonode branch --help says more.",
		Example: "evonode log run.seedlog --json | jq .best",
		Bind: func(fs *verb.Flags) verb.Run {
			asJSON, branches := false, false
			fs.Bool(&branches, "branches", "list the branches that were replaced here, of a log in a node's data folder")
			fs.JSON(&asJSON, "one JSON object per entry: height, cid, parent, leader, term, evaluations, steps, best, mean (of the fitness, "+
				"as returns), claims (how many), peers (evaluations of each peer, by its key), best_state (height, score and episodes of the best state by held-out episodes, or null); with --branches "+BranchFields)
			return func(ctx context.Context, s *verb.IO, args []string) error {
				log, err := verb.Argument(args, "LOG", "evonode log run.seedlog")
				if err != nil {
					return err
				}
				if branches {
					return listBranches(s, log, asJSON)
				}
				return list(ctx, s, log, asJSON)
			}
		},
	}
}

// logLine is an entry of log --json.
type logLine struct {
	Height      uint64            `json:"height"`
	CID         string            `json:"cid"`
	Parent      string            `json:"parent"`
	Leader      string            `json:"leader"`
	Term        uint64            `json:"term"`
	Evaluations uint64            `json:"evaluations"`
	Steps       uint64            `json:"steps"`
	Best        *float64          `json:"best"` // null if no evaluation gave a valid fitness
	Mean        *float64          `json:"mean"`
	Claims      int               `json:"claims"`
	Peers       map[string]uint64 `json:"peers"`
	BestState   *bestState        `json:"best_state"` // the best one up to here by held-out episodes; null: none
}

// list prints the entries of the named log.
func list(ctx context.Context, s *verb.IO, log string, asJSON bool) error {
	in, err := s.Open(log)
	if err != nil {
		return err
	}
	defer in.Close()
	scanner, err := seedlog.NewScanner(in)
	if err != nil {
		return Error(verb.Called(log), err)
	}
	buffered := bufio.NewWriter(s.Out)
	out := &verb.IO{Out: buffered, Err: s.Err}
	if !asJSON {
		spec := scanner.Rules().Spec
		fmt.Fprintf(buffered, "run %s (%s, %s)\n", scanner.Rules().Run, spec.Env, spec.Strategy.Name)
		fmt.Fprintf(buffered, "%8s  %-8s  %-8s  %5s  %6s  %5s  %10s  %10s\n", "height", "entry", "leader", "term", "evals", "peers", "best", "mean")
	}
	err = listEntries(ctx, out, scanner, asJSON)
	if best := scanner.Parent().Marks.Best; best.Height > 0 && !asJSON {
		fmt.Fprintln(buffered, bestText(best))
	}
	if flushErr := buffered.Flush(); err == nil {
		err = flushErr
	}
	if seedlog.Torn(err) {
		s.Note("%s is truncated (%v); everything before that was listed", verb.Called(log), err)
		return nil
	}
	if err != nil {
		return Error(verb.Called(log), err)
	}
	return nil
}

// listEntries prints the entries that scanner finds; the error is nil at the end of a whole log.
func listEntries(ctx context.Context, s *verb.IO, scanner *seedlog.Scanner, asJSON bool) error {
	for {
		g, err := scanner.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		if b := scanner.Base(); b != nil && g.Entry.Height == b.Height+1 {
			s.Note("the log lacks the entries before %d, which its node dropped (--keep); it has the state of height %d", g.Entry.Height, b.At)
		}
		line := newLogLine(g)
		line.BestState = bestStateOf(scanner.Parent().Marks)
		if err := printEntry(s, line, asJSON); err != nil {
			return err
		}
	}
}

// returnOf turns a fixed-point fitness into a return, and the reserved invalid one into nil (null in JSON).
func returnOf(f int64) *float64 {
	if f == evolve.InvalidFitness {
		return nil
	}
	x := rollout.FromFitness(f)
	return &x
}

func newLogLine(g *seedlog.Record) logLine {
	e := g.Entry
	l := logLine{Height: e.Height, CID: g.Link.String(), Parent: e.Parent.String(), Leader: e.Leader.String(), Term: e.Term,
		Evaluations: e.Evaluations, Steps: e.Steps, Claims: len(g.Claims), Peers: map[string]uint64{}}
	best, sum, valid := evolve.InvalidFitness, 0.0, 0
	for _, c := range g.Claims {
		l.Peers[c.Peer.String()] += c.Evaluations()
		if c.HeldOut() {
			continue
		}
		for _, f := range c.Fitness {
			if f != evolve.InvalidFitness {
				best, sum, valid = max(best, f), sum+rollout.FromFitness(f), valid+1
			}
		}
	}
	l.Best = returnOf(best)
	if valid > 0 {
		mean := sum / float64(valid)
		l.Mean = &mean
	}
	return l
}

func printEntry(s *verb.IO, l logLine, asJSON bool) error {
	if asJSON {
		return s.PrintJSON(l)
	}
	// The ends of CIDs differ, their beginnings do not.
	_, err := fmt.Fprintf(s.Out, "%8d  %-8s  %-8s  %5d  %6d  %5d  %10s  %10s\n", l.Height, l.CID[len(l.CID)-8:], l.Leader[:8], l.Term, l.Evaluations, len(l.Peers), verb.Number(l.Best), verb.Number(l.Mean))
	return err
}
