package mesh

import (
	"slices"
	"testing"
	"time"

	ma "github.com/multiformats/go-multiaddr"
	"github.com/multiformats/go-multihash"
)

const (
	owner    = "/p2p/12D3KooWD3eckifWpRn9wQpMG9R9hX3sD158z7EqHWmweQAJU5SA"
	someCert = "/certhash/uEiAkH5a4DPGKUuOBjYw0CgwjvcJCJMD2K_1aluKR_tpevQ"
	newCert  = "/certhash/uEiCQH5a4DPGKUuOBjYw0CgwjvcJCJMD2K_1aluKR_tpevQ"
)

func TestWayOf(t *testing.T) {
	for addr, want := range map[string]Way{
		"/ip4/203.0.113.7/tcp/1":                                                   TCP,
		"/ip4/203.0.113.7/tcp/1/ws":                                                WebSocket,
		"/dns/example.com/tcp/443/wss":                                             SecureSocket,
		"/dns/example.com/tcp/443/tls/ws":                                          SecureSocket,
		"/ip6/::1/udp/1/quic-v1":                                                   QUIC,
		"/ip6/::1/udp/1/quic-v1/webtransport":                                      "",
		"/ip6/::1/udp/1/quic-v1/webtransport" + someCert + newCert:                 WebTransport,
		"/dns/example.com/udp/1/quic-v1/webtransport" + someCert:                   WebTransport,
		"/ip4/203.0.113.7/udp/1/webrtc-direct":                                     "",
		"/ip4/203.0.113.7/udp/1/webrtc-direct" + someCert:                          WebRTC,
		"/ip4/203.0.113.7/udp/1/webrtc-direct" + someCert + owner + "/p2p-circuit": Relayed,
		"/ip4/203.0.113.7/udp/1/webrtc-direct" + owner + "/p2p-circuit":            "",
		"/ip4/203.0.113.7/tcp/1/p2p-circuit":                                       "",
		"/ip4/203.0.113.7/tcp/1" + owner + "/p2p-circuit" + owner + "/p2p-circuit": "",
		"/ip4/203.0.113.7/udp/1":                                                   "",
	} {
		if got := wayOf(ma.StringCast(addr)); got != want {
			t.Errorf("%s: got %q, want %q", addr, got, want)
		}
	}
	if got := WayOf("/ip4/203.0.113.7/tcp/1"); got != "" {
		t.Errorf("an address of nobody leads over %q", got)
	}
}

// A page that came over TLS does not begin with what its browser forbids, and any page tries each way that it has.
func TestOrderOfWays(t *testing.T) {
	addrs := []ma.Multiaddr{
		ma.StringCast("/ip4/203.0.113.7/tcp/1/ws" + owner + "/p2p-circuit"),
		ma.StringCast("/ip4/203.0.113.7/udp/1/webrtc-direct" + someCert),
		ma.StringCast("/ip4/203.0.113.7/udp/1/quic-v1/webtransport" + someCert),
		ma.StringCast("/ip4/203.0.113.7/tcp/1/ws"),
		ma.StringCast("/dns/example.com/tcp/443/tls/ws"),
	}
	for _, c := range []struct {
		tls  bool
		want []Way
	}{
		{false, []Way{WebSocket, SecureSocket, WebTransport, WebRTC, Relayed}},
		{true, []Way{SecureSocket, WebTransport, WebRTC, WebSocket, Relayed}},
	} {
		var got []Way
		for i, r := range rankWays(c.tls)(addrs) {
			got = append(got, wayOf(r.Addr))
			if want := time.Duration(i) * headStart; r.Delay != want {
				t.Errorf("%s is tried after %v, want %v", r.Addr, r.Delay, want)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("over TLS %v: got %v, want %v", c.tls, got, c.want)
		}
	}
	if got := rankWays(true)(addrs[2:3]); len(got) != 1 || got[0].Delay != 0 {
		t.Errorf("the only way waits: %v", got)
	}
}

// Of a hub at many addresses some of each way are told, so that everybody finds one that it can use.
func TestChosenAddressesAreOfAllWays(t *testing.T) {
	var addrs []ma.Multiaddr
	for _, end := range []string{"/tcp/1", "/tcp/1/ws", "/udp/1/quic-v1", "/udp/1/quic-v1/webtransport" + someCert, "/udp/1/webrtc-direct" + someCert} {
		for _, at := range []string{"/ip4/203.0.113.7", "/ip4/203.0.113.8", "/ip6/2001:db8::1"} {
			addrs = append(addrs, ma.StringCast(at+end))
		}
	}
	count := make(map[Way]int)
	chosen := choose(addrs, byWay, maxAddrsPerHub)
	for _, a := range chosen {
		count[wayOf(a)]++
	}
	if len(chosen) != maxAddrsPerHub || len(count) != 5 {
		t.Errorf("got %v", chosen)
	}
	for _, a := range choose(addrs, ofTabs, maxAddrsPerHub) {
		if w := wayOf(a); w == TCP || w == QUIC {
			t.Errorf("a tab is told %s", a)
		}
	}
	if got := choose(addrs, nil, 8); len(got) != 0 {
		t.Errorf("got %v", got)
	}
}

// The word of a hub on its own renewed certificates replaces the old ones; that of others does not.
func TestRenewedCertificates(t *testing.T) {
	at := "/ip4/203.0.113.7/udp/1/quic-v1/webtransport"
	before, after := at+someCert+owner, at+newCert+owner
	if !Renews(after, before) || Renews(before, before) || Renews("x", before) || Renews(after, "/ip4/203.0.113.8/udp/1/quic-v1/webtransport"+someCert+owner) {
		t.Error("Renews does not tell one place from others")
	}
	b := newBook()
	old, err := parseAddr(before)
	if err != nil {
		t.Fatal(err)
	}
	renewed, err := parseAddr(after)
	if err != nil {
		t.Fatal(err)
	}
	known := func() []ma.Multiaddr {
		h, _ := b.hubs.Get(old.ID)
		return h.addrs
	}
	b.add(*old, block{}, false)
	b.add(*renewed, block{}, false)
	if got := known(); len(got) != 2 {
		t.Errorf("somebody's word removed an address: %v", got)
	}
	b.renew(*renewed)
	if got := known(); len(got) != 1 || !got[0].Equal(renewed.Addrs[0]) {
		t.Errorf("got %v, want the renewed one", got)
	}
}

// A node has to name all the certificates that its address does: an address with one more was made by somebody else.
func TestConfirms(t *testing.T) {
	hashes, err := certhashes(ma.StringCast("/udp/1/quic-v1/webtransport" + someCert + newCert))
	if err != nil || len(hashes) != 2 {
		t.Fatalf("got %x, %v", hashes, err)
	}
	var named [][]byte
	for _, h := range hashes {
		mh, err := multihash.Encode(h, multihash.SHA2_256)
		if err != nil {
			t.Fatal(err)
		}
		named = append(named, mh)
	}
	if !confirms(named, hashes) || !confirms(named, hashes[:1]) {
		t.Error("a node that names its certificates is refused")
	}
	if confirms(named[1:], hashes) || confirms(nil, hashes) || confirms([][]byte{{1, 2}}, hashes[:1]) {
		t.Error("a node that does not name a certificate of its address is accepted")
	}
}
