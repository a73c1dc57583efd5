package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/evoswarm/evoswarm/internal/cost"
	"github.com/evoswarm/evoswarm/internal/mesh"
	"github.com/evoswarm/evoswarm/internal/peer"
	"github.com/evoswarm/evoswarm/node/daemon"
)

const (
	// plainEvery is the time between two lines of progress where there is no terminal.
	plainEvery = 5 * time.Second
	// goodbye bounds the time that a node takes to hand over when it is stopped.
	goodbye = 8 * time.Second
)

// runNode starts a node and stays with it until it is told to end.
func runNode(ctx context.Context, s *IO, cfg daemon.Config, line *liveLine, asJSON bool) error {
	n, err := daemon.Start(ctx, cfg)
	if err != nil {
		return err
	}
	a := n.Announcement()
	if asJSON {
		err = s.printJSON(a)
	} else {
		err = s.printAnnouncement(a, cfg.Data)
	}
	if err == nil {
		err = s.follow(ctx, n, line, asJSON)
	}
	line.clear()
	closing, cancel := context.WithTimeout(context.Background(), goodbye)
	defer cancel()
	return errors.Join(err, n.Close(closing))
}

func (s *IO) printAnnouncement(a daemon.Announcement, data string) error {
	if a.Page != "" {
		fmt.Fprintf(s.Out, "page   %s\n", a.Page)
	}
	if a.Join != "" {
		fmt.Fprintf(s.Out, "join   %s\n", a.Join)
	}
	if a.Run != "" {
		fmt.Fprintf(s.Out, "run    %s (%s, %s)\n", a.Run, a.Env, a.Strategy)
	} else {
		fmt.Fprintf(s.Out, "run    none: start again with --train ENV to begin one\n")
	}
	_, err := fmt.Fprintf(s.Out, "data   %s\n", data)
	for _, note := range a.Notes {
		fmt.Fprintf(s.Err, "evonode: %s\n", note)
	}
	return err
}

// follow shows the node's status until the node has to end.
func (s *IO) follow(ctx context.Context, n *daemon.Node, line *liveLine, asJSON bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	updates, end := n.Watch()
	defer end()
	ended := make(chan error, 1)
	go func() { ended <- n.Wait(ctx) }()
	var lastJSON time.Time
	for {
		select {
		case err := <-ended:
			return err
		case st, ok := <-updates:
			if !ok {
				updates = nil
				continue
			}
			now := time.Now()
			if asJSON && now.Sub(lastJSON) >= time.Second {
				lastJSON = now
				if err := s.printJSON(n.Status()); err != nil {
					return err
				}
			}
			if !asJSON {
				line.show(now, statusLine(st))
			}
		}
	}
}

// statusLine is one line about a node.
func statusLine(s peer.Status) string {
	leader := "nobody"
	switch {
	case s.Leads:
		leader = "this node"
	case len(s.Leader) >= 8:
		leader = s.Leader[:8]
	}
	text := fmt.Sprintf("height %d  leader %s  %.0f evals/s  peers %d  best %s  mean %s", s.Height, leader, s.EvalsPerS, s.Peers, number(s.Best), number(s.Mean))
	if s.Return != nil {
		text += fmt.Sprintf("  policy %.1f", *s.Return)
	}
	if s.State != peer.Training {
		text += "  " + string(s.State)
		if s.Why != "" {
			text += ": " + s.Why
		}
	}
	if s.Error != "" {
		text += "  ERROR: " + s.Error
	}
	return text
}

// daemonError adds what to do to the errors of a node.
func daemonError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, daemon.ErrBusy):
		return failed(err, "another program, perhaps another evonode, has that port: end it, or choose another one with --http HOST:PORT or --listen MULTIADDR")
	case errors.Is(err, cost.ErrTooMuch):
		return failed(err, "only who starts a run can choose a smaller policy or population")
	case errors.Is(err, daemon.ErrNoRun):
		return failed(err, "the node there trains nothing yet: start it with --train ENV, then join again")
	case errors.Is(err, daemon.ErrOtherRun):
		return failed(err, "leave out the # and what is behind it to join whatever runs there")
	case errors.Is(err, daemon.ErrSolo):
		return failed(err, "its key is no secret; start a run of its own with evonode --bootstrap --train ENV")
	case errors.Is(err, mesh.ErrAddress):
		return wrong(err, "give the URL of a volunteer page, such as http://192.168.1.5:8080/, or a multiaddress such as /ip4/192.168.1.5/tcp/4710/p2p/12D3Koo...; leave out the # and what is behind it to join whatever runs there")
	case errors.Is(err, mesh.ErrUnreachable):
		return failed(err, "check that the node there runs and that this computer reaches it; open the URL in a browser")
	case errors.Is(err, mesh.ErrWrongPeer):
		return failed(err, "the address is of a node that is gone; ask for the new one, or join by the page's URL")
	case errors.Is(err, mesh.ErrForeign):
		return failed(err, "use the same version of evonode on both sides")
	}
	return err
}

// Write lets log records pass: the live line makes room for them.
func (l *liveLine) Write(p []byte) (int, error) {
	l.clear()
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(p)
}
