//go:build !js

package mesh

import (
	"errors"
	"fmt"
	"testing"

	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
)

// However much a directory names, it gets no more of the book than its share, and who told of others before keeps his.
// What cannot be dialed, and the peer itself, is not noted.
func TestSuggestIsBounded(t *testing.T) {
	m := openHub(t)
	told := make(map[peer.ID]bool)
	for n := range 100 {
		id := someone(t)
		told[id] = true
		m.book.add(peer.AddrInfo{ID: id, Addrs: []ma.Multiaddr{in(n)}}, blockOf(in(n%4)), false)
	}
	var named []string
	for n := range 3000 {
		named = append(named, fmt.Sprintf("/ip4/100.%d.%d.7/tcp/1/p2p/%s", 64+n/256, n%256, someone(t)))
	}
	m.Suggest(append(named, "nonsense", fullText(m.host.ID(), in(200)), "/ip4/0.0.0.0/tcp/1/p2p/"+someone(t).String()))
	m.book.mu.Lock()
	defer m.book.mu.Unlock()
	if n := m.book.hubs.Len(); n != maxBook {
		t.Errorf("the book has %d hubs, want %d", n, maxBook)
	}
	for id := range told {
		if !m.book.hubs.Has(id) {
			t.Fatal("a hub that others told of gave way to those of a directory")
		}
	}
	if m.book.hubs.Has(m.host.ID()) {
		t.Error("the peer itself is in its book")
	}
}

// Who is found in a directory and works on another run is left at once; one of the run says hello.
func TestVisit(t *testing.T) {
	m, hub := openHub(t), openHub(t)
	if err := hub.Enter([]byte("genesis")); err != nil {
		t.Fatal(err)
	}
	addr := hub.Addrs()[0]
	if _, err := m.Visit(t.Context(), addr, "another run"); !errors.Is(err, ErrUnreachable) {
		t.Errorf("got %v", err)
	}
	if m.host.Network().Connectedness(hub.host.ID()).String() != "NotConnected" {
		t.Error("it stays connected to a peer of another run")
	}
	hello, err := m.Visit(t.Context(), addr, hub.runID())
	if err != nil || string(hello.Genesis) != "genesis" {
		t.Errorf("got %+v, %v", hello, err)
	}
	if _, err := m.Visit(t.Context(), m.Addrs()[0], hub.runID()); !errors.Is(err, ErrAddress) {
		t.Errorf("itself: %v", err)
	}
	if _, err := m.Visit(t.Context(), "nonsense", hub.runID()); !errors.Is(err, ErrAddress) {
		t.Errorf("nonsense: %v", err)
	}
	m.book.mu.Lock()
	defer m.book.mu.Unlock()
	if h, known := m.book.hubs.Get(hub.host.ID()); known && h.pinned {
		t.Error("a directory's peer counts as named by the user")
	}
}
