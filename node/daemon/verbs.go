package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"

	"github.com/evoswarm/evoswarm/internal/autotls"
	"github.com/evoswarm/evoswarm/internal/dht"
	"github.com/evoswarm/evoswarm/internal/mesh"
	"github.com/evoswarm/evoswarm/internal/seedlog"
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
		Name: "join", Args: "ADDR|URL|RUN ...", Summary: "lend this computer to a swarm",
		Intro: "Lends this computer to a swarm.",
		Usage: []string{"join ADDR|URL|RUN ... [flags]"},
		Details: `A URL is that of a volunteer page, such as http://example.org:8080/; an ADDR is a multiaddress that ends in /p2p/ID.
With #RUN appended (as evonode --bootstrap prints it) only that run is joined; without it, whatever run the node that
answers names. A RUN alone is looked for in a DHT: see --dht.`,
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
	announce []string
	tlsCert  string
	tlsKey   string
	autoTLS  bool
	forge    AutoTLS
	relays   []string
	perIP    int
	dht      bool
	dhtAt    []string
	data     string
	workers  int
	gpu      settings.GPU
	keep     string
	profile  string
	noMDNS   bool
	logLevel string
	json     bool

	train    []string
	fresh    bool
	format   uint64
	until    string
	trust    string
	training settings.Flags
}

func newNodeFlags() *nodeFlags {
	return &nodeFlags{keep: "256MB", profile: "lan", logLevel: "warn", until: "solved", format: seedlog.Format2}
}

// bind defines the flags of every node.
func (f *nodeFlags) bind(fs *verb.Flags, page string) {
	fs.String(&f.http, "http", "HOST:PORT", `where the page is served ("" for nowhere; `+page+")")
	fs.String(&f.metrics, "metrics", "HOST:PORT", "serve /metrics (Prometheus) and /healthz there, for example 127.0.0.1:9090 (default: nowhere)")
	fs.Func("listen", "MULTIADDR", fmt.Sprintf("where to listen for peers; may be repeated (default: TCP, WebSocket, QUIC, WebTransport and WebRTC-Direct on port %d)", DefaultPort),
		func(v string) error { f.listen = append(f.listen, v); return nil })
	fs.Func("announce", "MULTIADDR", "where others can dial this node, too, such as a port that a router forwards; the host alone, such as /ip4/203.0.113.7, for the ports of --listen; may be repeated",
		func(v string) error {
			f.announce = append(f.announce, v)
			return mesh.CheckAnnounced(v)
		})
	fs.String(&f.tlsCert, "tls-cert", "FILE", "listen for WebSocket over TLS, too, with this certificate (PEM, with those of its authorities), for pages from https where UDP is blocked")
	fs.String(&f.tlsKey, "tls-key", "FILE", "the private key of --tls-cert (PEM)")
	fs.Bool(&f.autoTLS, "auto-tls", "have a certificate made for that, by "+autotls.DefaultDomain+" and Let's Encrypt, whose terms you accept by it; TCP must be open to the internet")
	fs.Func("auto-tls-forge", "DOMAIN[,URL]", "the forge for --auto-tls: its domain, and where it is if not at https://registration.DOMAIN (default "+autotls.DefaultDomain+")",
		func(v string) error { f.autoTLS = true; return f.forge.setForge(v) })
	fs.Func("auto-tls-authority", "URL", "the ACME directory for --auto-tls (default: Let's Encrypt's)",
		func(v string) error { f.autoTLS = true; return f.forge.setAuthority(v) })
	fs.Func("relay", "MULTIADDR", "a node, of any run, that leads others to this one if nobody can dial it; may be repeated (default: hubs of the run)",
		func(v string) error {
			if !strings.HasPrefix(v, "/") {
				return errors.New("no multiaddress: take one from /addresses.json of a node that others can dial")
			}
			f.relays = append(f.relays, v)
			return mesh.CheckAddr(v)
		})
	fs.Int(&f.perIP, "per-address", "N", fmt.Sprintf("how many connections one IP address may have, at most %d; more than the default where a school or a carrier puts many behind one (default %d)",
		mesh.MaxConnsPerAddress, mesh.ConnsPerAddress), 1)
	fs.Bool(&f.dht, "dht", "have the public DHT of IPFS name this node to others of its run, and find them there; evonode join RUN --dht needs no address")
	fs.Func("dht-bootstrap", "MULTIADDR", "a server of a DHT of your own, for --dht in place of the public one; may be repeated",
		func(v string) error {
			f.dht, f.dhtAt = true, append(f.dhtAt, v)
			return dht.CheckBootstrap(v)
		})
	bindData(fs, &f.data, "where things are kept")
	fs.Workers(&f.workers, "cores to lend")
	f.gpu.Bind(fs)
	fs.String(&f.keep, "keep", "SIZE", "how much disk a run may take: branches that lost go first, this computer's own work last, then the oldest "+
		"entries of runs of format 2 (default: all entries, and 256MB of branches; see evonode branch)")
	fs.Choice(&f.profile, "profile", "lan|wan", "how fast a silent leader is replaced: under 2 s, or under 15 s (default lan)")
	fs.Bool(&f.noMDNS, "no-mdns", "do not look for nodes in the local network")
	fs.Choice(&f.logLevel, "log-level", "debug|info|warn|error", "what the node logs (default warn)")
	fs.JSON(&f.json, "print what the node says as JSON: first {page, join, run, env, addresses, metrics}, then status lines")
}

// bindRun defines what only a node that may start a run has.
func (f *nodeFlags) bindRun(fs *verb.Flags) {
	fs.Func("train", "ENV", "start a run in this environment, or continue the one in the data folder; several with commas, or those of "+
		"FILE.txt (see below), are trained one after the other, each once the one before has ended; given several times, the node "+
		"works on all of them at the same time",
		func(v string) error { f.train = append(f.train, v); return nil })
	f.training.Bind(fs)
	fs.Bool(&f.fresh, "new", "start a new run even if the data folder has one of this environment")
	fs.String(&f.until, "until", "WHEN", "what ends the run: solved (default), evals=N, steps=N, entries=N, several with commas "+
		"for the first of them, or never")
	fs.String(&f.trust, "trust", "KEYS", "only these nodes, all yours, take part, by their keys with commas, or a file with one in each line; "+
		"nobody votes and nothing is re-run. This node is one of them. evonode key prints a node's key")
	bindFormat(fs, &f.format)
}

// bindFormat defines the flag for the format of a run.
func bindFormat(fs *verb.Flags, format *uint64) {
	fs.Func("format", "1|2", "format of a new run's log (default 2); one of format 1 has its leader re-run every result, and never ends", func(text string) error {
		switch text {
		case "1":
			*format = seedlog.Format1
		case "2":
			*format = seedlog.Format2
		default:
			return errors.New("want 1 or 2")
		}
		return nil
	})
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
	if (f.tlsCert == "") != (f.tlsKey == "") {
		return Config{}, verb.Misused("--tls-cert and --tls-key belong together", "name the files of both, as certbot writes them: fullchain.pem and privkey.pem")
	}
	if f.autoTLS && f.tlsCert != "" {
		return Config{}, verb.Misused("--auto-tls and --tls-cert exclude each other", "leave out --auto-tls where you have a certificate of your own")
	}
	if f.autoTLS && !bootstrap && len(f.listen) == 0 {
		return Config{}, verb.Misused("--auto-tls is for a node that others are to dial", "add --listen MULTIADDR, or use --bootstrap; a node that only joins needs no certificate")
	}
	if len(f.announce) > 0 && !bootstrap && len(f.listen) == 0 {
		return Config{}, verb.Misused("--announce is for a node that others are to dial", "add --listen MULTIADDR, or use --bootstrap; a node that only joins is not dialed")
	}
	if len(f.relays) > 0 && !bootstrap && len(f.listen) == 0 {
		return Config{}, verb.Misused("--relay is for a node that others are to dial", "add --listen MULTIADDR, or use --bootstrap; a node that only joins needs no relay")
	}
	if f.perIP > mesh.MaxConnsPerAddress {
		return Config{}, verb.Misused(fmt.Sprintf("--per-address %d: a node has no more than %d for one address", f.perIP, mesh.MaxConnsPerAddress), "others need places, too: more nodes serve more people")
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
		HTTP: f.http, HTTPGiven: fs.Given("http"), Metrics: f.metrics, Listen: f.listen, Announce: f.announce, TLSCert: f.tlsCert, TLSKey: f.tlsKey, Relays: f.relays, PerAddress: f.perIP,
		DHT: f.dht, DHTBootstrap: f.dhtAt,
		Workers: f.workers, GPU: f.gpu, Keep: keep, Bounded: fs.Given("keep"), WAN: f.profile == "wan", MDNS: !f.noMDNS,
		Version: verb.Version(), Logger: slog.New(slog.NewTextHandler(line, &slog.HandlerOptions{Level: level})),
	}
	if f.autoTLS {
		cfg.AutoTLS = &f.forge
	}
	if len(f.train) == 0 {
		for _, name := range append(slices.Clone(settings.Names), "new", "format", "until", "trust") {
			if fs.Given(name) {
				return cfg, verb.Misused("--"+name+" without --train", "for example: evonode --bootstrap --train CartPole-v1")
			}
		}
		return cfg, nil
	}
	if len(targets) > 0 {
		return cfg, verb.Misused("--train together with addresses to join", "an existing swarm has its run: leave out --train to take part in it, or the addresses to start one")
	}
	cfg.Fresh = f.fresh
	cfg.Exact = slices.ContainsFunc(f.train, func(t string) bool { return isQueueFile(t) || isLine(t) }) ||
		slices.ContainsFunc(append(slices.Clone(settings.Names), "format", "until", "trust"), fs.Given)
	cfg.Train, err = f.queues(fs)
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
