package watch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/node/replay"
	"github.com/evoswarm/evoswarm/node/verb"
	"github.com/evoswarm/evoswarm/web"
)

// Verb is evonode watch.
func Verb() *verb.Verb {
	return &verb.Verb{
		Name: "watch", Args: "LOG", Summary: "draw the policy live, in a browser",
		Intro: "Draws the policy of a seed log live, in a browser, without a swarm.",
		Usage: []string{"watch LOG [--at HEIGHT|best|solved] [--http HOST:PORT] [--json]"},
		Details: `LOG is a file, or - for standard input. It is replayed once; then a page on this computer plays episode after episode
with its policy, until Ctrl-C. No browser is opened: open the address that is printed.`,
		Notes:   replay.AtNotes,
		Example: "evonode watch run.seedlog",
		Bind: func(fs *verb.Flags) verb.Run {
			f := watchFlags{http: "127.0.0.1:0"}
			f.source.Bind(fs)
			fs.String(&f.http, "http", "HOST:PORT", "where the page is served (default 127.0.0.1:0: any free port, for this computer only)")
			fs.JSON(&f.source.Quiet, "one JSON object when the page is there: page (its address), run, env, strategy, height, head")
			return func(ctx context.Context, s *verb.IO, args []string) error {
				log, err := verb.Argument(args, "LOG", "evonode watch run.seedlog")
				if err != nil {
					return err
				}
				return f.run(ctx, s, log)
			}
		},
	}
}

// watchFlags are the flags of watch.
type watchFlags struct {
	source replay.Source
	http   string
}

// run replays the log and serves the page until ctx ends, which is no failure.
func (f *watchFlags) run(ctx context.Context, s *verb.IO, log string) error {
	if _, _, err := net.SplitHostPort(f.http); err != nil {
		return verb.Misused(fmt.Sprintf("--http %q: %v", f.http, err), "HOST:PORT, such as 127.0.0.1:8081")
	}
	if err := f.source.Misused(); err != nil {
		return err
	}
	if !web.Built() {
		return verb.Failed(errors.New("this build has no page to draw in"), "build it with make build, or with: node web/build.mjs && go build -tags page ./node/evonode")
	}
	r, _, err := f.source.Log(ctx, s, log)
	if err != nil {
		return err
	}
	if err := r.Rules.Env.CanDraw(); err != nil {
		return verb.Failed(err, "implement envs.Drawer to watch it; evonode eval needs no drawing")
	}
	policy, err := policyOf(r)
	if err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", f.http)
	if err != nil {
		return verb.Failed(fmt.Errorf("serving the page: %w", err), "name another place with --http HOST:PORT, or leave it out")
	}
	replay.NoteTruncated(s, log, r)
	if err := f.announce(s, policy, pageURL(listener.Addr())); err != nil {
		listener.Close()
		return err
	}
	return serve(ctx, listener, NewHandler(policy))
}

// policyOf is what the page needs.
func policyOf(r *seedlog.Replayed) (*web.Policy, error) {
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
		World: rules.Env.Name(), Env: rules.Spec.Env.String(), Strategy: rules.Spec.Strategy.Name, Run: rules.Run.String(),
		Height: r.Height, Head: r.Link.String(), Threshold: rules.Env.SolvedReturn,
		Bytes: map[string][]byte{"setup": setup, "state": state},
	}, nil
}

// announce says where the page is.
func (f *watchFlags) announce(s *verb.IO, p *web.Policy, page string) error {
	if f.source.Quiet {
		return s.PrintJSON(struct {
			Page     string `json:"page"`
			Run      string `json:"run"`
			Env      string `json:"env"`
			Strategy string `json:"strategy"`
			Height   uint64 `json:"height"`
			Head     string `json:"head"`
		}{page, p.Run, p.Env, p.Strategy, p.Height, p.Head})
	}
	_, err := fmt.Fprintf(s.Out, "%s, %s, height %d\npage  %s\nPress Ctrl-C to stop.\n", p.Env, p.Strategy, p.Height, page)
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
