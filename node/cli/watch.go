package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/node/httpd"
	"github.com/evoswarm/evoswarm/web"
)

const watchHelp = `Draws the policy of a seed log live, in a browser, without a swarm.

Usage:
    evonode watch LOG [--at H|best|solved] [--http HOST:PORT] [--json]

LOG is a file, or - for standard input. It is replayed once; then a page on this computer plays episode after episode
with its policy, until Ctrl-C. Nothing is opened by itself: open the address that is printed.
    --at H             the policy after the entry of height H (default: the last one); 0 is the untrained one
` + placeHelp + `    --http HOST:PORT   where the page is served (default 127.0.0.1:0: any free port, for this computer only)
    --json             one JSON object when the page is there: page (its address), run, env, strategy, height, head

Example:
    $ evonode watch run.seedlog
`

// watchFlags are the flags of watch.
type watchFlags struct {
	at, http string
	json     bool
}

func watchCommand() *command {
	return &command{name: "watch", summary: "draw the policy of a log live, in a browser", help: watchHelp, bind: func(fs *flag.FlagSet) runner {
		var f watchFlags
		fs.StringVar(&f.at, "at", "", "")
		fs.StringVar(&f.http, "http", "127.0.0.1:0", "")
		fs.BoolVar(&f.json, "json", false, "")
		return func(ctx context.Context, s *IO, args []string) error {
			log, err := argument(args, "LOG", "evonode watch run.seedlog")
			if err != nil {
				return err
			}
			return f.run(ctx, s, log)
		}
	}}
}

// run replays the log and serves the page until ctx ends, which is no failure.
func (f *watchFlags) run(ctx context.Context, s *IO, log string) error {
	at, err := parsePlace(f.at)
	if err != nil {
		return err
	}
	if _, _, err := net.SplitHostPort(f.http); err != nil {
		return usage(fmt.Sprintf("--http %q: %v", f.http, err), "HOST:PORT, such as 127.0.0.1:8081")
	}
	if !web.Built() {
		return failed(errors.New("this build has no page to draw in"), "build it with make build, or with: node web/build.mjs && go build -tags page ./node/evonode")
	}
	r, _, err := s.replay(ctx, log, seedlog.ReplayOptions{}, at, 0)
	if err != nil {
		return err
	}
	policy, err := watched(r)
	if err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", f.http)
	if err != nil {
		return failed(fmt.Errorf("serving the page: %w", err), "name another place with --http HOST:PORT, or leave it out")
	}
	if r.Truncated {
		fmt.Fprintf(s.Err, "evonode: %s is truncated (%v); what is before that was replayed\n", called(log), r.Tail)
	}
	if err := f.announce(s, policy, pageURL(listener.Addr())); err != nil {
		listener.Close()
		return err
	}
	return serve(ctx, listener, httpd.NewWatch(policy))
}

// watched is what the page has to know.
func watched(r *seedlog.Replayed) (*web.Policy, error) {
	rules := r.Rules
	setup, err := rollout.MarshalSetup(rules.Spec.Setup())
	if err != nil {
		return nil, err
	}
	state, err := r.State.MarshalBinary()
	if err != nil {
		return nil, err
	}
	return &web.Policy{
		World: rules.Env.Title, Env: rules.Env.ID, Strategy: rules.Spec.Strategy.Name, Run: rules.Run.String(),
		Height: r.Height, Head: r.Link.String(), Threshold: rules.Env.SolvedReturn,
		Bytes: map[string][]byte{"setup": setup, "state": state},
	}, nil
}

// announce says where the page is.
func (f *watchFlags) announce(s *IO, p *web.Policy, page string) error {
	if f.json {
		return s.printJSON(struct {
			Page     string `json:"page"`
			Run      string `json:"run"`
			Env      string `json:"env"`
			Strategy string `json:"strategy"`
			Height   uint64 `json:"height"`
			Head     string `json:"head"`
		}{page, p.Run, p.Env, p.Strategy, p.Height, p.Head})
	}
	_, err := fmt.Fprintf(s.Out, "%s, %s, height %d\npage  %s\nCtrl-C ends it\n", p.Env, p.Strategy, p.Height, page)
	return err
}

// pageURL is the address of a page at a listener, as a browser on this computer takes it.
func pageURL(at net.Addr) string {
	host, port, err := net.SplitHostPort(at.String())
	if ip := net.ParseIP(host); err == nil && ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, port) + "/"
}

// lastRequests is how long requests may take to end.
const lastRequests = 2 * time.Second

// serve serves until ctx ends.
func serve(ctx context.Context, listener net.Listener, h http.Handler) error {
	server := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	late, cancel := context.WithTimeout(context.Background(), lastRequests)
	defer cancel()
	if err := server.Shutdown(late); err != nil {
		return server.Close() // a browser keeps a connection open
	}
	return nil
}
