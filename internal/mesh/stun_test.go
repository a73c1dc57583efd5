//go:build !js

package mesh

import (
	"net"
	"slices"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
	"github.com/pion/stun/v3"
)

// question asks where it comes from.
func question(t *testing.T, more ...stun.Setter) *stun.Message {
	t.Helper()
	q, err := stun.Build(append([]stun.Setter{stun.TransactionID, stun.BindingRequest}, more...)...)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// Who asks is told where the question came from, in a packet that is little larger; what begins a connection, or is no
// question, is for others.
func TestStunAnswers(t *testing.T) {
	s := newStunAnswers(time.Now)
	for _, from := range []string{"198.51.100.7", "2001:db8::7"} {
		at := &net.UDPAddr{IP: net.ParseIP(from), Port: 4711}
		q := question(t)
		asks, raw := s.to(q.Raw, at)
		a := &stun.Message{Raw: raw}
		var seen stun.XORMappedAddress
		if err := a.Decode(); !asks || err != nil || a.Type != stun.BindingSuccess || a.TransactionID != q.TransactionID || seen.GetFrom(a) != nil {
			t.Fatalf("%s: %t, %v, %v", from, asks, err, a)
		}
		if !seen.IP.Equal(at.IP) || seen.Port != at.Port {
			t.Errorf("%s is told that it is at %v", from, seen)
		}
		if len(raw) > 44 || len(raw) > 3*len(q.Raw) {
			t.Errorf("%d bytes are answered with %d", len(q.Raw), len(raw))
		}
	}
	at := &net.UDPAddr{IP: net.ParseIP("198.51.100.7"), Port: 1}
	long := question(t, stun.RawAttribute{Type: stun.AttrSoftware, Value: make([]byte, maxStun)})
	for name, packet := range map[string][]byte{
		"a connection": question(t, stun.NewUsername("libp2p+webrtc+v2/abc:def")).Raw,
		"an answer":    stun.MustBuild(stun.TransactionID, stun.BindingSuccess).Raw,
		"a long one":   long.Raw,
		"a torn one":   question(t, stun.NewSoftware("browser")).Raw[:24],
		"nothing":      {},
		"garbage":      make([]byte, 100),
	} {
		if asks, raw := s.to(packet, at); asks || raw != nil {
			t.Errorf("%s is taken for a question", name)
		}
	}
}

// However many questions come in a block's name, and from however many blocks, so many are answered and no more.
func TestStunIsBounded(t *testing.T) {
	now := time.Now()
	s := newStunAnswers(func() time.Time { return now })
	ask := func(ip net.IP) int {
		if _, raw := s.to(question(t).Raw, &net.UDPAddr{IP: ip, Port: 1}); raw != nil {
			return 1
		}
		return 0
	}
	got := 0
	for i := range 10 * stunBurst {
		got += ask(net.IPv4(198, 51, 100, byte(i)))
	}
	if got != stunBurst {
		t.Errorf("%d answers to one block, want %d", got, stunBurst)
	}
	now = now.Add(time.Second)
	got = 0
	for i := range 10 * stunBurst {
		got += ask(net.IPv4(198, 51, 100, byte(i)))
	}
	if got != stunRate {
		t.Errorf("%d answers to it a second later, want %d", got, stunRate)
	}
	got = 0
	for i := range 3 * stunAll {
		got += ask(net.IPv4(198, byte(60+i/256), byte(i), 1))
	}
	if got > stunAll {
		t.Errorf("%d answers at once, want %d at most", got, stunAll)
	}
	now = now.Add(time.Second)
	if ask(net.IPv4(203, 0, 113, 1)) != 1 {
		t.Error("nobody is answered any more")
	}
}

// A node answers on the UDP port of WebRTC-Direct.
func TestStunOnThePortOfWebRTC(t *testing.T) {
	m := openHub(t, "/ip4/127.0.0.1/udp/0/quic-v1", "/ip4/127.0.0.1/udp/0/webrtc-direct")
	for _, text := range m.Addrs() {
		info, err := parseAddr(text)
		if err != nil {
			t.Fatal(err)
		}
		server, ok := stunAt(info.Addrs[0])
		if !ok {
			continue
		}
		c, err := net.Dial("udp", server)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		q := question(t)
		if _, err := c.Write(q.Raw); err != nil {
			t.Fatal(err)
		}
		_ = c.SetReadDeadline(time.Now().Add(10 * time.Second))
		b := make([]byte, 100)
		n, err := c.Read(b)
		if err != nil {
			t.Fatal(err)
		}
		a := &stun.Message{Raw: b[:n]}
		var seen stun.XORMappedAddress
		if err := a.Decode(); err != nil || seen.GetFrom(a) != nil || seen.String() != c.LocalAddr().String() {
			t.Errorf("got %v, asked from %v: %v", seen, c.LocalAddr(), err)
		}
		return
	}
	t.Fatalf("no address says where it answers: %v", m.Addrs())
}

// A tab asks two nodes at most, in different blocks of addresses, of those that answered it, and a relay on the way to
// one.
func TestStunServers(t *testing.T) {
	b := newBook()
	add := func(answered bool, addr string) {
		info := peer.AddrInfo{ID: someone(t), Addrs: []ma.Multiaddr{ma.StringCast(addr)}}
		b.add(info, block{}, false)
		if answered {
			b.succeeded(info.ID)
		}
	}
	relay := "/p2p/" + someone(t).String() + "/p2p-circuit"
	add(false, "/ip4/192.0.2.1/udp/1/webrtc-direct"+certhash)
	add(true, "/ip4/198.51.100.9/tcp/1/ws")
	add(true, "/ip6/2001:db8::7/udp/2/webrtc-direct"+certhash+relay)
	add(true, "/ip4/198.51.100.7/udp/3/webrtc-direct"+certhash)
	add(true, "/ip4/198.51.100.8/udp/4/webrtc-direct"+certhash)
	if got, want := b.stunServers(), []string{"stun:198.51.100.8:4", "stun:[2001:db8::7]:2"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
