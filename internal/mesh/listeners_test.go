//go:build !js

package mesh_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"fmt"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
	webrtc "github.com/libp2p/go-libp2p/p2p/transport/webrtc"
	"github.com/libp2p/go-libp2p/p2p/transport/websocket"
	libp2pwebtransport "github.com/libp2p/go-libp2p/p2p/transport/webtransport"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/mesh"
)

// startPublic starts a hub with all listeners of a node, on this computer, and UDP on one port.
func startPublic(t *testing.T, n byte) *mesh.Mesh {
	t.Helper()
	port := freeUDP(t)
	udp := fmt.Sprintf("/ip4/127.0.0.1/udp/%d", port)
	return start(t, mesh.Config{Key: key(n), Hub: true, Agent: "test/1", Listen: []string{
		"/ip4/127.0.0.1/tcp/0", "/ip4/127.0.0.1/tcp/0/ws", udp + "/quic-v1", udp + "/quic-v1/webtransport", udp + "/webrtc-direct"}})
}

// addrOf is where a mesh is found by one way.
func addrOf(t *testing.T, m *mesh.Mesh, w mesh.Way) string {
	t.Helper()
	for _, a := range m.Addrs() {
		if mesh.WayOf(a) == w {
			return a
		}
	}
	t.Fatalf("%v has no address for %s", m.Addrs(), w)
	return ""
}

// client is go-libp2p's own host, with the transport of one way.
func client(t *testing.T, w mesh.Way) host.Host {
	t.Helper()
	priv, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	options := []libp2p.Option{libp2p.Identity(priv), libp2p.NoListenAddrs, libp2p.DisableMetrics()}
	switch w {
	case mesh.TCP:
		options = append(options, libp2p.Transport(tcp.NewTCPTransport))
	case mesh.WebSocket, mesh.SecureSocket:
		options = append(options, libp2p.Transport(websocket.New, websocket.WithTLSClientConfig(&tls.Config{InsecureSkipVerify: true})))
	case mesh.WebTransport:
		options = append(options, libp2p.Transport(libp2pwebtransport.New))
	case mesh.WebRTC:
		options = append(options, libp2p.Transport(webrtc.New, webrtc.WithDialerVersion(2)))
	}
	h, err := libp2p.New(options...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h
}

func connect(t *testing.T, h host.Host, addr string) error {
	t.Helper()
	info, err := peer.AddrInfoFromString(addr)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	return h.Connect(ctx, *info)
}

// Everything that tabs need listens by default, and a stock client of libp2p connects by each way and is answered.
func TestListenersForTabs(t *testing.T) {
	for _, w := range []mesh.Way{mesh.WebTransport, mesh.WebRTC} {
		found := false
		for _, a := range mesh.DefaultListen(4710) {
			found = found || strings.HasSuffix(a, map[mesh.Way]string{mesh.WebTransport: "/webtransport", mesh.WebRTC: "/webrtc-direct"}[w])
		}
		if !found {
			t.Errorf("a node does not listen for %s by default: %v", w, mesh.DefaultListen(4710))
		}
		t.Run(string(w), func(t *testing.T) {
			hub := startPublic(t, 1)
			enter(t, hub)
			h := client(t, w)
			if err := connect(t, h, addrOf(t, hub, w)); err != nil {
				t.Fatal(err)
			}
			id := mustPeer(t, hub)
			if protocols, err := h.Peerstore().GetProtocols(id); err != nil || len(protocols) == 0 {
				t.Errorf("identify gave %v, %v", protocols, err)
			}
			s, err := h.NewStream(t.Context(), id, "/ipfs/ping/1.0.0")
			if err != nil {
				t.Fatal(err)
			}
			ping := bytes.Repeat([]byte{7}, 32)
			pong := make([]byte, 32)
			_ = s.SetDeadline(time.Now().Add(patience))
			if _, err := s.Write(ping); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Read(pong); err != nil || !bytes.Equal(ping, pong) {
				t.Errorf("got %x, %v", pong, err)
			}
		})
	}
}

func mustPeer(t *testing.T, m *mesh.Mesh) peer.ID {
	t.Helper()
	id, err := mesh.IDOf(m.Self())
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// A leaf of ours is linked over each way, and messages of the greatest size pass in both directions.
func TestLeavesOverWaysOfTabs(t *testing.T) {
	for _, w := range []mesh.Way{mesh.WebTransport, mesh.WebRTC} {
		t.Run(string(w), func(t *testing.T) {
			hub := startPublic(t, 1)
			enter(t, hub)
			leaf := start(t, mesh.Config{Key: key(2), Kind: coordinator.Tab})
			enter(t, leaf)
			hello, err := leaf.Dial(t.Context(), addrOf(t, hub, w))
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range hello.Hubs { // of a hub, what a tab may use, and it knows itself
				if w := mesh.WayOf(a); w == mesh.TCP || w == mesh.QUIC || w == "" {
					t.Errorf("a tab is told %s", a)
				}
			}
			linked(t, hub, leaf)
			linked(t, leaf, hub)
			for height := uint64(1); height <= 3; height++ {
				if err := leaf.Send(hub.Self(), status(height)); err != nil {
					t.Fatal(err)
				}
				received(t, hub, height)
				if err := hub.Send(leaf.Self(), status(height)); err != nil {
					t.Fatal(err)
				}
				received(t, leaf, height)
			}
		})
	}
}

// A certificate that is not the node's is refused, by an address that is well formed.
func TestWrongCertificateIsRefused(t *testing.T) {
	hub := startPublic(t, 1)
	enter(t, hub)
	for _, w := range []mesh.Way{mesh.WebTransport, mesh.WebRTC} {
		addr := addrOf(t, hub, w)
		from, to := strings.Index(addr, "/certhash/"), strings.Index(addr, "/p2p/")
		forged := addr[:from] + "/certhash/uEiAkH5a4DPGKUuOBjYw0CgwjvcJCJMD2K_1aluKR_tpevQ" + addr[to:]
		if err := connect(t, client(t, w), forged); err == nil {
			t.Errorf("%s: connected to a node with another certificate", w)
		}
	}
}

// Addresses that say too little are refused before anybody dials, and the words say what is missing.
func TestAddressesOfTabsAreChecked(t *testing.T) {
	m := start(t, mesh.Config{Key: key(1)})
	id := "/p2p/" + mustPeer(t, startHub(t, 2)).String()
	for addr, hint := range map[string]string{
		"/ip4/127.0.0.1/udp/1/quic-v1/webtransport" + id: "certhash",
		"/ip4/127.0.0.1/udp/1/webrtc-direct" + id:        "certhash",
		// SHA-512
		"/ip4/127.0.0.1/udp/1/webrtc-direct/certhash/uE0AkH5a4DPGKUuOBjYw0CgwjvcJCJMD2K_1aluKR_tpevSQfm7gM8YpS44GNjDQKDCO9wkIkwPYr_VqW4pH-2l69" + id: "sha2-256",
		"/ip4/127.0.0.1/udp/1/webrtc-direct/certhash/zzz" + id: "/certhash/",
	} {
		if _, err := m.Dial(t.Context(), addr); err == nil || !strings.Contains(err.Error(), hint) || !strings.Contains(err.Error(), mesh.ErrAddress.Error()) {
			t.Errorf("%s: got %v, want %q", addr, err, hint)
		}
	}
}

// A message that is longer than any may be, and bytes that are none, cost the sender its stream and in the end its
// place, over WebRTC as over TCP.
func TestHostileOverWebRTC(t *testing.T) {
	for name, data := range map[string][]byte{"oversize": make([]byte, 1<<20), "garbage": []byte("not CBOR at all")} {
		t.Run(name, func(t *testing.T) {
			victim := startPublic(t, 1)
			enter(t, victim)
			h := client(t, mesh.WebRTC)
			info, err := peer.AddrInfoFromString(addrOf(t, victim, mesh.WebRTC))
			if err != nil {
				t.Fatal(err)
			}
			if err := h.Connect(t.Context(), *info); err != nil {
				t.Fatal(err)
			}
			for tries, sent := 0, 0; tries < 10 && sent < 3; tries++ {
				if throw(h, info.ID, "/evoswarm/hello/2", data) {
					sent++
				}
			}
			for deadline := time.Now().Add(patience); h.Network().Connectedness(info.ID) == network.Connected; time.Sleep(20 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatal("the hostile peer is still connected")
				}
			}
		})
	}
}

// A node with a certificate has TCP, WebSocket and WebSocket over TLS on one port, and is found by the certificate's
// name.
func TestSecureSockets(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := fmt.Sprintf("/ip4/127.0.0.1/tcp/%d", l.Addr().(*net.TCPAddr).Port)
	l.Close()
	server := httptest.NewTLSServer(nil) // for its certificate
	defer server.Close()
	hub := start(t, mesh.Config{Key: key(1), Hub: true, Listen: []string{at, at + "/ws", at + "/tls/ws"}, Secure: mesh.Secure{TLS: server.TLS, Names: []string{"localhost"}}})
	enter(t, hub)
	addr := addrOf(t, hub, mesh.SecureSocket)
	if !strings.HasPrefix(addr, "/dns/localhost/tcp/") {
		t.Errorf("the certificate is for localhost, and the node is at %s", addr)
	}
	for _, w := range []mesh.Way{mesh.SecureSocket, mesh.WebSocket, mesh.TCP} {
		if err := connect(t, client(t, w), addrOf(t, hub, w)); err != nil {
			t.Errorf("%s: %v", w, err)
		}
	}
}

// freeUDP returns a port that nobody has.
func freeUDP(t *testing.T) int {
	t.Helper()
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	return c.LocalAddr().(*net.UDPAddr).Port
}
