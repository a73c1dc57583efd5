//go:build !js

package mesh

import (
	"fmt"
	"testing"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
)

// from is an address in the n-th public block.
func from(n, host int) ma.Multiaddr {
	return ma.StringCast(fmt.Sprintf("/ip4/203.%d.%d.%d/udp/1", n/256, n%256, host))
}

// However many handshakes strangers begin over WebRTC, and from wherever they seem to come, others find room: in the
// resource manager, and, once those have ended, here.
func TestHandshakesOverWebRTCAreBounded(t *testing.T) {
	resources, err := newResources(1, ConnsPerAddress)
	if err != nil {
		t.Fatal(err)
	}
	defer resources.Close()
	l := newRTCLimits(resources)
	var begun []network.ConnManagementScope
	for n := range 1000 {
		if s, err := l.OpenConnection(network.DirInbound, false, from(n, 1)); err == nil {
			begun = append(begun, s)
		}
	}
	if len(begun) != maxRTCShaking {
		t.Errorf("%d handshakes are under way, want %d", len(begun), maxRTCShaking)
	}
	for n := range 128 {
		s, err := resources.OpenConnection(network.DirInbound, true, ma.StringCast(fmt.Sprintf("/ip4/198.18.%d.1/tcp/1", n)))
		if err != nil {
			t.Fatalf("no room for connection %d over TCP: %v", n, err)
		}
		defer s.Done()
	}
	for _, s := range begun {
		s.Done()
		s.Done() // libp2p may say so twice
	}
	s, err := l.OpenConnection(network.DirInbound, false, from(0, 1))
	if err != nil {
		t.Fatalf("room is not given back: %v", err)
	}
	s.Done()
	if l.open != 0 || l.shaking != 0 || len(l.blocks) != 0 {
		t.Errorf("nobody is connected, and %d, %d, %v are counted", l.open, l.shaking, l.blocks)
	}
}

// Connections that stay are bounded, too, and one block of addresses gets a part of them.
func TestConnectionsOverWebRTCAreShared(t *testing.T) {
	resources, err := newResources(1, ConnsPerAddress)
	if err != nil {
		t.Fatal(err)
	}
	defer resources.Close()
	l := newRTCLimits(resources)
	admit := func(n, host int) bool {
		s, err := l.OpenConnection(network.DirInbound, false, from(n, host))
		if err != nil {
			return false
		}
		if err := s.SetPeer(peer.ID(fmt.Sprint(n, host))); err != nil {
			t.Fatal(err)
		}
		return true
	}
	admitted := 0
	for host := range 200 {
		if admit(0, host) {
			admitted++
		}
	}
	if admitted != maxRTCPerBlock {
		t.Errorf("one block has %d connections, want %d", admitted, maxRTCPerBlock)
	}
	for n := range 1000 {
		if admit(1+n, 1) {
			admitted++
		}
	}
	if admitted != maxRTC {
		t.Errorf("there are %d connections, want %d", admitted, maxRTC)
	}
	if maxRTC*(10*(256<<10+1<<10)) > memoryLimit/2 {
		t.Error("what they reserve leaves less than half of the memory to others")
	}
}

// What a browser that replaces a lost connection reserves twice for a moment fits its share.
func TestMemoryOfTwoConnectionsOverWebRTC(t *testing.T) {
	resources, err := newResources(1, ConnsPerAddress)
	if err != nil {
		t.Fatal(err)
	}
	defer resources.Close()
	for range 2 {
		s, err := newRTCLimits(resources).OpenConnection(network.DirInbound, false, from(0, 1))
		if err != nil {
			t.Fatal(err)
		}
		defer s.Done()
		if err := s.ReserveMemory(10*(256<<10+1<<10), network.ReservationPriorityMedium); err != nil {
			t.Fatal(err)
		}
		if err := s.SetPeer("tab"); err != nil {
			t.Fatal(err)
		}
	}
}
