package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"slices"

	"github.com/evoswarm/evoswarm/node/settings"
	"github.com/evoswarm/evoswarm/node/verb"
)

// BootstrapVerb is evonode --bootstrap: what runs where flags come without a verb.
func BootstrapVerb(printVersion func(s *verb.IO, asJSON bool) error) *verb.Verb {
	return &verb.Verb{
		Intro: "evonode trains reinforcement-learning policies by evolution strategies, alone or in a swarm of computers.",
		Usage: []string{
			"--bootstrap [ADDR|URL ...] [--train ENV] [flags]    a public node; with addresses it joins that swarm",
			"COMMAND [arguments] [flags]",
		},
		Notes:   queueNotes + "\n\nThe exit status is 0 when all went well, 1 after a failure, and 2 after wrong use.",
		Example: "evonode --bootstrap --train CartPole-v1",
		Bind: func(fs *verb.Flags) verb.Run {
			f := newNodeFlags()
			bootstrap, version := false, false
			fs.Bool(&bootstrap, "bootstrap", "run a public node; the flags below are its own, evonode COMMAND --help lists those of a command")
			f.bind(fs, "default :8080")
			f.bindRun(fs)
			fs.Bool(&version, "version", "the same as evonode version")
			return func(ctx context.Context, s *verb.IO, args []string) error {
				if version {
					return printVersion(s, f.json)
				}
				if !bootstrap {
					return verb.Misused("flags without a command", "did you mean evonode --bootstrap? See evonode --help")
				}
				return f.run(ctx, s, fs, args, true)
			}
		},
	}
}

// JoinVerb is evonode join.
func JoinVerb() *verb.Verb {
	return &verb.Verb{
		Name: "join", Args: "ADDR|URL ...", Summary: "lend this computer to a swarm",
		Intro: "Lends this computer to a swarm.",
		Usage: []string{"join ADDR|URL ... [flags]"},
		Details: `A URL is that of a volunteer page, such as http://example.org:8080/; an ADDR is a multiaddress that ends in /p2p/ID.
With #RUN appended (as evonode --bootstrap prints it) only that run is joined; without it, whatever run the node that
answers names.`,
		Example: "evonode join http://192.168.1.5:8080/",
		Bind: func(fs *verb.Flags) verb.Run {
			f := newNodeFlags()
			f.bind(fs, "default: nowhere")
			return func(ctx context.Context, s *verb.IO, args []string) error {
				if len(args) == 0 {
					return verb.Misused("missing an address or URL to join", "for example: evonode join http://192.168.1.5:8080/")
				}
				return f.run(ctx, s, fs, args, false)
			}
		},
	}
}

// nodeFlags are the flags of a node.
type nodeFlags struct {
	http     string
	metrics  string
	listen   []string
	data     string
	workers  int
	gpu      settings.GPU
	keep     string
	profile  string
	noMDNS   bool
	logLevel string
	json     bool

	train    string
	fresh    bool
	draft    bool
	until    string
	trust    string
	training settings.Flags
}

func newNodeFlags() *nodeFlags {
	return &nodeFlags{keep: "256MB", profile: "lan", logLevel: "warn", until: "solved"}
}

// bind defines the flags of every node.
func (f *nodeFlags) bind(fs *verb.Flags, page string) {
	fs.String(&f.http, "http", "HOST:PORT", `where the page is served ("" for nowhere; `+page+")")
	fs.String(&f.metrics, "metrics", "HOST:PORT", "serve /metrics (Prometheus) and /healthz there, for example 127.0.0.1:9090 (default: nowhere)")
	fs.Func("listen", "MULTIADDR", fmt.Sprintf("where to listen for peers; may be repeated (default: TCP, QUIC and WebSocket on port %d)", DefaultPort),
		func(v string) error { f.listen = append(f.listen, v); return nil })
	bindData(fs, &f.data, "where things are kept")
	fs.Workers(&f.workers, "cores to lend")
	f.gpu.Bind(fs)
	fs.String(&f.keep, "keep", "SIZE", "how much disk branches that lost may take, of each run; this computer's own work goes last, see evonode branch (default 256MB)")
	fs.Choice(&f.profile, "profile", "lan|wan", "how fast a silent leader is replaced: under 2 s, or under 15 s (default lan)")
	fs.Bool(&f.noMDNS, "no-mdns", "do not look for nodes in the local network")
	fs.Choice(&f.logLevel, "log-level", "debug|info|warn|error", "what the node logs (default warn)")
	fs.JSON(&f.json, "print what the node says as JSON: first {page, join, run, env, addresses, metrics}, then status lines")
}

// bindRun defines what only a node that may start a run has.
func (f *nodeFlags) bindRun(fs *verb.Flags) {
	fs.String(&f.train, "train", "ENV", "start a run in this environment, or continue the one in the data folder; several with commas, or those of "+
		"FILE.txt (see below), are trained one after the other, each once the one before has ended")
	f.training.Bind(fs)
	fs.Bool(&f.fresh, "new", "start a new run even if the data folder has one of this environment")
	fs.String(&f.until, "until", "WHEN", "what ends the run, with --draft: solved (default), evals=N, steps=N, entries=N, several with commas "+
		"for the first of them, or never")
	fs.String(&f.trust, "trust", "KEYS", "with --draft: only these nodes, all yours, take part, by their keys with commas, or a file with one in each line; "+
		"nobody votes and nothing is re-run. This node is one of them. evonode key prints a node's key")
	fs.Bool(&f.draft, "draft", "start the run in the draft of format 2: claims on earlier states count, and results are re-run by lot; a later evonode may not read it")
}

// run starts the node and waits until it ends.
func (f *nodeFlags) run(ctx context.Context, s *verb.IO, fs *verb.Flags, targets []string, bootstrap bool) error {
	line := s.Line(f.json)
	cfg, err := f.config(fs, targets, bootstrap, line)
	if err != nil {
		return err
	}
	return daemonError(runNode(ctx, s, cfg, line, f.json))
}

// config turns the flags into the configuration of a node.
func (f *nodeFlags) config(fs *verb.Flags, targets []string, bootstrap bool, line *verb.Line) (Config, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(f.logLevel)); err != nil {
		return Config{}, err
	}
	if err := checkAddress("http", f.http, 8080); err != nil {
		return Config{}, err
	}
	if err := checkAddress("metrics", f.metrics, 9090); err != nil {
		return Config{}, err
	}
	if err := f.gpu.Check(); err != nil {
		return Config{}, err
	}
	keep, err := parseSize(f.keep)
	if err != nil {
		return Config{}, err
	}
	data, err := dataDir(f.data)
	if err != nil {
		return Config{}, err
	}
	cfg := Config{
		Data: data, Targets: targets, Public: bootstrap,
		HTTP: f.http, HTTPGiven: fs.Given("http"), Metrics: f.metrics, Listen: f.listen,
		Workers: f.workers, GPU: f.gpu, Keep: keep, WAN: f.profile == "wan", MDNS: !f.noMDNS,
		Version: verb.Version(), Logger: slog.New(slog.NewTextHandler(line, &slog.HandlerOptions{Level: level})),
	}
	if f.train == "" {
		for _, name := range append(slices.Clone(settings.Names), "new", "draft", "until", "trust") {
			if fs.Given(name) {
				return cfg, verb.Misused("--"+name+" without --train", "for example: evonode --bootstrap --train CartPole-v1")
			}
		}
		return cfg, nil
	}
	if len(targets) > 0 {
		return cfg, verb.Misused("--train together with addresses to join", "an existing swarm has its run: leave out --train to take part in it, or the addresses to start one")
	}
	cfg.Fresh, cfg.Exact = f.fresh, f.draft || isQueueFile(f.train) || slices.ContainsFunc(settings.Names, fs.Given)
	cfg.Train, err = f.queue(fs)
	return cfg, err
}

// checkAddress refuses what is not HOST:PORT.
func checkAddress(flag, address string, port int) error {
	if _, _, err := net.SplitHostPort(address); address != "" && err != nil {
		return verb.Misused(fmt.Sprintf("--%s %q: %v", flag, address, err),
			fmt.Sprintf("HOST:PORT, such as 127.0.0.1:%d, or :%d for all addresses of this computer", port, port))
	}
	return nil
}
