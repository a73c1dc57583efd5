package live

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/evoswarm/evoswarm/internal/mesh"
)

// host serves the built page as any host of files would, without a node.
type host struct {
	url       string
	pin       string // of its certificate, for Chromium
	cert, key string // files, for a node that shows the same one
}

// newHost serves the page that evonode page writes, over TLS with a certificate that no authority signed, or without.
// others answer first.
func newHost(t *testing.T, overTLS bool, others ...func(w http.ResponseWriter, r *http.Request) (answered bool)) host {
	t.Helper()
	written := t.TempDir()
	command(t, evonode(t), "page", "-o", written)
	files := http.FileServer(http.Dir(written))
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, other := range others {
			if other(w, r) {
				return
			}
		}
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	if !overTLS {
		server.Start()
		return host{url: server.URL + "/"}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "evoswarm test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	h := host{cert: filepath.Join(dir, "fullchain.pem"), key: filepath.Join(dir, "privkey.pem")}
	for name, block := range map[string]*pem.Block{h.cert: {Type: "CERTIFICATE", Bytes: der}, h.key: {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pin := sha256.Sum256(public)
	server.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	server.StartTLS()
	h.url, h.pin = server.URL+"/", base64.StdEncoding.EncodeToString(pin[:])
	return h
}

// flags let Chromium trust the host, and use UDP, which other tests do not.
func (h host) flags() []chromedp.ExecAllocatorOption {
	return []chromedp.ExecAllocatorOption{chromedp.Flag("disable-quic", false), chromedp.Flag("ignore-certificate-errors-spki-list", h.pin)}
}

// link is the address of the page that names nodes.
func (h host) link(peers ...string) string {
	return h.url + "?" + url.Values{"peer": peers}.Encode()
}

// newReachableNode prepares a node that trains, with all its listeners.
func (s *swarm) newReachableNode(t *testing.T) (n *node, ip string) {
	t.Helper()
	n = s.newNode(t, "node", "--bootstrap", "--train", "CartPole-v1")
	return n, n.listenToAll(t)
}

// listenToAll gives a node the listeners that a page may dial, at this computer's own address if it has one.
func (n *node) listenToAll(t *testing.T) (ip string) {
	t.Helper()
	ip = "127.0.0.1"
	if addrs, err := net.InterfaceAddrs(); err == nil {
		for _, a := range addrs {
			if own, ok := a.(*net.IPNet); ok && own.IP.IsGlobalUnicast() && own.IP.To4() != nil {
				ip = own.IP.String()
				break
			}
		}
	}
	port := freePort(t)
	for _, a := range []string{"/tcp/%s/ws", "/udp/%s/quic-v1", "/udp/%s/quic-v1/webtransport", "/udp/%s/webrtc-direct"} {
		n.args = append(n.args, "--listen", "/ip4/"+ip+fmt.Sprintf(a, port))
	}
	return ip
}

// addresses asks the node where it is, of the ways that are wanted.
func (s *swarm) addresses(t *testing.T, n *node, at string, ways ...mesh.Way) []string {
	t.Helper()
	var list []string
	s.await(t, "the node says where it is", func() string {
		var answer mesh.Addresses
		data, err := n.fetch(client, "/addresses.json")
		if err == nil {
			err = json.Unmarshal(data, &answer)
		}
		if err != nil {
			return err.Error()
		}
		list = nil
		for _, w := range ways {
			for _, a := range answer.Addresses {
				if mesh.WayOf(a) == w && strings.Contains(a, "/"+at+"/") {
					list = append(list, a)
					break
				}
			}
		}
		if len(list) < len(ways) {
			return fmt.Sprintf("it says %v", answer.Addresses)
		}
		return ""
	})
	return list
}

// TestPageOfAnyHost opens the page from a host of files, with a link that names a node. The tab works for that node by
// each of the ways that such a page may go, and says which and why.
func TestPageOfAnyHost(t *testing.T) {
	secure, plain := newHost(t, true), newHost(t, false)
	for _, c := range []struct {
		name  string
		host  host
		link  func(socket, web, rtc string) []string
		words []string
		helps bool
	}{
		{"WebSocket", plain, func(socket, web, rtc string) []string { return []string{rtc, web, socket} },
			[]string{"Connected over WebSocket.", "WebTransport: not needed.", "WebRTC-Direct: not needed."}, true},
		{"WebTransport", secure, func(socket, web, rtc string) []string { return []string{socket, rtc, web} },
			[]string{"Connected over WebTransport.", "WebRTC-Direct: not needed.", "WebSocket: not allowed on a page that came over https."}, true},
		{"WebRTC-Direct", secure, func(_, _, rtc string) []string { return []string{rtc} },
			[]string{"Connected over WebRTC-Direct.", "WebTransport: not needed."}, true},
		{"wrong certificate of WebTransport", secure, func(_, web, rtc string) []string { return []string{forged(web), rtc} },
			[]string{"Connected over WebRTC-Direct.", "another certificate than the address names"}, true},
		{"wrong certificate of WebRTC-Direct", secure, func(_, _, rtc string) []string { return []string{forged(rtc)} },
			[]string{"No connection yet.", "WebRTC-Direct: failed, and is tried again:", "another certificate than the address names"}, false},
		{"a link with mistakes", secure, func(_, _, rtc string) []string { return []string{"example.com", "/ip4/127.0.0.1/tcp/1/x", rtc} },
			[]string{"The link names an address that this page cannot use"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s swarm
			n, ip := s.newReachableNode(t)
			n.start(t)
			all := s.addresses(t, n, ip, mesh.WebSocket, mesh.WebTransport, mesh.WebRTC)
			b := s.newTab(t, c.host.link(c.link(all[0], all[1], all[2])...))
			b.flags = c.host.flags()
			b.open(t)
			if c.helps {
				s.await(t, "the tab has evaluations in the log", func() string {
					if b.mark("evoswarm-first-claim") < 0 {
						return b.describe()
					}
					return ""
				})
				t.Logf("from opening the page: takes part after %.2f s, first accepted claim after %.2f s",
					b.mark("evoswarm-running")/1000, b.mark("evoswarm-first-claim")/1000)
			}
			for _, text := range c.words {
				s.await(t, "the page says: "+text, b.reads(text))
			}
		})
	}
}

// TestPageOfAnyHostInFirefox is the same in another browser.
func TestPageOfAnyHostInFirefox(t *testing.T) {
	h := newHost(t, true)
	for _, way := range []mesh.Way{mesh.WebTransport, mesh.WebRTC} {
		t.Run(string(way), func(t *testing.T) {
			var s swarm
			n, ip := s.newReachableNode(t)
			n.start(t)
			f := newFirefox(t)
			f.open(t, h.link(s.addresses(t, n, ip, way)...))
			s.await(t, "the tab is connected over "+string(way), func() string {
				if text, err := f.text("document.body.innerText"); err != nil || !strings.Contains(text, "Connected over "+string(way)+".") {
					return fmt.Sprint(text, " ", err)
				}
				return ""
			})
			s.await(t, "the log has claims of the tab", func() string {
				if authors := credit(entries(t, n.seedlog(t))); len(authors) < 2 {
					text, err := f.text("document.body.innerText")
					return fmt.Sprint(authors, " ", text, " ", err)
				}
				return ""
			})
		})
	}
}

// TestPageRemembersNodes opens the page from a host of files that lists a node next to it. When that list is gone, a
// browser that was here before still finds the node, after a reload and after it was killed.
func TestPageRemembersNodes(t *testing.T) {
	var s swarm
	n, ip := s.newReachableNode(t)
	n.start(t)
	list, err := json.Marshal(map[string]any{"version": 1, "build": "", "run": "", "env": "", "addresses": s.addresses(t, n, ip, mesh.WebRTC)})
	if err != nil {
		t.Fatal(err)
	}
	var listed atomic.Bool
	listed.Store(true)
	h := newHost(t, true, func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/addresses.json" || !listed.Load() {
			return false
		}
		w.Write(list)
		return true
	})
	b := s.newTab(t, h.url)
	b.flags = h.flags()
	b.open(t)
	before := uint64(0)
	helps := func(when string) {
		s.await(t, "the tab has more evaluations in the log "+when, func() string {
			if b.number("mine") <= before {
				return b.describe()
			}
			return ""
		})
		s.await(t, "the page says so", b.reads("Connected over Web"))
		before = b.number("mine")
	}
	helps("at first")
	listed.Store(false)
	time.Sleep(2 * time.Second) // it saves what is good every second
	before = b.number("mine")
	b.do(t, "reloading", chromedp.Navigate("about:blank"), chromedp.Navigate(h.url))
	helps("after a reload")
	before = b.number("mine")
	b.kill(t)
	b.open(t)
	helps("after the browser was killed")
}

// TestSecureSocketWhereUDPIsBlocked opens a page from https with a link to a node whose UDP nobody answers. The node
// has a certificate, and the tab works for it over WebSocket.
func TestSecureSocketWhereUDPIsBlocked(t *testing.T) {
	var s swarm
	h := newHost(t, true)
	n, ip := s.newReachableNode(t)
	n.args = append(n.args, "--listen", "/ip4/127.0.0.1/tcp/"+freePort(t)+"/tls/ws", "--tls-cert", h.cert, "--tls-key", h.key)
	n.start(t)
	udp := s.addresses(t, n, ip, mesh.WebTransport, mesh.WebRTC)
	silent, err := net.ListenPacket("udp", ip+":0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	port := regexp.MustCompile("/udp/[0-9]+/")
	for i, a := range udp {
		udp[i] = port.ReplaceAllString(a, fmt.Sprintf("/udp/%d/", silent.LocalAddr().(*net.UDPAddr).Port))
	}
	socket := s.addresses(t, n, "localhost", mesh.SecureSocket)
	b := s.newTab(t, h.link(append(udp, socket...)...))
	b.flags = h.flags()
	b.open(t)
	s.await(t, "the tab has evaluations in the log", func() string {
		if b.mark("evoswarm-first-claim") < 0 {
			return b.describe()
		}
		return ""
	})
	s.await(t, "the page says how", b.reads("Connected over WebSocket over TLS."))
}

// forged is an address with the hash of a certificate that nobody has.
func forged(addr string) string {
	from, to := strings.Index(addr, "/certhash/"), strings.Index(addr, "/p2p/")
	return addr[:from] + "/certhash/uEiAkH5a4DPGKUuOBjYw0CgwjvcJCJMD2K_1aluKR_tpevQ" + addr[to:]
}
