package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"testing"

	"github.com/evoswarm/evoswarm/internal/runspec"
)

// Who joined a node by its multiaddress, not by the URL of a page, learns that it works on another run.
func TestElsewhereByMultiaddress(t *testing.T) {
	listen := []string{freeAddress(t)}
	data := t.TempDir()
	hub := func(env, strategy string) *Node {
		return begin(t, Config{Data: data, Listen: listen, Train: [][]runspec.Options{{{Env: env, Strategy: strategy}}}})
	}
	first := hub("CartPole-v1", "dises")
	address := first.lanes[0].Addresses()[0]
	run := first.Status().Run
	joined := begin(t, Config{Data: t.TempDir(), Targets: []string{address}})
	defer end(t, joined)
	pinned := begin(t, Config{Data: t.TempDir(), Targets: []string{address + "#" + run}})
	defer end(t, pinned)
	if joined.lanes[0].elsewhere(t.Context()) {
		t.Error("the same run is another one")
	}
	end(t, first)
	if joined.lanes[0].elsewhere(t.Context()) {
		t.Error("nobody is elsewhere")
	}
	second := hub("Pendulum-v1", "snes")
	defer end(t, second)
	if !joined.lanes[0].elsewhere(t.Context()) {
		t.Error("the run there was not noticed")
	}
	if pinned.lanes[0].elsewhere(t.Context()) {
		t.Error("who joined one run alone would follow to another")
	}
}

// freeAddress is a multiaddress on this computer where nobody listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return fmt.Sprintf("/ip4/127.0.0.1/tcp/%d", l.Addr().(*net.TCPAddr).Port)
}

// begin starts a quiet node with one worker.
func begin(t *testing.T, cfg Config) *Node {
	t.Helper()
	cfg.Workers, cfg.Logger, cfg.Keep = 1, slog.New(slog.DiscardHandler), 1<<20
	n, err := Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func end(t *testing.T, n *Node) {
	t.Helper()
	if err := n.Close(context.Background()); err != nil {
		t.Error(err)
	}
}
