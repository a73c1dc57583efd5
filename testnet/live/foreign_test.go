package live

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/protocol/ping"

	"github.com/evoswarm/evoswarm/internal/mesh"
)

// foreign is the folder of a peer in another language.
var foreign = filepath.Join(root, "testnet", "foreign")

// visit is what that peer found at a node.
type visit struct {
	Failed    string
	Remote    string
	Agent     string
	Protocols []string
	Ping      float64 // milliseconds
	Messages  struct{ Entries, Control int }
	Authors   []string
	Entries   []struct {
		Height  uint64
		Follows bool // the one before is its parent
	}
	Faults []string
}

// heard is how many announced entries the peer waits for.
const heard = 10

// TestForeignClient has js-libp2p, as it comes, dial a node over each transport, from Node and from a page. Its
// gossipsub hears what another node says, it reads the announced entries by the documents alone, and both sides answer
// identify and ping.
func TestForeignClient(t *testing.T) {
	if _, err := os.Stat(filepath.Join(foreign, "node_modules")); err != nil {
		t.Fatalf("%v: js-libp2p is missing; make foreign installs it", err)
	}
	var s swarm
	author := s.serve(t, "author", "--bootstrap", "--train", "CartPole-v1")
	hub := s.newNode(t, "hub", "join", author.page)
	ip := hub.listenToAll(t)
	hub.start(t)
	local := s.addresses(t, hub, "127.0.0.1", mesh.TCP, mesh.WebSocket)
	public := s.addresses(t, hub, ip, mesh.WebTransport, mesh.WebRTC)
	st, err := author.status()
	if err != nil {
		t.Fatal(err)
	}
	for _, addr := range local {
		t.Run(string(mesh.WayOf(addr)), func(t *testing.T) { checkVisit(t, visitFromNode(t, addr, st.Run), addr) })
	}
	b := s.newTab(t, foreignPage(t))
	b.flags = []chromedp.ExecAllocatorOption{chromedp.Flag("disable-quic", false)}
	b.open(t)
	for _, addr := range append(local[1:], public...) {
		t.Run(string(mesh.WayOf(addr))+" of a page", func(t *testing.T) { checkVisit(t, s.visitFromPage(t, b, addr, st.Run), addr) })
	}
}

func checkVisit(t *testing.T, v visit, addr string) {
	t.Helper()
	if v.Failed != "" || len(v.Faults) > 0 {
		t.Fatalf("it failed: %s %v", v.Failed, v.Faults)
	}
	t.Logf("ping %.0f ms; %d messages about entries, %d others, of %d authors; %d entries", v.Ping, v.Messages.Entries, v.Messages.Control, len(v.Authors), len(v.Entries))
	if mesh.WayOf(v.Remote) != mesh.WayOf(addr) {
		t.Errorf("it dialed %s, and is connected to %s", addr, v.Remote)
	}
	if !strings.HasPrefix(v.Agent, "evonode/") || !slices.Contains(v.Protocols, "/meshsub/1.1.0") {
		t.Errorf("identify says agent %q, protocols %q", v.Agent, v.Protocols)
	}
	dialed := addr[strings.LastIndex(addr, "/")+1:]
	if !slices.ContainsFunc(v.Authors, func(a string) bool { return a != dialed }) {
		t.Errorf("it heard nobody but the node that it dialed: %v", v.Authors)
	}
	if len(v.Entries) < heard || v.Messages.Control == 0 {
		t.Errorf("it heard %d entries, %d other messages", len(v.Entries), v.Messages.Control)
	}
	follow := 0
	for _, e := range v.Entries {
		if e.Follows {
			follow++
		}
	}
	if follow < len(v.Entries)/2 { // two branches for a moment are no fault
		t.Errorf("of %d announced entries, %d lie on the one before", len(v.Entries), follow)
	}
}

// visitFromNode runs the peer in Node, and dials it, too.
func visitFromNode(t *testing.T, addr, run string) (v visit) {
	t.Helper()
	args := []string{"node.mjs", addr, run, strconv.Itoa(heard), strconv.Itoa(int(patience.Seconds()))}
	if strings.TrimSpace(string(command(t, "node", "-p", "typeof WebSocket"))) == "undefined" {
		args = append([]string{"--experimental-websocket"}, args...) // Node 20
	}
	cmd := exec.CommandContext(t.Context(), "node", args...)
	cmd.Dir, cmd.Stderr = foreign, os.Stderr
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 1<<20)
	var at struct{ Listening []string }
	next := func(to any) {
		t.Helper()
		if !lines.Scan() {
			t.Fatalf("the peer ended early: %v", cmd.Wait())
		}
		if err := json.Unmarshal(lines.Bytes(), to); err != nil {
			t.Fatalf("%v: %s", err, lines.Bytes())
		}
	}
	next(&at)
	answers(t, at.Listening[0])
	next(&v)
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	return v
}

// answers dials the peer, which must answer identify and ping.
func answers(t *testing.T, addr string) {
	t.Helper()
	h, err := libp2p.New(libp2p.NoListenAddrs, libp2p.DisableMetrics())
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	info, err := peer.AddrInfoFromString(addr)
	if err != nil {
		t.Fatal(err)
	}
	if err := h.Connect(t.Context(), *info); err != nil {
		t.Fatal(err)
	}
	if r := <-ping.Ping(t.Context(), h, info.ID); r.Error != nil {
		t.Errorf("no answer to a ping: %v", r.Error)
	}
	if spoken, err := h.Peerstore().SupportsProtocols(info.ID, "/meshsub/1.1.0"); err != nil || len(spoken) == 0 {
		t.Errorf("it does not say that it speaks gossipsub: %v", err)
	}
}

// foreignPage serves the peer for browsers, bundled.
func foreignPage(t *testing.T) (url string) {
	t.Helper()
	script := filepath.Join(t.TempDir(), "page.js")
	bundle := exec.Command(filepath.Join("node_modules", ".bin", "esbuild"), "page.mjs", "--bundle", "--format=esm", "--log-level=warning", "--outfile="+script)
	bundle.Dir = foreign
	if out, err := bundle.CombinedOutput(); err != nil {
		t.Fatalf("bundling the page: %v\n%s", err, out)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/page.js" {
			http.ServeFile(w, r, script)
			return
		}
		fmt.Fprint(w, `<!doctype html><title>js-libp2p</title><script type="module" src="page.js"></script>`)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

// visitFromPage runs the peer in the page.
func (s *swarm) visitFromPage(t *testing.T, b *tab, addr, run string) (v visit) {
	t.Helper()
	s.await(t, "the peer's script has come", func() string {
		if ready, err := ask[bool](b, "typeof visitFrom === 'function'"); err != nil || !ready {
			return fmt.Sprint(ready, err)
		}
		return ""
	})
	b.do(t, "beginning a visit", chromedp.Evaluate[chromedp.Void](fmt.Sprintf("void visitFrom(%q, %q, %d, %d)", addr, run, heard, int(patience.Seconds()))))
	s.awaitFor(t, "the visit has ended", patience+30*time.Second, func() string {
		text, err := ask[string](b, "JSON.stringify(globalThis.found ?? null)")
		if err != nil || text == "null" {
			return fmt.Sprint(text, err)
		}
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		return ""
	})
	return v
}
