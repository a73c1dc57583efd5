//go:build !js

// Package forgetest has what AutoTLS needs of the internet, on this computer: a forge, its DNS, and an ACME authority.
//
// Floor 4, adapters: tests import it.
//
// The forge does what p2p-forge's does with the requests of nodes: it has them prove their key, checks the same fields,
// and dials them before it publishes anything.
package forgetest

import (
	"context"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/letsencrypt/pebble/v2/ca"
	"github.com/letsencrypt/pebble/v2/db"
	"github.com/letsencrypt/pebble/v2/va"
	"github.com/letsencrypt/pebble/v2/wfe"
	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"
	httppeeridauth "github.com/libp2p/go-libp2p/p2p/http/auth"
	"github.com/miekg/dns"
	ma "github.com/multiformats/go-multiaddr"
	"github.com/multiformats/go-multibase"
)

// Domain is that of the forge.
const Domain = "forge.test"

// World is what there is. Its DNS is that of the process while the test runs.
type World struct {
	Register  string         // URL of the forge
	Authority string         // URL of the ACME directory
	Roots     *x509.CertPool // of the certificates that the authority issues
	Trusted   *x509.CertPool // of the authority's own server
	Refuses   atomic.Bool    // whether the forge refuses everybody
	Asked     atomic.Int32   // how often the forge published something

	mu      sync.Mutex
	answers map[string]string // by the name of a peer, below Domain
}

// New starts everything; certificates last for validity.
func New(t *testing.T, validity time.Duration) *World {
	t.Helper()
	w := &World{answers: make(map[string]string)}
	resolver := w.serveNames(t)
	w.serveForge(t)
	w.serveAuthority(t, resolver, validity)
	return w
}

// serveNames answers for the domain, over UDP and TCP, and makes that the DNS of this process.
func (w *World) serveNames(t *testing.T) (addr string) {
	t.Helper()
	stream, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	packets, err := net.ListenPacket("udp", stream.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*dns.Server{{Listener: stream}, {PacketConn: packets}} {
		s.Handler = dns.HandlerFunc(w.answer)
		go func() { _ = s.ActivateAndServe() }()
		t.Cleanup(func() { _ = s.Shutdown() })
	}
	usual := net.DefaultResolver
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, network, stream.Addr().String())
	}}
	t.Cleanup(func() { net.DefaultResolver = usual })
	return stream.Addr().String()
}

// answer says where 127-0-0-1.PEER.DOMAIN is, and what was published for PEER.DOMAIN.
func (w *World) answer(out dns.ResponseWriter, q *dns.Msg) {
	m := new(dns.Msg)
	m.SetReply(q)
	asked := q.Question[0]
	label, rest, _ := strings.Cut(strings.ToLower(asked.Name), ".")
	id, _, _ := strings.Cut(rest, ".")
	header := dns.RR_Header{Name: asked.Name, Rrtype: asked.Qtype, Class: dns.ClassINET, Ttl: 1}
	switch asked.Qtype {
	case dns.TypeTXT:
		w.mu.Lock()
		value, known := w.answers[id]
		w.mu.Unlock()
		if label == "_acme-challenge" && known {
			m.Answer = append(m.Answer, &dns.TXT{Hdr: header, Txt: []string{value}})
		}
	case dns.TypeA:
		if ip := net.ParseIP(strings.ReplaceAll(label, "-", ".")); ip != nil {
			m.Answer = append(m.Answer, &dns.A{Hdr: header, A: ip})
		}
	}
	_ = out.WriteMsg(m)
}

// serveForge publishes for peers that prove their key and can be dialed.
func (w *World) serveForge(t *testing.T) {
	t.Helper()
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	forge := &httppeeridauth.ServerPeerIDAuth{PrivKey: key, TokenTTL: time.Hour, NoTLS: true, ValidHostnameFn: func(string) bool { return true }, Next: w.publish}
	mux := http.NewServeMux()
	mux.Handle("/v1/_acme-challenge", forge)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	w.Register = server.URL
}

func (w *World) publish(id peer.ID, out http.ResponseWriter, r *http.Request) {
	var asked struct {
		Value     string   `json:"value"`
		Addresses []string `json:"addresses"`
	}
	decoder := json.NewDecoder(r.Body)
	decoder.DisallowUnknownFields()
	err := decoder.Decode(&asked)
	digest, malformed := base64.RawURLEncoding.DecodeString(asked.Value)
	if err != nil || malformed != nil || len(digest) != 32 || r.Method != http.MethodPost {
		http.Error(out, "malformed", http.StatusBadRequest)
		return
	}
	if w.Refuses.Load() || !dials(r.Context(), id, asked.Addresses) {
		http.Error(out, "error testing addresses: nobody answers", http.StatusBadRequest)
		return
	}
	base36, err := peer.ToCid(id).StringOfBase(multibase.Base36)
	if err != nil {
		http.Error(out, err.Error(), http.StatusBadRequest)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answers[base36] = asked.Value
	w.Asked.Add(1)
}

// dials reports whether a peer answers at one of its addresses.
func dials(ctx context.Context, id peer.ID, addrs []string) bool {
	h, err := libp2p.New(libp2p.NoListenAddrs, libp2p.DisableRelay(), libp2p.DisableMetrics())
	if err != nil {
		return false
	}
	defer h.Close()
	info := peer.AddrInfo{ID: id}
	for _, text := range addrs {
		a, err := ma.NewMultiaddr(text)
		if err != nil {
			return false
		}
		info.Addrs = append(info.Addrs, a)
	}
	return h.Connect(ctx, info) == nil
}

// serveAuthority issues certificates, after it has asked the DNS.
func (w *World) serveAuthority(t *testing.T, resolver string, validity time.Duration) {
	t.Helper()
	t.Setenv("PEBBLE_VA_NOSLEEP", "1")
	t.Setenv("PEBBLE_WFE_NONCEREJECT", "0")
	quiet := log.New(io.Discard, "", 0)
	store := db.NewMemoryStore()
	issuer := ca.New(quiet, store, "", "ecdsa", 0, 1, map[string]ca.Profile{"default": {Description: "of a test", ValidityPeriod: uint64(validity.Seconds())}})
	front := wfe.New(quiet, store, va.New(quiet, 0, 0, false, resolver, store), issuer, nil, false, false, 1, 1)
	server := httptest.NewTLSServer(front.Handler())
	t.Cleanup(server.Close)
	w.Authority = server.URL + wfe.DirectoryPath
	w.Trusted = x509.NewCertPool()
	w.Trusted.AddCert(server.Certificate())
	w.Roots = x509.NewCertPool()
	w.Roots.AddCert(issuer.GetRootCert(0).Cert)
}
