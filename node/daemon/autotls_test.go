package daemon

import (
	"crypto/tls"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/net/swarm"
	"github.com/libp2p/go-libp2p/p2p/transport/websocket"
	madns "github.com/multiformats/go-multiaddr-dns"

	"github.com/evoswarm/evoswarm/internal/autotls"
	"github.com/evoswarm/evoswarm/internal/autotls/forgetest"
	"github.com/evoswarm/evoswarm/internal/mesh"
	"github.com/evoswarm/evoswarm/internal/runspec"
)

// A node has a certificate made while it works already, and is found then under the certificate's name, by who trusts
// the authority as browsers do; other addresses are as before.
func TestAutoTLS(t *testing.T) {
	w, at := forgetest.New(t, time.Hour), freeAddress(t)
	w.Refuses.Store(true)
	n := begin(t, Config{Data: t.TempDir(), Listen: []string{at, at + "/tls/ws"}, Train: [][]runspec.Options{{{Env: "CartPole-v1", Strategy: "snes"}}},
		AutoTLS: &AutoTLS{Domain: forgetest.Domain, Register: w.Register, Authority: w.Authority, Roots: w.Trusted}})
	defer end(t, n)
	heard := func(want string) {
		t.Helper()
		select {
		case text := <-n.news:
			if !strings.Contains(text, want) {
				t.Fatalf("its owner is told %q, not %q", text, want)
			}
		case <-time.After(time.Minute):
			t.Fatalf("its owner is not told %q", want)
		}
	}
	heard("error testing addresses: nobody answers")
	overTLS := func() (found string) {
		for _, a := range n.lanes[0].Addresses() {
			if mesh.WayOf(a) == mesh.SecureSocket {
				found = a
			}
		}
		return found
	}
	if a := overTLS(); a != "" || n.lanes[0].working() == nil {
		t.Errorf("without a certificate it is at %q, and works: %t", a, n.lanes[0].working() != nil)
	}
	n.heardOfCertificate(fmt.Errorf("%w: once more", autotls.ErrRefused))
	if len(n.news) > 0 {
		t.Error("its owner is told again")
	}
	w.Refuses.Store(false)
	end(t, n)

	n = begin(t, Config{Data: n.cfg.Data, Listen: []string{at, at + "/tls/ws"}, AutoTLS: n.cfg.AutoTLS})
	defer end(t, n)
	heard("pages from https reach this node")
	found := overTLS()
	if !strings.HasPrefix(found, "/dns/127-0-0-1.k") || !strings.Contains(found, "."+forgetest.Domain+"/tcp/") {
		t.Fatalf("it is at %q", found)
	}
	if plain := n.lanes[0].Addresses(); !slices.ContainsFunc(plain, func(a string) bool { return strings.HasPrefix(a, at+"/p2p/") }) {
		t.Errorf("it is at %v, not at %s any more", plain, at)
	}
	names, err := madns.NewResolver(madns.WithDefaultResolver(net.DefaultResolver))
	if err != nil {
		t.Fatal(err)
	}
	browser, err := libp2p.New(libp2p.NoListenAddrs, libp2p.DisableMetrics(), libp2p.MultiaddrResolver(swarm.ResolverFromMaDNS{Resolver: names}),
		libp2p.Transport(websocket.New, websocket.WithTLSClientConfig(&tls.Config{RootCAs: w.Roots})))
	if err != nil {
		t.Fatal(err)
	}
	defer browser.Close()
	info, err := peer.AddrInfoFromString(found)
	if err != nil {
		t.Fatal(err)
	}
	if err := browser.Connect(t.Context(), *info); err != nil {
		t.Error(err)
	}
}
