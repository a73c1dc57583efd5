package cli

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"net"

	"github.com/evoswarm/evoswarm/internal/runspec"
	"github.com/evoswarm/evoswarm/node/daemon"
)

var rootHelp = `evonode trains reinforcement-learning policies by evolution strategies, alone or in a swarm of computers.

Usage:
    evonode --bootstrap [ADDR|URL ...] [--train ENV] [flags]    a public node; with addresses it joins that swarm
    evonode COMMAND [arguments] [flags]

Commands:
    join ADDR|URL ...        lend this computer to a swarm
    train ENV                train alone, without a network
    sweep ENV                train many seeds, and compare
    replay LOG               rebuild the model from a seed log, and check it
    eval LOG|MODEL           held-out episodes of the model
    export LOG -o FILE       write the model as safetensors, npz or JSON
    plot LOG ... -o FILE     draw the course of runs, as PNG or SVG
    watch LOG                draw the policy live, in a browser
    film LOG|MODEL|ENV -o F  write an episode as GIF, animated PNG, or a PNG of each frame
    log LOG                  list the entries of a seed log
    env list|show|trace      the worlds
    strategy list|show       the evolution strategies and their settings
    status pause resume stop speak to the node that runs here
    bench [WHAT]             how fast this computer is, beside what it could do at most
    version                  the build
    help [COMMAND]           the same as --help

Flags of a node (--bootstrap and join):
` + nodeFlagsHelp + `
Flags of --bootstrap alone:
    --train ENV           start a run in this world, or go on with the one in the data folder
` + specFlagsHelp + `    --new                 start a new run even if the data folder has one of this world

The exit status is 0 when all went well, 1 after a failure, and 2 after wrong use.

Example:
    $ evonode --bootstrap --train CartPole-v1
`

const nodeFlagsHelp = `    --http HOST:PORT      where the page is served ("" for nowhere; default of --bootstrap: :8080, of join: nowhere)
    --listen MULTIADDR    where to listen for peers; may be repeated (default: TCP, QUIC and WebSocket on port 4710)
    --data DIR            where things are kept (default: ` + dataDefault + `)
    --workers N           cores to lend (default: all)
    --profile lan|wan     how fast a silent leader is replaced: under 2 s, or under 15 s (default lan)
    --no-mdns             do not look for nodes in the local network
    --log-level LEVEL     debug, info, warn or error (default warn)
    --json                print what the node says as JSON: first {page, join, run, env, addresses}, then status lines
`

func rootCommand() *command {
	return &command{name: "", help: rootHelp, bind: func(fs *flag.FlagSet) runner {
		var f nodeFlags
		f.bind(fs)
		f.bindRun(fs)
		bootstrap := fs.Bool("bootstrap", false, "")
		version := fs.Bool("version", false, "")
		return func(ctx context.Context, s *IO, args []string) error {
			if *version {
				return printVersion(s, f.json)
			}
			if !*bootstrap {
				return usage("flags without a command", "did you mean evonode --bootstrap? See evonode --help")
			}
			return f.run(ctx, s, fs, args, true)
		}
	}}
}

const joinHelp = `Lends this computer to a swarm.

Usage:
    evonode join ADDR|URL ... [flags]

A URL is that of a volunteer page, such as http://example.org:8080/; an ADDR is a multiaddress that ends in /p2p/ID.
With #RUN behind it (as evonode --bootstrap prints it) only that run is joined; without, the node that answers says
which, and is trusted to.

Flags:
` + nodeFlagsHelp + `
Example:
    $ evonode join http://192.168.1.5:8080/
`

func joinCommand() *command {
	return &command{name: "join", summary: "lend this computer to a swarm", help: joinHelp, bind: func(fs *flag.FlagSet) runner {
		var f nodeFlags
		f.bind(fs)
		return func(ctx context.Context, s *IO, args []string) error {
			if len(args) == 0 {
				return usage("missing an address or URL to join", "for example: evonode join http://192.168.1.5:8080/")
			}
			return f.run(ctx, s, fs, args, false)
		}
	}}
}

// nodeFlags are the flags of a node.
type nodeFlags struct {
	http     string
	listen   []string
	data     string
	workers  int
	profile  string
	noMDNS   bool
	logLevel string
	json     bool

	train    string
	fresh    bool
	training trainSpec
}

func (f *nodeFlags) bind(fs *flag.FlagSet) {
	fs.StringVar(&f.http, "http", "", "")
	fs.Func("listen", "", func(v string) error { f.listen = append(f.listen, v); return nil })
	fs.StringVar(&f.data, "data", "", "")
	fs.IntVar(&f.workers, "workers", 0, "")
	fs.StringVar(&f.profile, "profile", "lan", "")
	fs.BoolVar(&f.noMDNS, "no-mdns", false, "")
	fs.StringVar(&f.logLevel, "log-level", "warn", "")
	fs.BoolVar(&f.json, "json", false, "")
}

// bindRun adds what only a node that may start a run has.
func (f *nodeFlags) bindRun(fs *flag.FlagSet) {
	fs.StringVar(&f.train, "train", "", "")
	fs.BoolVar(&f.fresh, "new", false, "")
	f.training.bind(fs)
}

// run starts the node and stays with it until it ends.
func (f *nodeFlags) run(ctx context.Context, s *IO, fs *flag.FlagSet, targets []string, bootstrap bool) error {
	line := &liveLine{w: s.Err, terminal: s.Terminal, every: plainEvery}
	cfg, err := f.config(fs, targets, bootstrap, line)
	if err != nil {
		return err
	}
	return daemonError(runNode(ctx, s, cfg, line, f.json))
}

// config turns the flags into the configuration of a node.
func (f *nodeFlags) config(fs *flag.FlagSet, targets []string, bootstrap bool, line *liveLine) (daemon.Config, error) {
	given := map[string]bool{}
	fs.Visit(func(x *flag.Flag) { given[x.Name] = true })
	var level slog.Level
	if err := level.UnmarshalText([]byte(f.logLevel)); err != nil {
		return daemon.Config{}, usage(fmt.Sprintf("--log-level %q", f.logLevel), "debug, info, warn or error")
	}
	if f.profile != "lan" && f.profile != "wan" {
		return daemon.Config{}, usage(fmt.Sprintf("--profile %q", f.profile), "lan or wan")
	}
	if f.workers < 0 || given["workers"] && f.workers == 0 {
		return daemon.Config{}, usage(fmt.Sprintf("--workers %d", f.workers), "at least 1 core; evonode pause lends none")
	}
	if _, _, err := net.SplitHostPort(f.http); f.http != "" && err != nil {
		return daemon.Config{}, usage(fmt.Sprintf("--http %q: %v", f.http, err), "HOST:PORT, such as 127.0.0.1:8080, or :8080 for all addresses of this computer")
	}
	data, err := dataDir(f.data)
	if err != nil {
		return daemon.Config{}, err
	}
	cfg := daemon.Config{
		Data: data, Targets: targets, Public: bootstrap,
		HTTP: f.http, HTTPGiven: given["http"], Listen: f.listen,
		Workers: f.workers, WAN: f.profile == "wan", MDNS: !f.noMDNS,
		Version: Version(), Logger: slog.New(slog.NewTextHandler(line, &slog.HandlerOptions{Level: level})),
	}
	if f.train == "" {
		for _, name := range append(trainSpecFlags, "new") {
			if given[name] {
				return cfg, usage("--"+name+" without --train", "for example: evonode --bootstrap --train CartPole-v1")
			}
		}
		return cfg, nil
	}
	if len(targets) > 0 {
		return cfg, usage("--train together with addresses to join", "a swarm that is there has its run: leave out --train to take part in it, or the addresses to start one")
	}
	options, err := f.training.options(f.train)
	if err == nil {
		_, err = runspec.NewSpec(options) // refuses what cannot be, before anything is started
		err = specError(err)
	}
	cfg.Train, cfg.Fresh, cfg.Exact = &options, f.fresh, anyGiven(given, trainSpecFlags)
	return cfg, err
}

func anyGiven(given map[string]bool, names []string) bool {
	for _, n := range names {
		if given[n] {
			return true
		}
	}
	return false
}
