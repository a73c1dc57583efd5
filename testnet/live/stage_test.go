package live

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/evoswarm/evoswarm/internal/peer"
	"github.com/evoswarm/evoswarm/web"
)

// stageOrigin is where a page on the stage comes from: the address is in pictures, so it is the same each time.
const stageOrigin = "http://evoswarm.example"

// stageBuild takes the place of the page's own build in what is pictured.
const stageBuild = "0123456789ab"

// scene is what the page is told in one of its states, in the words of the recording.
type scene struct {
	phase  string
	status *peer.Status // of the tab; nil: it takes part in nothing
	ways   any
	node   *peer.Status // what the node says of the run; nil: it does not answer
	silent bool         // the node does not answer anything, but the files are there
	build  string       // of the node's page; "": the same
	held   bool         // the programs are on their way, two fifths of them
	crash  string       // what the tab's program dies of
	moves  bool         // one of the tab's candidates plays
	watch  bool         // evonode watch serves its page
	runs   any          // that the node lists; nil: those of the recording
	stage  map[string]any
}

// stage serves the built page, and plays scenes to it.
type stage struct {
	tab    *tab
	play   recording
	now    atomic.Pointer[scene]
	script page.ScriptIdentifier
}

// newStage opens a browser in which stageOrigin is this process.
func newStage(t *testing.T, s *swarm) *stage {
	t.Helper()
	if !web.Built() {
		t.Fatal("the page must be built before: make page")
	}
	st := &stage{}
	data, err := os.ReadFile(recordings)
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields() // or the page would be shown what no program says any more
	if err := decoder.Decode(&st.play); err != nil {
		t.Fatalf("the recording is not of this version, make one with -live.record: %v", err)
	}
	st.now.Store(&scene{})
	server := httptest.NewServer(http.HandlerFunc(st.serve))
	t.Cleanup(server.Close)
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	st.tab = s.newTab(t, "about:blank")
	st.tab.flags = []chromedp.ExecAllocatorOption{
		chromedp.Flag("host-resolver-rules", "MAP evoswarm.example:80 127.0.0.1:"+port),
		chromedp.Flag("unsafely-treat-insecure-origin-as-secure", stageOrigin),
		chromedp.Flag("force-color-profile", "srgb"),
	}
	st.tab.open(t)
	call(t, st.tab, emulation.SetTimezoneOverride, emulation.SetTimezoneOverrideParams{TimezoneID: "UTC"})
	call(t, st.tab, emulation.SetScrollbarsHidden, emulation.SetScrollbarsHiddenParams{Hidden: true})
	return st
}

// serve answers as a node does in the present scene.
func (st *stage) serve(w http.ResponseWriter, r *http.Request) {
	now := st.now.Load()
	switch path := r.URL.Path; {
	case strings.HasSuffix(path, ".wasm"):
		w.Header().Set("Content-Type", "application/wasm")
		w.Header().Set("Cache-Control", "no-store")
		w.Write([]byte("\x00asm\x01\x00\x00\x00")) // the smallest program there is
	case path == "/addresses.json" && !now.silent:
		build := now.build
		if build == "" {
			build = stageBuild
		}
		answer(w, web.Addresses{Version: web.AddressesVersion, Build: build, Run: st.play.Status.Run, Env: st.play.Status.Env, Addresses: []string{}})
	case path == "/api/status" && now.node != nil:
		answer(w, now.node)
	case path == "/api/curve" && now.node != nil:
		answer(w, st.play.Curve)
	case path == "/api/runs" && !now.silent:
		if now.runs != nil {
			answer(w, now.runs)
			return
		}
		answer(w, st.play.Runs)
	case path == "/policy.json":
		answer(w, web.Policy{World: "Lunar Lander", Env: st.play.Status.Env, Strategy: st.play.Status.Strategy, Run: st.play.Status.Run,
			Height: st.play.Status.Height, Threshold: 200, Bytes: map[string][]byte{"setup": {}, "state": {}}})
	case path == "/addresses.json", strings.HasPrefix(path, "/api/"):
		http.Error(w, "nobody is here", http.StatusBadGateway)
	default:
		kept := httptest.NewRecorder()
		r.Header.Del("Accept-Encoding")
		if now.watch {
			web.WatchHandler().ServeHTTP(kept, r)
		} else {
			web.Handler().ServeHTTP(kept, r)
		}
		for name, values := range kept.Header() {
			if name != "Content-Length" {
				w.Header()[name] = values
			}
		}
		w.WriteHeader(kept.Code)
		w.Write(bytes.ReplaceAll(kept.Body.Bytes(), []byte(web.Build()), []byte(stageBuild)))
	}
}

func answer(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(value) // who does not hear it has gone
}

// show opens the page in a scene.
func (st *stage) show(t *testing.T, address string, now *scene) {
	t.Helper()
	st.now.Store(now)
	told := []map[string]any{}
	if now.phase != "" {
		told = append(told, map[string]any{"op": "phase", "phase": now.phase})
	}
	if now.ways != nil {
		told = append(told, map[string]any{"op": "ways", "ways": now.ways})
	}
	if now.status != nil {
		told = append(told, map[string]any{"op": "engine", "engine": st.play.Engine}, map[string]any{"op": "status", "status": now.status})
	}
	if now.crash != "" {
		told = append(told, map[string]any{"op": "crash", "error": now.crash, "output": ""})
	}
	given := map[string]any{"tells": told, "reel": st.play.Reel, "moves": now.moves, "held": now.held, "answers": map[string]any{
		"kernel": st.play.Kernel, "neighbors": st.play.Neighbors, "curve": st.play.Curve, "history": st.play.History, "recent": st.play.Recent}}
	for name, value := range now.stage { //lint:sorted each by itself
		given[name] = value
	}
	data, err := json.Marshal(given)
	if err != nil {
		t.Fatal(err)
	}
	script, err := os.ReadFile(filepath.Join("testdata", "stage", "stage.js"))
	if err != nil {
		t.Fatal(err)
	}
	if st.script != "" {
		call(t, st.tab, page.RemoveScriptToEvaluateOnNewDocument, page.RemoveScriptToEvaluateOnNewDocumentParams{Identifier: st.script})
	}
	added := call(t, st.tab, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{
		Source: fmt.Sprintf("globalThis.stage = %s;\n%s", data, script)})
	st.script = added.Identifier
	st.tab.do(t, "leaving the last scene", chromedp.Navigate("about:blank")) // another fragment alone would not load anything
	st.tab.do(t, "opening "+address, chromedp.Navigate(stageOrigin+address))
}
