package cli

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

const logHelp = `Lists the entries of a seed log, and checks form, links, order, counts and signatures on the way.

Usage:
    evonode log LOG [--json]

LOG is a file, or - for standard input.
    --json    one JSON object per entry: height, cid, parent, leader, term, evaluations, steps, best, mean (of the
              fitness, as returns), claims (how many), peers (evaluations of each peer, by its key)

Example:
    $ evonode log run.seedlog --json | jq .best
`

func logCommand() *command {
	return &command{name: "log", summary: "list the entries of a seed log", help: logHelp, bind: func(fs *flag.FlagSet) runner {
		asJSON := fs.Bool("json", false, "")
		return func(ctx context.Context, s *IO, args []string) error {
			log, err := argument(args, "LOG", "evonode log run.seedlog")
			if err != nil {
				return err
			}
			return s.list(ctx, log, *asJSON)
		}
	}}
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
}

// list prints the entries of the named log.
func (s *IO) list(ctx context.Context, log string, asJSON bool) error {
	in, err := s.open(log)
	if err != nil {
		return err
	}
	defer in.Close()
	scanner, err := seedlog.NewScanner(in)
	if err != nil {
		return logError(called(log), err)
	}
	buffered := bufio.NewWriter(s.Out)
	out := &IO{Out: buffered, Err: s.Err}
	if !asJSON {
		spec := scanner.Rules().Spec
		fmt.Fprintf(buffered, "run %s (%s, %s)\n", scanner.Rules().Run, spec.Env.ID, spec.Strategy.Name)
		fmt.Fprintf(buffered, "%8s  %-8s  %-8s  %5s  %6s  %5s  %10s  %10s\n", "height", "entry", "leader", "term", "evals", "peers", "best", "mean")
	}
	err = out.listEntries(ctx, scanner, asJSON)
	if flushErr := buffered.Flush(); err == nil {
		err = flushErr
	}
	if seedlog.Torn(err) {
		fmt.Fprintf(s.Err, "evonode: %s is truncated (%v); what is before that was listed\n", called(log), err)
		return nil
	}
	if err != nil {
		return logError(called(log), err)
	}
	return nil
}

// listEntries prints the entries that scanner finds; the error is nil at the end of a whole log.
func (s *IO) listEntries(ctx context.Context, scanner *seedlog.Scanner, asJSON bool) error {
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
		if err := s.printEntry(newLogLine(g), asJSON); err != nil {
			return err
		}
	}
}

func newLogLine(g *seedlog.Record) logLine {
	e := g.Entry
	l := logLine{Height: e.Height, CID: g.Link.String(), Parent: e.Parent.String(), Leader: e.Leader.String(), Term: e.Term,
		Evaluations: e.Evaluations, Steps: e.Steps, Claims: len(g.Claims), Peers: map[string]uint64{}}
	best, sum, valid := evolve.InvalidFitness, 0.0, 0
	for _, c := range g.Claims {
		l.Peers[c.Peer.String()] += c.Evaluations()
		for _, f := range c.Fitness {
			if f != evolve.InvalidFitness {
				best, sum, valid = max(best, f), sum+*fitness(f, evolve.InvalidFitness), valid+1
			}
		}
	}
	l.Best = fitness(best, evolve.InvalidFitness)
	if valid > 0 {
		mean := sum / float64(valid)
		l.Mean = &mean
	}
	return l
}

func (s *IO) printEntry(l logLine, asJSON bool) error {
	if asJSON {
		return s.printJSON(l)
	}
	// The ends of CIDs differ, their beginnings do not.
	_, err := fmt.Fprintf(s.Out, "%8d  %-8s  %-8s  %5d  %6d  %5d  %10s  %10s\n", l.Height, l.CID[len(l.CID)-8:], l.Leader[:8], l.Term, l.Evaluations, len(l.Peers), number(l.Best), number(l.Mean))
	return err
}
