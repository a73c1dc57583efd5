//go:build !js

package dht

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	kad "github.com/libp2p/go-libp2p-kad-dht"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
)

const run = "bafyreih2bm3yvs6zz5fmqncldv7q3tyj3ug4xlfoqk6zzqjbvqdm5pyvoi"

// serve starts the servers of a private DHT, and returns them and their full addresses.
func serve(t *testing.T, n int) (servers []*kad.IpfsDHT, addrs []string) {
	t.Helper()
	for range n {
		h, err := libp2p.New(libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0"), libp2p.DisableRelay(), libp2p.DisableMetrics())
		if err != nil {
			t.Fatal(err)
		}
		first, err := parseBootstrap(addrs)
		if err != nil {
			t.Fatal(err)
		}
		d, err := kad.New(h, kad.Mode(kad.ModeServer), kad.BootstrapPeers(first...))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { d.Close(); h.Close() })
		servers = append(servers, d)
		addrs = append(addrs, fmt.Sprintf("%s/p2p/%s", h.Addrs()[0], h.ID()))
	}
	deadline := time.Now().Add(30 * time.Second)
	for _, s := range servers {
		for s.RoutingTable().Size() < n-1 {
			if time.Now().After(deadline) {
				t.Fatalf("a server knows %d others", s.RoutingTable().Size())
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
	return servers, addrs
}

// open starts a client.
func open(t *testing.T, bootstrap ...string) *Client {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(Config{Key: key, Bootstrap: bootstrap})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// at is a full address of a client.
func at(c *Client, addr string) string { return addr + "/p2p/" + c.host.ID().String() }

// someone is a peer that there is none of.
func someone(t *testing.T) peer.ID {
	t.Helper()
	_, key, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	id, err := peer.IDFromPublicKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// Two nodes that know nothing of each other but their run find each other, at the addresses that each gave; one of
// another run is not found, nor is the node itself, nor are addresses that are of no use there.
func TestExchange(t *testing.T) {
	_, servers := serve(t, 3)
	a, b, other := open(t, servers[0]), open(t, servers[1]), open(t, servers...)
	own := at(a, "/ip4/127.0.0.1/tcp/4710")
	if got, err := a.Exchange(t.Context(), run, []string{own, at(a, "/ip4/0.0.0.0/tcp/4710"), at(b, "/ip4/127.0.0.1/tcp/1"), "nonsense"}); err != nil || len(got) > 0 {
		t.Fatalf("got %v, %v", got, err)
	}
	if _, err := other.Exchange(t.Context(), "another run", []string{at(other, "/ip4/127.0.0.1/tcp/2")}); err != nil {
		t.Fatal(err)
	}
	if got, err := b.Exchange(t.Context(), run, nil); err != nil || !slices.Equal(got, []string{own}) {
		t.Fatalf("got %v, %v, want %s", got, err, own)
	}
	if got, err := a.Exchange(t.Context(), run, nil); err != nil || len(got) > 0 {
		t.Errorf("who gave no address is found, or the node itself: %v, %v", got, err)
	}
}

// A server that names thousands of nodes for a run gets the places of its turns, and no more, and hides neither a node
// that the others name nor where it is.
func TestFloodOfRecords(t *testing.T) {
	servers, addrs := serve(t, 3)
	honest, seeker := open(t, addrs...), open(t, addrs...)
	own := at(honest, "/ip4/127.0.0.1/tcp/4710")
	if _, err := honest.Exchange(t.Context(), run, []string{own}); err != nil {
		t.Fatal(err)
	}
	key, err := Key(run)
	if err != nil {
		t.Fatal(err)
	}
	flood := func(id peer.ID, addrs ...ma.Multiaddr) {
		if err := servers[0].ProviderStore().AddProvider(t.Context(), key.Hash(), peer.AddrInfo{ID: id, Addrs: addrs}); err != nil {
			t.Fatal(err)
		}
	}
	var wrong []ma.Multiaddr
	for i := range 100 {
		wrong = append(wrong, ma.StringCast(fmt.Sprintf("/ip4/127.0.0.2/tcp/%d", 1+i)))
	}
	for range 4000 {
		flood(someone(t), wrong[:1]...)
	}
	flood(honest.host.ID(), wrong...)
	got, err := seeker.Exchange(t.Context(), run, nil)
	if err != nil {
		t.Fatal(err)
	}
	of := make(map[string]int)
	for _, text := range got {
		_, id, _ := strings.Cut(text, "/p2p/")
		of[id]++
	}
	if len(of) > maxOfServer+1 {
		t.Errorf("%d nodes are found: one server had more than %d places", len(of), maxOfServer)
	}
	for id, n := range of {
		if n > maxAddrs {
			t.Errorf("%s is at %d addresses", id, n)
		}
	}
	if !slices.Contains(got, own) {
		t.Errorf("the honest node is not found among %d addresses", len(got))
	}
}

// All servers together name no more than so many nodes.
func TestPlacesOfServers(t *testing.T) {
	var answers [][]peer.AddrInfo
	for range 20 {
		var named []peer.AddrInfo
		for range maxOfServer {
			named = append(named, peer.AddrInfo{ID: someone(t), Addrs: []ma.Multiaddr{ma.StringCast("/ip4/198.51.100.7/tcp/1")}})
		}
		answers = append(answers, named)
	}
	if got := inTurn(answers); len(got) != maxFound {
		t.Errorf("%d nodes are found, want %d", len(got), maxFound)
	}
}

// Where a node is, servers say in turn: one that lies takes few of its places.
func TestSaidInTurn(t *testing.T) {
	id := someone(t)
	lie := peer.AddrInfo{ID: id}
	for i := range maxAddrs {
		lie.Addrs = append(lie.Addrs, ma.StringCast(fmt.Sprintf("/ip4/198.51.100.7/tcp/%d", 1+i)))
	}
	truth := peer.AddrInfo{ID: id, Addrs: []ma.Multiaddr{ma.StringCast("/ip4/203.0.113.7/tcp/4710"), ma.StringCast("/ip4/203.0.113.7/udp/4710/quic-v1")}}
	for _, answers := range [][][]peer.AddrInfo{{{lie}, {truth}}, {{truth}, {lie}}} {
		found := inTurn(answers)
		if len(found) != 1 || len(found[0].Addrs) != maxAddrs {
			t.Fatalf("got %v", found)
		}
		for _, a := range truth.Addrs {
			if !slices.ContainsFunc(found[0].Addrs, a.Equal) {
				t.Errorf("%s is not among %v", a, found[0].Addrs)
			}
		}
	}
}

// Addresses that lead less far than those of the servers are neither told nor believed.
func TestReach(t *testing.T) {
	all := []ma.Multiaddr{ma.StringCast("/ip4/127.0.0.1/tcp/1"), ma.StringCast("/ip4/192.168.1.5/tcp/1"), ma.StringCast("/ip4/0.0.0.0/tcp/1"),
		ma.StringCast("/ip4/8.8.8.8/tcp/1"), ma.StringCast("/dns/example.com/tcp/1/tls/ws")}
	id := "/p2p/" + someone(t).String()
	for server, want := range map[string]int{
		"/ip4/127.0.0.1/tcp/1": 4, "/ip4/10.0.0.1/tcp/1": 3, "/ip4/8.8.4.4/tcp/1": 2, "/dnsaddr/bootstrap.libp2p.io": 2,
	} {
		servers, err := parseBootstrap([]string{server + id})
		if err != nil {
			t.Fatal(err)
		}
		c := &Client{least: leastReach(servers)}
		if got := c.fit(all); len(got) != want {
			t.Errorf("with a server at %s %v fit, want %d", server, got, want)
		}
	}
	if got := leastReach(kad.GetDefaultBootstrapPeerAddrInfos()); got != everywhere {
		t.Errorf("the public DHT: reach %d", got)
	}
}

// A DHT that is down is an error that says so; one that comes back is entered.
func TestDown(t *testing.T) {
	servers, addrs := serve(t, 1)
	c := open(t, addrs...)
	if _, err := c.Exchange(t.Context(), run, nil); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(servers[0].Close(), servers[0].Host().Close()); err != nil {
		t.Fatal(err)
	}
	deadline := time.Now().Add(time.Minute)
	for {
		_, err := c.Exchange(t.Context(), run, nil)
		if errors.Is(err, ErrDown) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the only server is gone, and the error is %v", err)
		}
	}
	gone := open(t, "/ip4/127.0.0.1/tcp/1/p2p/"+someone(t).String())
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if _, err := gone.Exchange(ctx, run, nil); !errors.Is(err, ErrDown) {
		t.Errorf("got %v", err)
	}
}

// Addresses of servers that are none are refused in words.
func TestCheckBootstrap(t *testing.T) {
	for addr, want := range map[string]string{
		"nonsense":             "must begin with /",
		"/ip4/127.0.0.1/tcp/1": "must say where the server is and end in /p2p/",
		"/p2p/12D3KooWD3eckifWpRn9wQpMG9R9hX3sD158z7EqHWmweQAJU5SA":                                  "must say where the server is",
		"/dnsaddr/bootstrap.libp2p.io/p2p/QmNnooDu7bfjPFoTZYxMNLWUQJyrVwtbZg5gBMjTezGAJN":            "",
		"/ip4/203.0.113.7/udp/4001/quic-v1/p2p/12D3KooWD3eckifWpRn9wQpMG9R9hX3sD158z7EqHWmweQAJU5SA": "",
	} {
		err := CheckBootstrap(addr)
		if (err == nil) != (want == "") || err != nil && (!errors.Is(err, ErrBootstrap) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: got %v, want %q", addr, err, want)
		}
	}
}
