package web

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
)

const program = "\x00asm and so on"

// built is a page as build.mjs lays it out; "BR" stands in for what brotli makes, which the handler never unpacks.
func built(t *testing.T) fstest.MapFS {
	t.Helper()
	files := fstest.MapFS{}
	m := manifest{Build: "0123456789ab"}
	for path, f := range map[string]file{
		"index.html":                 {Type: "text/html; charset=utf-8"},
		"runs.html":                  {Type: "text/html; charset=utf-8"},
		"watch.html":                 {Type: "text/html; charset=utf-8"},
		"assets/tab-0123456789.wasm": {Type: "application/wasm"},
		"offline.js":                 {Type: "text/javascript; charset=utf-8"},
	} {
		f.Path, f.Hash, f.Size = path, "hash-of-"+path, int64(len(program))
		m.Files = append(m.Files, f)
		var z bytes.Buffer
		w := gzip.NewWriter(&z)
		io.WriteString(w, program)
		w.Close()
		files["dist/"+path+".gz"] = &fstest.MapFile{Data: z.Bytes()}
		files["dist/"+path+".br"] = &fstest.MapFile{Data: []byte("BR")}
	}
	data, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	files["dist/manifest.json"] = &fstest.MapFile{Data: data}
	return files
}

func handler(t *testing.T) http.Handler {
	t.Helper()
	h, err := newHandler(built(t), "index.html")
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func get(h http.Handler, path string, header ...string) *http.Response {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Add(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func body(t *testing.T, resp *http.Response) string {
	t.Helper()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestHandlerNegotiates(t *testing.T) {
	h := handler(t)
	for _, test := range []struct{ accept, want string }{
		{"gzip, deflate, br, zstd", "br"},
		{"BR", "br"},
		{"gzip", "gzip"},
		{"gzip;q=1.0, br;q=0", "gzip"},
		{"br;q=0.1, gzip;q=1", "br"},
		{"*", "br"},
		{"*;q=0", ""},
		{"br;q=x", ""},
		{"identity", ""},
		{"", ""},
	} {
		resp := get(h, "/assets/tab-0123456789.wasm", "Accept-Encoding", test.accept)
		if got := resp.Header.Get("Content-Encoding"); got != test.want {
			t.Errorf("Accept-Encoding %q: got %q, want %q", test.accept, got, test.want)
		}
		if got := resp.Header.Get("Vary"); got != "Accept-Encoding" {
			t.Errorf("Accept-Encoding %q: got Vary %q", test.accept, got)
		}
		if got := body(t, resp); test.want == "" && got != program {
			t.Errorf("Accept-Encoding %q: got body %q, want it unpacked", test.accept, got)
		}
		if got, want := resp.Header.Get("Content-Type"), "application/wasm"; got != want {
			t.Errorf("Accept-Encoding %q: got type %q, want %q", test.accept, got, want)
		}
	}
}

func TestHandlerCaching(t *testing.T) {
	h := handler(t)
	for path, want := range map[string]string{"/": cacheNever, "/index.html": cacheNever, "/offline.js": cacheNever, "/assets/tab-0123456789.wasm": cacheForever, "/assets/tab-old.wasm": cacheNever} {
		if got := get(h, path).Header.Get("Cache-Control"); got != want {
			t.Errorf("%s: got Cache-Control %q, want %q", path, got, want)
		}
	}
	for _, accept := range []string{"br", "gzip", ""} {
		tag := get(h, "/", "Accept-Encoding", accept).Header.Get("ETag")
		again := get(h, "/", "Accept-Encoding", accept, "If-None-Match", tag)
		if again.StatusCode != http.StatusNotModified || body(t, again) != "" {
			t.Errorf("Accept-Encoding %q: got status %d for a tag that is valid, want 304 without body", accept, again.StatusCode)
		}
		other := get(h, "/", "Accept-Encoding", accept, "If-None-Match", `"other"`)
		if other.StatusCode != http.StatusOK {
			t.Errorf("Accept-Encoding %q: got status %d for another tag, want 200", accept, other.StatusCode)
		}
	}
}

func TestHandlerRefuses(t *testing.T) {
	h := handler(t)
	for _, path := range []string{"/nothing", "/assets/", "/manifest.json", "/assets/../manifest.json", "/assets/tab-0123456789.wasm.br"} {
		if got := get(h, path).StatusCode; got != http.StatusNotFound {
			t.Errorf("%s: got status %d, want 404", path, got)
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/", strings.NewReader("x")))
	if w.Code != http.StatusMethodNotAllowed || w.Header().Get("Allow") == "" {
		t.Errorf("POST: got status %d, Allow %q", w.Code, w.Header().Get("Allow"))
	}
	w = httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodHead, "/", nil))
	if w.Code != http.StatusOK || w.Body.Len() != 0 || w.Header().Get("Content-Length") == "" {
		t.Errorf("HEAD: got status %d, %d bytes, Content-Length %q", w.Code, w.Body.Len(), w.Header().Get("Content-Length"))
	}
}

// TestPages checks that each handler serves its own page and the files, not the other's.
func TestPages(t *testing.T) {
	files := built(t)
	files["dist/watch.html.br"].Data = []byte("WATCH")
	for _, c := range []struct{ home, other, want string }{{"index.html", "watch.html", "BR"}, {"watch.html", "index.html", "WATCH"}} {
		h, err := newHandler(files, c.home)
		if err != nil {
			t.Fatal(err)
		}
		resp := get(h, "/", "Accept-Encoding", "br")
		if got := body(t, resp); got != c.want || resp.Header.Get("Cache-Control") != cacheNever {
			t.Errorf("%s: got %q with %v, want %q", c.home, got, resp.Header, c.want)
		}
		if got := get(h, "/"+c.other).StatusCode; got != http.StatusNotFound {
			t.Errorf("%s: the other page has status %d, want 404", c.home, got)
		}
		if got := get(h, "/assets/tab-0123456789.wasm").StatusCode; got != http.StatusOK {
			t.Errorf("%s: a file has status %d", c.home, got)
		}
	}
	h, err := newHandler(fstest.MapFS{}, "watch.html")
	if err != nil {
		t.Fatal(err)
	}
	if got := body(t, get(h, "/")); !strings.Contains(got, "make run") {
		t.Errorf("without a page %q is served, want the fallback", got)
	}
}

// The list of runs has an address of its own, which does not change with the build.
func TestRunsPage(t *testing.T) {
	files := built(t)
	files["dist/runs.html.br"].Data = []byte("RUNS")
	h, err := newHandler(files, "index.html", "runs.html")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"/": "BR", "/runs": "RUNS"} {
		if resp := get(h, path, "Accept-Encoding", "br"); body(t, resp) != want || resp.Header.Get("Cache-Control") != cacheNever {
			t.Errorf("%s has status %d and %v, want %q", path, resp.StatusCode, resp.Header, want)
		}
	}
	for _, path := range []string{"/runs.html", "/runs/", "/watch", "/watch.html"} {
		if got := get(h, path).StatusCode; got != http.StatusNotFound {
			t.Errorf("%s has status %d, want 404", path, got)
		}
	}
	if h, err = newHandler(fstest.MapFS{}, "index.html", "runs.html"); err != nil || !strings.Contains(body(t, get(h, "/runs")), "make run") {
		t.Errorf("without a page /runs is not the fallback, %v", err)
	}
}

func TestHandlerForbidsForeignScripts(t *testing.T) {
	got := get(handler(t), "/").Header.Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'self'", "'wasm-unsafe-eval'", "connect-src *"} {
		if !strings.Contains(got, want) {
			t.Errorf("got policy %q, want %s in it", got, want)
		}
	}
}

func TestFallback(t *testing.T) {
	h, err := newHandler(fstest.MapFS{}, "index.html")
	if err != nil {
		t.Fatal(err)
	}
	resp := get(h, "/", "Accept-Encoding", "br")
	if got := body(t, resp); resp.StatusCode != http.StatusOK || !strings.Contains(got, "make run") || !strings.Contains(got, "evonode join") {
		t.Errorf("got status %d and %q, want a page that says how to get the real one", resp.StatusCode, got)
	}
	if got := resp.Header.Get("Content-Encoding"); got != "" {
		t.Errorf("got encoding %q, want none", got)
	}
}

func TestDamagedPages(t *testing.T) {
	for name, change := range map[string]func(fstest.MapFS){
		"manifest is no JSON":   func(f fstest.MapFS) { f["dist/manifest.json"].Data = []byte("{") },
		"manifest names nobody": func(f fstest.MapFS) { f["dist/manifest.json"].Data = []byte(`{"build":"x"}`) },
		"a form is missing":     func(f fstest.MapFS) { delete(f, "dist/index.html.br") },
		"a path leads outside": func(f fstest.MapFS) {
			f["dist/manifest.json"].Data = []byte(`{"build":"x","files":[{"path":"../x","type":"t","hash":"h"}]}`)
		},
		"no page": func(f fstest.MapFS) {
			f["dist/manifest.json"].Data = []byte(`{"build":"x","files":[{"path":"assets/tab-0123456789.wasm","type":"t","hash":"h"}]}`)
		},
	} {
		files := built(t)
		change(files)
		if _, err := newHandler(files, "index.html"); !errors.Is(err, ErrManifest) {
			t.Errorf("%s: got %v, want ErrManifest", name, err)
		}
	}
}

// TestEmbedded checks the page that this build has: the whole one with the tag "page", the fallback without.
func TestEmbedded(t *testing.T) {
	h := Handler()
	page := get(h, "/", "Accept-Encoding", "gzip")
	if page.StatusCode != http.StatusOK {
		t.Fatalf("got status %d for the page", page.StatusCode)
	}
	if !Built() {
		return
	}
	z, err := gzip.NewReader(page.Body)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), Build()) {
		t.Errorf("the page does not name its build %s", Build())
	}
	assets := 0
	for _, part := range strings.Split(string(text), `"`) {
		if strings.HasPrefix(part, "assets/") {
			assets++
			if got := get(h, "/"+part, "Accept-Encoding", "br"); got.StatusCode != http.StatusOK || got.Header.Get("Content-Encoding") != "br" {
				t.Errorf("%s: got status %d, encoding %q", part, got.StatusCode, got.Header.Get("Content-Encoding"))
			}
		}
	}
	if assets < 6 {
		t.Errorf("the page names %d assets, want at least 6", assets)
	}
}

// TestHandlerFrames: other pages may frame the form of the page that is made for that, and no other one.
func TestHandlerFrames(t *testing.T) {
	h := handler(t)
	for path, want := range map[string]string{"/": "frame-ancestors 'self'", "/?embed": "frame-ancestors *", "/?embedded": "frame-ancestors 'self'"} {
		if got := get(h, path).Header.Get("Content-Security-Policy"); !strings.HasSuffix(got, want) || !strings.Contains(got, "default-src 'self'") {
			t.Errorf("%s: %q, want %q at its end", path, got, want)
		}
	}
}
