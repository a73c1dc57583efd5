package daemon

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/evoswarm/evoswarm/internal/cost"
	"github.com/evoswarm/evoswarm/internal/mesh"
	"github.com/evoswarm/evoswarm/internal/peer"
	"github.com/evoswarm/evoswarm/node/verb"
)

// goodbye bounds how long a node takes to hand over when it is stopped.
const goodbye = 8 * time.Second

// runNode starts a node, moves on to other runs when one has ended, and waits until it has to end.
func runNode(ctx context.Context, s *verb.IO, cfg Config, line *verb.Line, asJSON bool) error {
	n, err := Start(ctx, cfg)
	for err == nil {
		var moves bool
		if moves, err = attend(ctx, s, n, line, asJSON); err != nil || !moves {
			return err
		}
		cfg.Train = n.Rest()
		n, err = startNext(ctx, cfg)
	}
	return err
}

// startNext starts a node for the next run. Where it joined may be moving on, too, so it tries again for a minute.
func startNext(ctx context.Context, cfg Config) (*Node, error) {
	for begun := time.Now(); ; {
		n, err := Start(ctx, cfg)
		if !errors.Is(err, mesh.ErrUnreachable) || time.Since(begun) > time.Minute || !sleep(ctx, time.Second) {
			return n, err
		}
	}
}

// attend says what a node does until it has to end, and closes it. moves says that there is another run to work on.
func attend(ctx context.Context, s *verb.IO, n *Node, line *verb.Line, asJSON bool) (moves bool, err error) {
	a, cfg := n.Announcement(), n.cfg
	if asJSON {
		err = s.PrintJSON(a)
	} else {
		err = printAnnouncement(s, a, cfg.Data)
	}
	if err == nil {
		moves, err = follow(ctx, s, n, line, asJSON)
	}
	line.Clear()
	switch {
	case moves:
		s.Note("%s; the next run begins", n.Status().Why)
	case err == nil:
		s.Note("stopping: handing over and writing everything to disk; Ctrl-C again quits at once")
	}
	closing, cancel := context.WithTimeout(context.Background(), goodbye)
	defer cancel()
	if err = errors.Join(err, n.Close(closing)); err == nil && !moves {
		s.Note("goodbye; everything is in %s; to continue: %s", cfg.Data, again(cfg))
	}
	return moves, err
}

// again is the command that continues what a node did.
func again(cfg Config) string {
	words := []string{"evonode"}
	if cfg.Public {
		words = append(words, "--bootstrap")
	} else {
		words = append(words, "join")
	}
	words = append(words, cfg.Targets...)
	if usual, err := dataDir(""); err != nil || usual != cfg.Data {
		words = append(words, "--data", cfg.Data)
	}
	for i, w := range words {
		if strings.ContainsAny(w, " #'\"$&;()") {
			words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

func printAnnouncement(s *verb.IO, a Announcement, data string) error {
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
	if a.Metrics != "" {
		fmt.Fprintf(s.Out, "metrics %s\n", a.Metrics)
	}
	_, err := fmt.Fprintf(s.Out, "data   %s\n", data)
	for _, note := range a.Notes {
		s.Note("%s", note)
	}
	return err
}

// follow shows the node's status until the node has to end, or moves on to another run.
func follow(ctx context.Context, s *verb.IO, n *Node, line *verb.Line, asJSON bool) (moves bool, err error) {
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
			return false, err
		case <-n.Over():
			return true, nil
		case text := <-n.news:
			line.Clear()
			s.Note("%s", text)
		case st, ok := <-updates:
			if !ok {
				updates = nil
				continue
			}
			now := time.Now()
			if asJSON && now.Sub(lastJSON) >= time.Second {
				lastJSON = now
				if err := s.PrintJSON(n.Status()); err != nil {
					return false, err
				}
			}
			if !asJSON {
				line.Show(now, statusLine(st)...)
			}
		}
	}
}

// statusLine says what a node does, most important first.
func statusLine(s peer.Status) []verb.Item {
	leader := "nobody"
	switch {
	case s.Leads:
		leader = "this node"
	case len(s.Leader) >= 8:
		leader = s.Leader[:8]
	}
	var items []verb.Item
	if s.Error != "" {
		items = append(items, verb.Item{Text: "ERROR: " + s.Error, Color: verb.Red})
	}
	items = append(items, verb.Return(s.Return, s.Threshold))
	if s.State != peer.Training {
		items = append(items, verb.Item{Text: stateText(s), Color: verb.Bold})
	}
	return append(items, verb.Items(
		fmt.Sprintf("%.0f evals/s", s.EvalsPerS), fmt.Sprintf("height %d", s.Height), verb.Plural(s.Peers, "peer"),
		"leader "+leader, "best "+verb.Number(s.Best), "mean "+verb.Number(s.Mean))...)
}

// stateText says what a node does, and why.
func stateText(s peer.Status) string {
	switch {
	case s.Why == "":
		return string(s.State)
	case s.State == peer.Paused, s.State == peer.Catching, s.State == peer.Solved:
		return s.Why // which says the state
	}
	return string(s.State) + ": " + s.Why
}

// daemonError adds what to do to the errors of a node.
func daemonError(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, ErrBusy):
		return verb.Failed(err, "another program, perhaps another evonode, has that port: end it, or choose another one with --http HOST:PORT or --listen MULTIADDR")
	case errors.Is(err, cost.ErrTooMuch):
		return verb.Failed(err, "join another run, or start one of your own with a smaller policy or population")
	case errors.Is(err, ErrNoRun):
		return verb.Failed(err, "the node there trains nothing yet: start it with --train ENV, then join again")
	case errors.Is(err, ErrOtherRun):
		return verb.Failed(err, "leave out the # and what follows it to join whatever runs there")
	case errors.Is(err, ErrSolo):
		return verb.Failed(err, "the key of such a run is public; start a run for a swarm with evonode --bootstrap --train ENV")
	case errors.Is(err, errListen):
		return verb.Wrong(err, "a multiaddress such as /ip4/0.0.0.0/tcp/4710, or /ip4/0.0.0.0/udp/4710/quic-v1")
	case errors.Is(err, mesh.ErrAddress):
		return verb.Wrong(err, "give the URL of a volunteer page, such as http://192.168.1.5:8080/, or a multiaddress as a node prints it; leave out the # and what follows it, if there is one, to join whatever runs there")
	case errors.Is(err, mesh.ErrUnreachable):
		return verb.Failed(err, "check that the node there runs and that this computer can reach it: does the URL open in a browser?")
	case errors.Is(err, mesh.ErrWrongPeer):
		return verb.Failed(err, "the node at that address has changed: ask for its new address, or join by the page's URL")
	case errors.Is(err, mesh.ErrForeign):
		return verb.Failed(err, "use the same version of evonode on both sides")
	}
	return err
}
