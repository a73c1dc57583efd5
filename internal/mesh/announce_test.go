//go:build !js

package mesh

import (
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"

	"github.com/evoswarm/evoswarm/internal/fair"
)

// Addresses that cannot be those of a node are refused in words.
func TestCheckAnnounced(t *testing.T) {
	for text, want := range map[string]string{
		"203.0.113.7:4710":      "must begin with /",
		"/ip4/0.0.0.0/tcp/4710": "is one to listen on",
		"/ip4/203.0.113.7/udp/4710/webrtc-direct" + certhash: "leave out /certhash/",
		"/ip4/203.0.113.7/tcp/1" + somebody + "/p2p-circuit": "name the relay with --relay",
		"/ip4/203.0.113.7/udp/4710":                          "names no transport",
		"/unix/socket":                                       "does not begin with an IP or a name",
		somebody:                                             "does not begin with an IP or a name",
		"/dns/" + strings.Repeat("x", 200) + "/tcp/1":        "bytes, at most",
		"/ip4/203.0.113.7":                                   "",
		"/dns/example.com/tcp/443/tls/ws":                    "",
		"/ip4/203.0.113.7/tcp/4710" + somebody:               "",
		"/ip6/2001:db8::7/udp/4710/quic-v1":                  "",
		"/ip4/203.0.113.7/udp/4710/quic-v1/webtransport":     "",
		"/ip4/203.0.113.7/udp/4710/webrtc-direct":            "",
	} {
		err := CheckAnnounced(text)
		if (err == nil) != (want == "") || err != nil && (!errors.Is(err, ErrAnnounce) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.60s: got %v, want %q", text, err, want)
		}
	}
	many := slices.Repeat([]string{"/ip4/203.0.113.7/tcp/1"}, MaxAnnounced+1)
	if _, err := ParseAnnounced(many, ""); !errors.Is(err, ErrAnnounce) {
		t.Errorf("%d addresses: %v", len(many), err)
	}
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"/ip4/203.0.113.7/tcp/1" + somebody, "/ip4/203.0.113.7/udp/1/quic-v1"} {
		m, err := New(t.Context(), Config{Key: key, Hub: true, Listen: []string{"/ip4/127.0.0.1/tcp/0"}, Announce: []string{text}})
		if !errors.Is(err, ErrAnnounce) {
			t.Errorf("%s: of another node, or not listened on: %v", text, err)
		}
		if err == nil {
			m.Close()
		}
	}
}

// A host alone means the ports of the listeners, and no others; what has a port is taken as it is, and where it
// leads to a proxy with TLS, no certificate is needed here.
func TestAnnouncedAddresses(t *testing.T) {
	var listeners []ma.Multiaddr
	for _, a := range []string{"/ip4/10.0.0.1/tcp/1", "/ip4/10.0.0.1/tcp/1/tls/ws", "/ip4/10.0.0.2/tcp/1", "/ip6/fd00::1/tcp/1", "/ip4/198.51.100.7/tcp/33333"} {
		listeners = append(listeners, ma.StringCast(a))
	}
	for _, c := range []struct{ announced, want string }{
		{"/ip4/203.0.113.7", "/ip4/203.0.113.7/tcp/1"},
		{"/dns/example.com", "/dns/example.com/tcp/1 /dns/example.com/tcp/1/tls/ws"},
		{"/ip6/2001:db8::7", "/ip6/2001:db8::7/tcp/1"},
		{"/ip4/203.0.113.7/tcp/9", "/ip4/203.0.113.7/tcp/9"},
		{"/dns/proxy.example/tcp/443/tls/ws", "/dns/proxy.example/tcp/443/tls/ws"},
		{"/ip4/10.0.0.1/tcp/1", ""},
	} {
		list, err := ParseAnnounced([]string{c.announced}, "")
		if err != nil {
			t.Fatal(err)
		}
		secure := Secure{Names: []string{"example.com"}}
		before := secure.named(listeners)
		got := list.add(listeners, portsOf([]string{"/ip4/0.0.0.0/tcp/1", "/ip6/::/tcp/1"}), secure)
		var added []string
		for _, a := range got {
			if !slices.ContainsFunc(before, a.Equal) {
				added = append(added, a.String())
			}
		}
		slices.Sort(added)
		want := strings.Fields(c.want)
		if c.announced == "/dns/example.com" {
			want = want[:1] // the other one is there by the certificate's name
		}
		if !slices.Equal(added, want) {
			t.Errorf("%s adds %v, want %v", c.announced, added, want)
		}
	}
}

// forward passes connections on to an address, as a router does that was told to.
func forward(t *testing.T, to string) (port int) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				in.Close()
				continue
			}
			go func() { _, _ = io.Copy(out, in); out.Close() }()
			go func() { _, _ = io.Copy(in, out); in.Close() }()
		}
	}()
	return l.Addr().(*net.TCPAddr).Port
}

// A node at a port that is forwarded to it tells others that address, first in its network, is dialed back there, and
// is found there; WebTransport and WebRTC-Direct get the hashes of its certificates.
func TestAnnounce(t *testing.T) {
	at, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	own := at.Addr().(*net.TCPAddr)
	at.Close()
	there := fmt.Sprintf("/ip4/127.0.0.1/tcp/%d", forward(t, own.String()))
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	m, err := New(t.Context(), Config{Key: key, Hub: true, Listen: []string{fmt.Sprintf("/ip4/127.0.0.1/tcp/%d", own.Port), "/ip4/127.0.0.1/udp/0/quic-v1/webtransport", "/ip4/127.0.0.1/udp/0/webrtc-direct"},
		Announce: []string{there, "/ip4/203.0.113.7/udp/9/quic-v1/webtransport", "/dns/example.com/udp/9/webrtc-direct"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	announced := fullText(m.host.ID(), ma.StringCast(there))
	addrs := strings.Join(m.Addrs(), " ")
	for _, want := range []string{announced, "/ip4/203.0.113.7/udp/9/quic-v1/webtransport/certhash/", "/dns/example.com/udp/9/webrtc-direct/certhash/"} {
		if !strings.Contains(addrs, want) {
			t.Errorf("no %s among %s", want, addrs)
		}
	}
	hub := openHub(t)
	if err := hub.Enter([]byte("genesis")); err != nil {
		t.Fatal(err)
	}
	if hello, err := hub.Dial(t.Context(), announced); err != nil || !hello.Hub {
		t.Fatalf("got %+v, %v", hello, err)
	}
	c := hub.host.Network().ConnsToPeer(m.host.ID())[0]
	if got := m.ownAddrs(m.host.Network().ConnsToPeer(hub.host.ID())[0], byWay); len(got) == 0 || got[0] != announced {
		t.Errorf("it tells %v, not %s first", got, announced)
	}
	if !hub.probe(c, []string{announced}) {
		t.Error("it is not dialed back where it says")
	}
	if hub.probe(c, []string{fullText(m.host.ID(), ma.StringCast("/ip4/127.0.0.1/tcp/1"))}) {
		t.Error("it is dialed back where it is not")
	}
	deadline := time.Now().Add(20 * time.Second)
	for !m.announcer.couldTest(hub.host.ID(), private) {
		if time.Now().After(deadline) {
			t.Fatal("it does not learn at which IP the hub sees it")
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// What a hub says counts where it could try what is announced: at the IP that it sees. Of a load balancer elsewhere, or
// a name, it knows nothing.
func TestUntested(t *testing.T) {
	m := openHub(t)
	id := someone(t)
	m.announcer.seen = fair.NewTable[peer.ID, block, netip.Addr](maxSightings)
	m.announcer.sighted(id, block{}, ma.StringCast("/ip4/8.8.4.4/tcp/5"))
	for _, c := range []struct {
		announced string
		in        scope
		want      bool
	}{
		{"/ip4/8.8.4.4/tcp/4710", public, true},
		{"/ip4/8.8.4.4", public, true},
		{"/ip4/8.8.8.8/tcp/4710", public, false},
		{"/dns/example.com/tcp/4710", public, false},
		{"/ip4/8.8.8.8/tcp/4710", private, true},
		{"/ip4/192.168.1.5/tcp/4710", private, false},
		{"/ip4/192.168.1.5/tcp/4710", public, true},
	} {
		m.announcer.list = Announced{ma.StringCast(c.announced)}
		if got := m.announcer.couldTest(id, c.in); got != c.want {
			t.Errorf("%s in public %t: got %t", c.announced, c.in, got)
		}
	}
	if m.announcer.list = nil; !m.announcer.couldTest(someone(t), public) {
		t.Error("nothing is announced, and what hubs say does not count")
	}
	s, now := newStanding(), time.Now()
	s.untested(blockOf(in(1)), public, now)
	if s.behind(public, now) || !s.known() || s.ask(id, blockOf(in(1)), now.Add(time.Minute)) {
		t.Error("what a hub could not know counts, or it is asked again at once")
	}
}
