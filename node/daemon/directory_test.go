package daemon

import (
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	kad "github.com/libp2p/go-libp2p-kad-dht"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/evoswarm/evoswarm/internal/dht"
	"github.com/evoswarm/evoswarm/internal/mesh"
	"github.com/evoswarm/evoswarm/internal/runspec"
)

// serveDHT starts the three servers of a private DHT, and returns how to end them and their full addresses.
func serveDHT(t *testing.T) (end func(), addrs []string) {
	t.Helper()
	var closers []func() error
	end = func() {
		for _, c := range closers {
			_ = c()
		}
	}
	t.Cleanup(end)
	var servers []*kad.IpfsDHT
	for range 3 {
		h, err := libp2p.New(libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0"), libp2p.DisableRelay(), libp2p.DisableMetrics())
		if err != nil {
			t.Fatal(err)
		}
		d, err := kad.New(h, kad.Mode(kad.ModeServer))
		if err != nil {
			t.Fatal(err)
		}
		closers = append(closers, d.Close, h.Close)
		for _, other := range servers {
			if err := h.Connect(t.Context(), peer.AddrInfo{ID: other.PeerID(), Addrs: other.Host().Addrs()}); err != nil {
				t.Fatal(err)
			}
		}
		servers = append(servers, d)
		addrs = append(addrs, fmt.Sprintf("%s/p2p/%s", h.Addrs()[0], h.ID()))
	}
	return end, addrs
}

// within waits for something that takes some seconds.
func within(t *testing.T, what string, is func() bool) {
	t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for !is() {
		if time.Now().After(deadline) {
			t.Fatal("never: " + what)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// A node that knows a run and nothing else finds one that works on it. When both come back, that one at another
// address, they find each other again. And when the DHT goes, the node works on.
func TestNodesMeetInTheDHT(t *testing.T) {
	down, servers := serveDHT(t)
	a, b := t.TempDir(), t.TempDir()
	first := Config{Data: a, Listen: []string{"/ip4/127.0.0.1/tcp/0"}, Train: [][]runspec.Options{{{Env: "CartPole-v1", Strategy: "snes"}}}, DHT: true, DHTBootstrap: servers[:1]}
	hub := begin(t, first)
	run := hub.Status().Run
	second := Config{Data: b, Targets: []string{run}, DHT: true, DHTBootstrap: servers[2:]}
	var leaf *Node
	within(t, "the node is named in the DHT", func() bool {
		n, err := Start(t.Context(), quiet(second))
		if err != nil && !errors.Is(err, errNobody) {
			t.Fatal(err)
		}
		leaf = n
		return err == nil
	})
	linked := func(n *Node) func() bool { return func() bool { return n.Status().Connected > 0 } }
	within(t, "the two are linked", linked(leaf))
	if got := leaf.Status().Run; got != run {
		t.Fatalf("it is in run %s, want %s", got, run)
	}
	end(t, leaf)
	end(t, hub)

	first.Train = nil
	hub = begin(t, first)
	defer func() { end(t, hub) }()
	second.Targets = nil
	leaf = begin(t, second)
	defer func() { end(t, leaf) }()
	within(t, "they find each other again", linked(leaf))

	down()
	height := hub.Status().Height
	within(t, "the node works on without the DHT", func() bool { return hub.Status().Height > height })
}

// A node that others can dial, and that knows a run of which nobody is there yet, is found in the DHT by the first that
// is.
func TestWaitsInTheDHT(t *testing.T) {
	_, servers := serveDHT(t)
	first := Config{Data: t.TempDir(), Listen: []string{"/ip4/127.0.0.1/tcp/0"}, Train: [][]runspec.Options{{{Env: "CartPole-v1", Strategy: "snes"}}}}
	keeper := begin(t, first)
	run := keeper.Status().Run
	end(t, keeper)
	waiting := begin(t, Config{Data: t.TempDir(), Listen: []string{"/ip4/127.0.0.1/tcp/0"}, Targets: []string{run}, DHT: true, DHTBootstrap: servers[:1]})
	defer end(t, waiting)
	if got := waiting.Announcement().Awaited; got != run {
		t.Errorf("it awaits %q", got)
	}
	first.DHT, first.DHTBootstrap = true, servers[1:]
	keeper = begin(t, first)
	defer func() { end(t, keeper) }()
	within(t, "it takes part in the run", func() bool { return waiting.Status().Run == run })
}

// Who names a run alone is told what to do: without a DHT, with one that is down, and where nobody of the run is there.
// A node that others can dial waits for them then, and its owner is told once that the DHT is down.
func TestRunAlone(t *testing.T) {
	down, servers := serveDHT(t)
	run := "bafyreieq5jui4j25lacwomsqgjeswwl3y5zcdrresptwgmfylxo2depppq"
	cfg := quiet(Config{Data: t.TempDir(), Targets: []string{"#" + run}})
	try := func() error {
		n, err := Start(t.Context(), cfg)
		if err == nil {
			end(t, n)
		}
		return err
	}
	if err := try(); !errors.Is(err, mesh.ErrAddress) || !strings.Contains(err.Error(), "--dht") {
		t.Errorf("without a DHT: %v", err)
	}
	cfg.DHT, cfg.DHTBootstrap = true, servers
	if err := try(); !errors.Is(err, errNobody) {
		t.Errorf("a run of nobody: %v", err)
	}
	down()
	if err := try(); !errors.Is(err, dht.ErrDown) {
		t.Errorf("a DHT that is down: %v", err)
	}
	cfg.Listen = []string{"/ip4/127.0.0.1/tcp/0"}
	n, err := Start(t.Context(), cfg)
	if err != nil {
		t.Fatalf("a node that others can dial does not wait for them: %v", err)
	}
	defer end(t, n)
	within(t, "its owner is told that the DHT is down", func() bool { return len(n.news) > 0 })
	if got := <-n.news; !strings.Contains(got, "the DHT does not answer") {
		t.Errorf("he is told %q", got)
	}
	n.heardOfDirectory(t.Context(), dht.ErrDown)
	if len(n.news) > 0 {
		t.Error("he is told again")
	}
}

// quiet has a node use one core and log nothing.
func quiet(cfg Config) Config {
	cfg.Workers, cfg.Logger, cfg.Keep = 1, slog.New(slog.DiscardHandler), 1<<20
	return cfg
}
