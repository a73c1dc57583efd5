package daemon

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/evoswarm/evoswarm/internal/peer"
	"github.com/evoswarm/evoswarm/node/httpd"
	"github.com/evoswarm/evoswarm/node/verb"
)

// watchEvery is between two pictures of status --watch.
const watchEvery = time.Second

// clearScreen has a terminal forget what it shows and begin at the top.
const clearScreen = "\x1b[H\x1b[2J\x1b[3J"

// watched is what status --watch --json prints in a line.
type watched struct {
	httpd.Status
	Roster  peer.Roster   `json:"roster"`
	Rosters []peer.Roster `json:"rosters,omitempty"` // one for each of Status.Active
}

// watch shows the status and who takes part once a second until ctx ends or the node does.
func watch(ctx context.Context, s *verb.IO, data string, asJSON bool) error {
	for shown := false; ; shown = true {
		w, err := lookAt(ctx, data)
		switch {
		case ctx.Err() != nil:
			return nil // Ctrl-C is how it ends
		case err != nil && shown:
			return verb.Failed(err, "the node has ended since; start it again to watch it")
		case err != nil:
			return notRunning(err)
		case asJSON:
			err = s.PrintJSON(w)
		default:
			err = printWatched(s, w)
		}
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(watchEvery):
		}
	}
}

// lookAt asks the node on a data folder for all that status --watch shows.
func lookAt(ctx context.Context, data string) (w watched, err error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if w.Status, err = httpd.Ask(ctx, data, "GET", "status"); err != nil {
		return w, err
	}
	w.Roster, err = httpd.AskRoster(ctx, data, w.Run)
	for _, s := range w.Active {
		var r peer.Roster
		if s.Run != "" && err == nil {
			r, err = httpd.AskRoster(ctx, data, s.Run)
		}
		w.Rosters = append(w.Rosters, r)
	}
	return w, err
}

func printWatched(s *verb.IO, w watched) error {
	var b strings.Builder
	if s.Terminal {
		b.WriteString(clearScreen)
	}
	runs, rosters := []httpd.Status{w.Status}, []peer.Roster{w.Roster}
	if len(w.Active) > 0 {
		runs, rosters = w.Active, w.Rosters
	}
	for i, r := range runs {
		if i > 0 {
			b.WriteString("\n")
		}
		if err := printOne(&b, r); err != nil {
			return err
		}
		if r.Run != "" {
			b.WriteString("\n")
			if err := printRoster(&b, rosters[i], r.Own, r.Height); err != nil {
				return err
			}
		}
	}
	if !s.Terminal {
		b.WriteString("\n")
	}
	_, err := io.WriteString(s.Out, b.String())
	return err
}

// printRoster prints a table of who takes part, and what became of what was computed here.
func printRoster(w io.Writer, r peer.Roster, own peer.Ledger, height uint64) error {
	total := uint64(0)
	for _, m := range r.Members {
		total += m.Lately
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "who\t\tof the last %s\tlogged\thead\n", verb.Plural(int(r.Entries), "generation"))
	for _, m := range r.Members {
		fmt.Fprintf(t, "%.8s\t%s\t%.0f %%\t%d\t%s\n", m.Key, roleOf(m), percent(m.Lately, total), m.Evaluations, headOf(m, height))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if r.Others > 0 {
		fmt.Fprintf(w, "and %s\n", verb.Plural(r.Others, "other"))
	}
	fmt.Fprintf(w, "\ncomputed here since the start: %s, of them %.0f %% logged, %.0f %% waiting, %.0f %% too late", verb.Plural(int(own.Computed), "evaluation"),
		percent(own.Logged, own.Computed), percent(own.Waiting, own.Computed), percent(own.Late, own.Computed))
	if own.Replaced > 0 {
		fmt.Fprintf(w, ", %.0f %% logged on a branch that lost", percent(own.Replaced, own.Computed))
	}
	_, err := fmt.Fprintln(w)
	return err
}

func percent(part, of uint64) float64 { return 100 * float64(part) / float64(max(of, 1)) }

// roleOf says what a member is.
func roleOf(m peer.Member) string {
	role := m.Kind
	switch {
	case m.Self:
		role = "this node"
	case !m.Here:
		role = "not heard"
	}
	if m.Leads {
		role += ", leads"
	}
	return role
}

// headOf says where a member's head is, by its own word.
func headOf(m peer.Member, height uint64) string {
	switch {
	case !m.Here:
		return ""
	case m.Height < height && height-m.Height > 1: // one entry is under way
		return fmt.Sprintf("%d (%d behind)", m.Height, height-m.Height)
	}
	return fmt.Sprint(m.Height)
}
