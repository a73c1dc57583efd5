package daemon

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/evoswarm/evoswarm/internal/mesh"
	"github.com/evoswarm/evoswarm/internal/runspec"
)

// A node that comes back with nothing but a link to itself or to others that are gone waits for peers of the run to
// dial it, takes the run from them, and works on it. Peers of another run are not who it waits for.
func TestAwaitsPeersOfTheRun(t *testing.T) {
	listen := []string{freeAddress(t)}
	train := func(env string) *Node {
		return begin(t, Config{Data: t.TempDir(), Listen: []string{"/ip4/127.0.0.1/tcp/0"}, Train: [][]runspec.Options{{{Env: env, Strategy: "snes"}}}})
	}
	keeper, other := train("CartPole-v1"), train("Pendulum-v1")
	defer end(t, keeper)
	defer end(t, other)
	run := keeper.Status().Run
	dial := func(from *Node, address string) {
		t.Helper()
		m, _ := from.lanes[0].current()
		if _, err := m.Dial(t.Context(), address); err != nil {
			t.Error(err)
		}
	}

	own, _ := keeper.lanes[0].current()
	if _, err := meet(t.Context(), own, []target{{Addresses: mesh.Addresses{Addresses: own.Addrs()}}}); !errors.Is(err, mesh.ErrUnreachable) {
		t.Errorf("a link to the node itself: %v", err)
	}
	gone := "/ip4/127.0.0.1/tcp/1/p2p/12D3KooWD3eckifWpRn9wQpMG9R9hX3sD158z7EqHWmweQAJU5SA#" + run
	if _, err := Start(t.Context(), Config{Data: t.TempDir(), Targets: []string{gone}, Workers: 1, Logger: slog.New(slog.DiscardHandler), Keep: 1 << 20}); err == nil {
		t.Fatal("a node that nobody can dial waits to be dialed")
	}
	data := t.TempDir()
	cfg := Config{Data: data, Listen: listen, Targets: []string{gone, "http://127.0.0.1:1/#" + run}}
	back := begin(t, cfg)
	if s := back.Status(); s.Run != "" || back.Announcement().Awaited != run {
		t.Errorf("got %+v, %+v", s, back.Announcement())
	}
	defer end(t, back)
	address := back.lanes[0].Addresses()[0]
	dial(other, address)
	time.Sleep(2 * time.Second)
	if got := back.Status().Run; got != "" {
		t.Fatalf("it takes run %s", got)
	}
	dial(keeper, address)
	deadline := time.Now().Add(30 * time.Second)
	for back.Status().Run != run {
		if time.Now().After(deadline) {
			t.Fatal("it does not learn of the run")
		}
		time.Sleep(50 * time.Millisecond)
	}
	for height := keeper.Status().Height; back.Status().Height < height || back.Status().Leader != keeper.Status().Leader; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("at height %d, the others are at %d", back.Status().Height, keeper.Status().Height)
		}
		own.Dial(t.Context(), address)
	}
}
