//go:build !js

package autotls

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/evoswarm/evoswarm/internal/autotls/forgetest"
)

// node is one that listens, and what it is told.
type node struct {
	key   ed25519.PrivateKey
	addrs []string
	told  chan error
}

func newNode(t *testing.T) *node {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	private, err := crypto.UnmarshalEd25519PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	h, err := libp2p.New(libp2p.Identity(private), libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0"), libp2p.DisableRelay(), libp2p.DisableMetrics())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return &node{key: key, addrs: []string{fmt.Sprintf("%s/p2p/%s", h.Addrs()[0], h.ID())}, told: make(chan error, 64)}
}

func (n *node) start(t *testing.T, w *forgetest.World, folder string) *Keeper {
	t.Helper()
	k, err := Start(Config{Key: n.key, Folder: folder, Domain: forgetest.Domain, Register: w.Register, Authority: w.Authority, Roots: w.Trusted,
		Addrs: func() []string { return n.addrs }, Told: func(err error) { n.told <- err }, CheckEvery: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Close)
	return k
}

// hears waits for what a node is told.
func (n *node) hears(t *testing.T, want error) {
	t.Helper()
	late := time.After(time.Minute)
	for {
		select {
		case err := <-n.told:
			if want == nil && err == nil || want != nil && errors.Is(err, want) {
				return
			}
			t.Logf("told: %v", err)
		case <-late:
			t.Fatalf("not told: %v", want)
		}
	}
}

// shakes makes a handshake with the certificate, as a browser that trusts the authority.
func shakes(t *testing.T, k *Keeper, w *forgetest.World, name string) (serial string, err error) {
	t.Helper()
	client, server := net.Pipe()
	defer client.Close()
	defer server.Close()
	go func() { _ = tls.Server(server, k.TLS()).Handshake() }()
	_ = client.SetDeadline(time.Now().Add(20 * time.Second))
	conn := tls.Client(client, &tls.Config{RootCAs: w.Roots, ServerName: name})
	if err := conn.Handshake(); err != nil {
		return "", err
	}
	return conn.ConnectionState().PeerCertificates[0].SerialNumber.String(), nil
}

// A node that a forge can dial gets a certificate that browsers trust under the name of its IP; the next start has it
// at once, without asking anybody.
func TestCertificate(t *testing.T) {
	w, n, folder := forgetest.New(t, time.Hour), newNode(t), t.TempDir()
	here := netip.MustParseAddr("127.0.0.1")
	k := n.start(t, w, folder)
	if _, err := shakes(t, k, w, "any.name"); err == nil {
		t.Error("a handshake without a certificate")
	}
	n.hears(t, nil)
	name := k.Name(here)
	first, err := shakes(t, k, w, name)
	if err != nil || !strings.HasPrefix(name, "127-0-0-1.k") || !strings.HasSuffix(name, "."+forgetest.Domain) {
		t.Fatalf("under %q: %v", name, err)
	}
	k.Close()
	w.Refuses.Store(true)
	asked := w.Asked.Load()
	k = n.start(t, w, folder)
	n.hears(t, nil)
	if again, err := shakes(t, k, w, name); err != nil || again != first || w.Asked.Load() != asked {
		t.Errorf("after a restart the certificate is %s, before %s: %v", again, first, err)
	}
	err = filepath.WalkDir(folder, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s can be read by others: %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// A certificate is renewed before it ends.
func TestRenewal(t *testing.T) {
	w, n := forgetest.New(t, 30*time.Second), newNode(t)
	k := n.start(t, w, t.TempDir())
	n.hears(t, nil)
	name := k.Name(netip.MustParseAddr("127.0.0.1"))
	first, err := shakes(t, k, w, name)
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(200 * time.Millisecond) {
		if again, err := shakes(t, k, w, name); err == nil && again != first {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("it is not renewed")
		}
	}
}

// A node that the forge cannot dial has no certificate, and is told so; it gets one once it can be.
func TestRefused(t *testing.T) {
	w, n := forgetest.New(t, time.Hour), newNode(t)
	w.Refuses.Store(true)
	k := n.start(t, w, t.TempDir())
	n.hears(t, ErrRefused)
	if name := k.Name(netip.MustParseAddr("127.0.0.1")); name != "" {
		t.Errorf("it has the name %s", name)
	}
}

// A forge hears of public addresses over TCP and no others, and there are names for these alone, but in a domain of
// one's own.
func TestNames(t *testing.T) {
	id, err := peer.Decode("12D3KooWD3eckifWpRn9wQpMG9R9hX3sD158z7EqHWmweQAJU5SA")
	if err != nil {
		t.Fatal(err)
	}
	public, err := namesOf(id, DefaultDomain)
	if err != nil {
		t.Fatal(err)
	}
	for ip, want := range map[string]string{"203.0.113.7": "203-0-113-7", "::1": "0--1", "2001:db8::": "2001-db8--0", "2001:db8::1:2": "2001-db8--1-2"} {
		got := public.at(netip.MustParseAddr(ip))
		if label, rest, _ := strings.Cut(got, "."); label != want || !strings.HasSuffix(rest, ".libp2p.direct") {
			t.Errorf("%s is %s, want %s", ip, got, want)
		}
	}
	private, err := namesOf(id, "forge.example")
	if err != nil {
		t.Fatal(err)
	}
	var addrs []string
	for _, a := range []string{"/ip4/8.8.8.8/tcp/1", "/ip4/8.8.8.8/tcp/1/ws", "/ip4/8.8.8.8/tcp/1/tls/ws", "/ip4/8.8.8.8/udp/1/quic-v1", "/ip4/192.168.1.5/tcp/1", "/ip4/0.0.0.0/tcp/1", "/dns/example.com/tcp/1"} {
		addrs = append(addrs, a+"/p2p/"+id.String())
	}
	for n, want := range map[*names]string{&public: "[/ip4/8.8.8.8/tcp/1 /ip4/8.8.8.8/tcp/1/ws]", &private: "[/ip4/8.8.8.8/tcp/1 /ip4/8.8.8.8/tcp/1/ws /ip4/192.168.1.5/tcp/1]"} {
		k := &Keeper{names: *n, cfg: Config{Addrs: func() []string { return addrs }}}
		if got := fmt.Sprint(k.addrs()); got != want {
			t.Errorf("%s: got %s, want %s", n.own, got, want)
		}
	}
	for domain, ok := range map[string]bool{"libp2p.direct": true, "direct": false, "https://libp2p.direct": false, "*.libp2p.direct": false} {
		if err := CheckDomain(domain); (err == nil) != ok {
			t.Errorf("%s: %v", domain, err)
		}
	}
}
