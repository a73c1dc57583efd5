package httpd

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/evoswarm/evoswarm/internal/peer"
	"github.com/evoswarm/evoswarm/web"
)

// fixedNode is a node that always says the same.
type fixedNode struct {
	log     []byte
	paused  bool
	stopped chan struct{}
	fault   string
}

func (f *fixedNode) Status() Status {
	best := 500.0
	s := peer.Status{Env: "CartPole-v1", Height: 7, Evaluations: 112, Peers: 2, Best: &best, State: peer.Training, Error: f.fault}
	if f.log != nil {
		s.Run = "bafyrun"
	}
	if f.paused {
		s.State = peer.Paused
	}
	return Status{Status: s}
}

func (f *fixedNode) Runs() []Run { return []Run{f} }

func (f *fixedNode) Addresses() []string {
	return []string{
		"/ip4/127.0.0.1/tcp/4711/ws/p2p/12D3KooWD3eckifWpRn9wQpMG9R9hX3sD158z7EqHWmweQAJU5SA",
		"/ip4/192.168.1.5/tcp/4711/ws/p2p/12D3KooWD3eckifWpRn9wQpMG9R9hX3sD158z7EqHWmweQAJU5SA",
	}
}

func (f *fixedNode) WriteLog(w io.Writer) error {
	_, err := w.Write(f.log)
	return err
}

func (f *fixedNode) Curve() []peer.Point {
	return []peer.Point{{Height: 7, Head: "bafyhead", Evaluations: 112, Steps: 900, Return: 12.5}}
}

func (f *fixedNode) Roster(context.Context) (*peer.Roster, error) {
	if f.fault != "" {
		return nil, peer.ErrClosed
	}
	return &peer.Roster{Members: []peer.Member{{Key: "c0ffee", Self: true, Here: true, Kind: "node", Lately: 12, Evaluations: 112}}, Entries: 50}, nil
}

func (f *fixedNode) Branches(string) (Branches, error) { return nil, ErrOtherRun }
func (f *fixedNode) SetPaused(p bool) error            { f.paused = p; return nil }
func (f *fixedNode) Stop()                             { close(f.stopped) }

func get(t *testing.T, h http.Handler, method, path string) (*http.Response, string) {
	t.Helper()
	r := httptest.NewRequest(method, "http://swarm.example.org:8080"+path, nil)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	body, err := io.ReadAll(w.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	return w.Result(), string(body)
}

func TestHandler(t *testing.T) {
	h := NewHandler(&fixedNode{log: []byte("0123456789")})
	for _, c := range []struct {
		method, path string
		status       int
		part         string
	}{
		{"GET", "/", 200, "<html"},
		{"GET", "/healthz", 200, "ok"},
		{"GET", "/api/status", 200, `"height":7`},
		{"GET", "/api/log", 200, "0123456789"},
		{"GET", "/api/curve", 200, `[{"height":7,"head":"bafyhead","evaluations":112,"steps":900,"return":12.5}]`},
		{"GET", "/metrics", 404, ""},
		{"GET", "/addresses.json", 200, `"run":"bafyrun"`},
		{"GET", "/api/nothing", 404, ""},
		{"POST", "/api/status", 405, "read-only"},
		{"DELETE", "/api/log", 405, "read-only"},
		{"POST", "/api/curve", 405, "read-only"},
		{"GET", "/api/peers", 200, `{"members":[{"key":"c0ffee","self":true,"leads":false,"here":true,"kind":"node","hub":false,"height":0,"lately":12,"evaluations":112}],"others":0,"entries":50,"reorgs":0,"reorg":null}`},
		{"POST", "/api/peers", 405, "read-only"},
		{"POST", "/api/stop", 405, "read-only"},
		{"GET", "/no/such/file", 404, ""},
	} {
		resp, body := get(t, h, c.method, c.path)
		if resp.StatusCode != c.status || !strings.Contains(body, c.part) {
			t.Errorf("%s %s = %d %.300q, want %d with %q", c.method, c.path, resp.StatusCode, body, c.status, c.part)
		}
	}
}

func TestHandlerLog(t *testing.T) {
	resp, _ := get(t, NewHandler(&fixedNode{log: []byte("x")}), "GET", "/api/log")
	if got, want := resp.Header.Get("Content-Disposition"), "attachment; filename=bafyrun.seedlog"; got != want {
		t.Errorf("Content-Disposition is %q, want %q", got, want)
	}
	if resp, _ := get(t, NewHandler(&fixedNode{}), "GET", "/api/log"); resp.StatusCode != http.StatusNotFound {
		t.Errorf("without a run the log gives %d, want 404", resp.StatusCode)
	}
}

func TestAddresses(t *testing.T) {
	resp, body := get(t, NewHandler(&fixedNode{log: []byte("x")}), "GET", "/addresses.json")
	if got := resp.Header.Get("Access-Control-Allow-Origin"); got != "*" {
		t.Errorf("Access-Control-Allow-Origin is %q, want *", got)
	}
	var list web.Addresses
	if err := json.Unmarshal([]byte(body), &list); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"/dns/swarm.example.org/tcp/4711/ws/p2p/12D3KooWD3eckifWpRn9wQpMG9R9hX3sD158z7EqHWmweQAJU5SA",
		"/ip4/192.168.1.5/tcp/4711/ws/p2p/12D3KooWD3eckifWpRn9wQpMG9R9hX3sD158z7EqHWmweQAJU5SA",
	}
	if list.Version != 1 || !slices.Equal(list.Addresses, want) {
		t.Errorf("addresses are %v, want %v", list.Addresses, want)
	}
}

func TestVia(t *testing.T) {
	in := []string{"/ip4/127.0.0.1/tcp/1/ws", "/ip6/::1/tcp/2", "/ip4/10.0.0.1/udp/3/quic-v1", "nonsense", "/ip4/10.0.0.9/tcp/1/p2p/12D3KooWD3eckifWpRn9wQpMG9R9hX3sD158z7EqHWmweQAJU5SA/p2p-circuit"}
	for _, c := range []struct {
		host string
		want []string
	}{
		{"10.0.0.1:8080", []string{"/ip4/10.0.0.1/tcp/1/ws", "/ip4/10.0.0.1/tcp/2", "/ip4/10.0.0.1/udp/3/quic-v1", in[4]}},
		{"127.0.0.1:8080", []string{"/ip4/127.0.0.1/tcp/1/ws", "/ip4/127.0.0.1/tcp/2", "/ip4/127.0.0.1/udp/3/quic-v1", in[1], in[2], in[4]}},
		{"[2001:db8::1]:80", []string{"/ip6/2001:db8::1/tcp/1/ws", "/ip6/2001:db8::1/tcp/2", "/ip6/2001:db8::1/udp/3/quic-v1", in[2], in[4]}},
		{"", []string{in[2], in[4]}},
		{"a/b", []string{in[2], in[4]}},
	} {
		if got := Via(c.host, in); !slices.Equal(got, c.want) {
			t.Errorf("Via(%q) = %v, want %v", c.host, got, c.want)
		}
	}
	// A name leads to every transport but WebRTC, whose addresses stay as they are.
	web, rtc := "/udp/4/quic-v1/webtransport"+cert, "/udp/4/webrtc-direct"+cert
	want := []string{"/dns/example.com" + web, "/ip4/10.0.0.1" + web, "/ip4/10.0.0.1" + rtc}
	if got := Via("example.com:443", []string{"/ip4/10.0.0.1" + web, "/ip4/10.0.0.1" + rtc}); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	secure := []string{"/dns/example.org/tcp/1/tls/ws", "/ip4/10.0.0.1/tcp/1/tls/ws"}
	if got := Via("203.0.113.7", secure); !slices.Equal(got, secure) {
		t.Errorf("got %v, want what the node's certificate is for", got)
	}
	want = []string{"/ip4/203.0.113.7" + rtc, "/ip4/10.0.0.1" + rtc}
	if got := Via("203.0.113.7", []string{"/ip4/10.0.0.1" + rtc}); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// cert is the hash of a certificate that nobody has.
const cert = "/certhash/uEiAkH5a4DPGKUuOBjYw0CgwjvcJCJMD2K_1aluKR_tpevQ"

func TestControl(t *testing.T) {
	for _, data := range []string{t.TempDir(), t.TempDir() + "/" + strings.Repeat("long", 40)} {
		if err := os.MkdirAll(data, 0o700); err != nil {
			t.Fatal(err)
		}
		testControl(t, data)
	}
}

func testControl(t *testing.T, data string) {
	if _, err := Ask(t.Context(), data, "GET", "status"); !errors.Is(err, ErrNotRunning) {
		t.Fatalf("without a node Ask gives %v, want ErrNotRunning", err)
	}
	l, err := ListenControl(data)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(data + "/" + SocketName)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("the socket has mode %v, %v, want 0600", info.Mode(), err)
	}
	node := &fixedNode{stopped: make(chan struct{})}
	server := &http.Server{Handler: NewControlHandler(node)}
	go server.Serve(l)
	for _, c := range []struct {
		method, verb string
		state        peer.State
	}{
		{"GET", "status", "training"}, {"POST", "pause", "paused"}, {"GET", "status", "paused"}, {"POST", "resume", "training"}, {"POST", "stop", "training"},
	} {
		s, err := Ask(t.Context(), data, c.method, c.verb)
		if err != nil || s.State != c.state {
			t.Errorf("%s gives %q, %v, want %q", c.verb, s.State, err, c.state)
		}
		if want := node.Addresses(); len(want) == 0 || !slices.Equal(s.Addresses, want) {
			t.Errorf("%s says that the node is at %v, want %v", c.verb, s.Addresses, want)
		}
	}
	<-node.stopped
	server.Close()
	if _, err := Ask(t.Context(), data, "GET", "status"); !errors.Is(err, ErrNotRunning) {
		t.Errorf("after the end Ask gives %v, want ErrNotRunning", err)
	}
	// A socket that was left behind is replaced.
	l, err = ListenControl(data)
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	RemoveControl(data)
}
