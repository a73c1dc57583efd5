//go:build !js

package mesh_test

import (
	"testing"
	"time"

	"github.com/evoswarm/evoswarm/internal/mesh"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// A node that works on two runs has a host for each, under one key. Who knows both addresses, or took one for the
// other, finds the run that he is in.
func TestOneKeyAtTwoAddresses(t *testing.T) {
	other := []byte("the spec of another run")
	first, second := startHub(t, 1), startHub(t, 1)
	enter(t, first)
	if err := second.Enter(other); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name  string
		peers []string // that the newcomer remembers
	}{
		{"it knows both", []string{first.Addrs()[0], second.Addrs()[0]}},
		{"it knows both, the right one first", []string{second.Addrs()[0], first.Addrs()[0]}},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := start(t, mesh.Config{Key: key(2), Peers: test.peers})
			if err := m.Enter(other); err != nil {
				t.Fatal(err)
			}
			awaitLink(t, m, second.Self())
		})
	}
	t.Run("it asks at the wrong one first", func(t *testing.T) {
		m := start(t, mesh.Config{Key: key(3)})
		hello := dial(t, m, first)
		if want := seedlog.LinkOf(genesis).String(); hello.Run != want {
			t.Fatalf("it answers for run %s, want %s", hello.Run, want)
		}
		m.Leave(hello.Peer)
		if hello = dial(t, m, second); hello.Run != seedlog.LinkOf(other).String() {
			t.Fatalf("at the other address it answers for run %s", hello.Run)
		}
	})
}

// awaitLink waits until a peer is linked to another.
func awaitLink(t *testing.T, m *mesh.Mesh, to seedlog.Peer) {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		for _, l := range m.Links() {
			if l.Peer == to {
				return
			}
		}
	}
	t.Error("the hub of the run is not linked")
}
