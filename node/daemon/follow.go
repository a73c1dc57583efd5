package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/evoswarm/evoswarm/internal/cost"
	"github.com/evoswarm/evoswarm/internal/dht"
	"github.com/evoswarm/evoswarm/internal/mesh"
	"github.com/evoswarm/evoswarm/internal/peer"
	"github.com/evoswarm/evoswarm/node/verb"
)

// goodbye bounds how long a node takes to hand over when it is stopped.
const goodbye = 8 * time.Second

// runNode starts a node, says what it does, and closes it when it has to end.
func runNode(ctx context.Context, s *verb.IO, cfg Config, line *verb.Line, asJSON bool) error {
	n, err := Start(ctx, cfg)
	if err != nil {
		return err
	}
	if err = announce(s, n, asJSON); err == nil {
		err = follow(ctx, s, n, line, asJSON)
	}
	line.Clear()
	if err == nil {
		s.Note("stopping: handing over and writing everything to disk; Ctrl-C again quits at once")
	}
	closing, cancel := context.WithTimeout(context.Background(), goodbye)
	defer cancel()
	if err = errors.Join(err, n.Close(closing)); err == nil {
		s.Note("goodbye; everything is in %s; to continue: %s", cfg.Data, again(cfg))
	}
	return err
}

// announce says what the node is.
func announce(s *verb.IO, n *Node, asJSON bool) error {
	if a := n.Announcement(); asJSON {
		return s.PrintJSON(a)
	} else {
		return printAnnouncement(s, a, n.cfg.Data)
	}
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
	for _, server := range cfg.DHTBootstrap {
		words = append(words, "--dht-bootstrap", server)
	}
	if cfg.DHT && len(cfg.DHTBootstrap) == 0 {
		words = append(words, "--dht")
	}
	if usual, err := dataDir(""); err != nil || usual != cfg.Data {
		words = append(words, "--data", cfg.Data)
	}
	if cfg.Bounded {
		words = append(words, "--keep", strconv.FormatInt(cfg.Keep, 10))
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
	if a.Page != "" && len(a.Runs) > 0 {
		fmt.Fprintf(s.Out, "runs   %sruns\n", a.Page)
	}
	if a.Join != "" {
		fmt.Fprintf(s.Out, "join   %s\n", a.Join)
	}
	switch {
	case a.Awaited != "":
		fmt.Fprintf(s.Out, "run    %s, when peers of it dial this node\n", a.Awaited)
	case len(a.Runs) > 0:
		for _, r := range a.Runs {
			printRun(s, r)
		}
	case a.Run != "":
		fmt.Fprintf(s.Out, "run    %s (%s, %s)\n", a.Run, a.Env, a.Strategy)
	default:
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

// printRun prints one of several runs.
func printRun(s *verb.IO, r AnnouncedRun) {
	if r.Run == "" {
		fmt.Fprintf(s.Out, "run    does not start: see below\n")
		return
	}
	fmt.Fprintf(s.Out, "run    %s (%s, %s)\n", r.Run, r.Env, r.Strategy)
	if r.Join != "" {
		fmt.Fprintf(s.Out, "       %s\n", r.Join)
	}
}

// followEvery is how often the line of a node's status is renewed.
const followEvery = 200 * time.Millisecond

// follow shows the node's status until the node has to end, and says what is new.
func follow(ctx context.Context, s *verb.IO, n *Node, line *verb.Line, asJSON bool) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- n.Wait(ctx) }()
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	var lastJSON time.Time
	for {
		select {
		case err := <-ended:
			return err
		case why := <-n.moved:
			line.Clear()
			s.Note("%s; the next run begins", why)
			if err := announce(s, n, asJSON); err != nil {
				return err
			}
		case text := <-n.news:
			line.Clear()
			s.Note("%s", text)
		case now := <-tick.C:
			if !n.works() {
				continue
			}
			if asJSON && now.Sub(lastJSON) >= time.Second {
				lastJSON = now
				if err := s.PrintJSON(n.Status()); err != nil {
					return err
				}
			}
			if !asJSON {
				line.Show(now, n.line()...)
			}
		}
	}
}

// works reports whether the node has a run.
func (n *Node) works() bool {
	return slices.ContainsFunc(n.lanes, func(l *lane) bool { return l.working() != nil })
}

// line says what the node does.
func (n *Node) line() []verb.Item {
	if len(n.lanes) == 1 {
		return statusLine(n.lanes[0].Status().Status)
	}
	var items []verb.Item
	for _, l := range n.lanes {
		items = append(items, briefLine(l.Status().Status)...)
	}
	return items
}

// briefLine says what a node does in one of its runs.
func briefLine(s peer.Status) []verb.Item {
	text := fmt.Sprintf("%s: %s, height %d, %s", s.Env, verb.Return(s.Return, s.Threshold).Text, s.Height, verb.Plural(s.Peers, "peer"))
	switch {
	case s.Error != "":
		return []verb.Item{{Text: s.Env + " ERROR: " + s.Error, Color: verb.Red}}
	case s.State != peer.Training:
		text += ", " + string(s.State)
	}
	return []verb.Item{{Text: text}}
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
	case errors.Is(err, mesh.ErrAnnounce):
		return verb.Wrong(err, "a multiaddress at which others reach this node, such as /ip4/203.0.113.7/tcp/4710, or /ip4/203.0.113.7 or /dns/example.com for all its ports")
	case errors.Is(err, errListen):
		return verb.Wrong(err, "a multiaddress such as /ip4/0.0.0.0/tcp/4710, or /ip4/0.0.0.0/udp/4710/quic-v1")
	case errors.Is(err, ErrCertificate):
		return verb.Wrong(err, "files in PEM of --tls-cert and --tls-key, as certbot writes them: fullchain.pem and privkey.pem")
	case errors.Is(err, errNobody):
		return verb.Failed(err, "a node of the run has to be up, listen and have --dht, too, for some seconds; or join by an address or the URL of a page")
	case errors.Is(err, dht.ErrDown):
		return verb.Failed(err, "check that this computer reaches the DHT: the internet, or the servers of --dht-bootstrap; or join by an address or the URL of a page")
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
