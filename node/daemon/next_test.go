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
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := free.Addr().(*net.TCPAddr).Port
	free.Close()
	data := t.TempDir()
	begin := func(cfg Config) *Node {
		t.Helper()
		cfg.Workers, cfg.Logger, cfg.Keep = 1, slog.New(slog.DiscardHandler), 1<<20
		n, err := Start(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	end := func(n *Node) {
		if err := n.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}
	hub := func(env, strategy string) *Node {
		return begin(Config{Data: data, Listen: []string{fmt.Sprintf("/ip4/127.0.0.1/tcp/%d", port)}, Train: []runspec.Options{{Env: env, Strategy: strategy}}})
	}
	first := hub("CartPole-v1", "dises")
	address := first.Addresses()[0]
	run := first.Status().Run
	joined := begin(Config{Data: t.TempDir(), Targets: []string{address}})
	defer end(joined)
	pinned := begin(Config{Data: t.TempDir(), Targets: []string{address + "#" + run}})
	defer end(pinned)
	if joined.elsewhere(t.Context()) {
		t.Error("the same run is another one")
	}
	end(first)
	if joined.elsewhere(t.Context()) {
		t.Error("nobody is elsewhere")
	}
	second := hub("Pendulum-v1", "snes")
	defer end(second)
	if !joined.elsewhere(t.Context()) {
		t.Error("the run there was not noticed")
	}
	if pinned.elsewhere(t.Context()) {
		t.Error("who joined one run alone would follow to another")
	}
}
