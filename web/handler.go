package web

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// What browsers may keep. Assets carry their hash in their name; the page itself names them, so it is asked for again.
const (
	cacheForever = "public, max-age=31536000, immutable"
	cacheNever   = "no-cache"
)

// policy allows the page its own files, wasm, and connections to any node; nothing from elsewhere.
const policy = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; connect-src *; img-src 'self' data:; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'self'"

// policyFor lets any page frame this one where its link says that it is a frame: it then asks before it
// computes anything.
func policyFor(r *http.Request) string {
	if r.URL.Query().Has("embed") {
		return strings.Replace(policy, "frame-ancestors 'self'", "frame-ancestors *", 1)
	}
	return policy
}

// asset is one file of the page in the forms that are there.
type asset struct {
	kind   string
	hash   string
	cache  string
	forms  map[string][]byte // by content encoding: "br", "gzip", or "identity"
	length int64             // unpacked
	page   bool              // a document, not one of the files that it names
}

// Handler serves the page at /, the list of the node's runs at /runs, their files at /assets/, and what a
// browser needs to install the page. Everything else is 404. It panics if the embedded page is damaged, which a
// build does not produce. Safe for concurrent use.
func Handler() http.Handler { return mustHandle("index.html", "runs.html") }

// WatchHandler serves the page that draws the policy of /policy.json, in place of the volunteer page. That file is the
// caller's to serve: see [Policy].
func WatchHandler() http.Handler { return mustHandle("watch.html") }

func mustHandle(home string, more ...string) http.Handler {
	h, err := newHandler(dist, home, more...)
	if err != nil {
		panic(err)
	}
	return h
}

// newHandler serves pages in files, or the fallback if there are none: home at /, and more under their names without
// the ending.
func newHandler(files fs.FS, home string, more ...string) (http.Handler, error) {
	assets, err := load(files)
	if err != nil {
		return nil, err
	}
	pages := map[string]*asset{"": assets[home]}
	for _, page := range more {
		pages[strings.TrimSuffix(page, ".html")] = assets[page]
	}
	for path, a := range pages { //lint:sorted each by itself
		if a == nil {
			pages[path] = assets["index.html"] // the fallback
		}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "only GET and HEAD are served here", http.StatusMethodNotAllowed)
			return
		}
		path := strings.TrimPrefix(r.URL.Path, "/")
		a := pages[path]
		if a == nil {
			a = assets[path]
		}
		if a == nil || a.page && pages[path] == nil && path != home {
			w.Header().Set("Cache-Control", cacheNever)
			http.Error(w, "no such file; a page of an older build has to be reloaded", http.StatusNotFound)
			return
		}
		a.serve(w, r)
	}), nil
}

// load reads the assets of a built page, or makes the fallback the only one.
func load(files fs.FS) (map[string]*asset, error) {
	m, err := readManifest(files)
	if errors.Is(err, fs.ErrNotExist) {
		a := &asset{kind: "text/html; charset=utf-8", hash: "fallback", cache: cacheNever,
			forms: map[string][]byte{"identity": fallback}, length: int64(len(fallback))}
		return map[string]*asset{"index.html": a}, nil
	}
	if err != nil {
		return nil, err
	}
	assets := make(map[string]*asset, len(m.Files))
	for _, f := range m.Files {
		a := &asset{kind: f.Type, hash: f.Hash, cache: cacheForever, forms: make(map[string][]byte, 2), length: f.Size}
		a.page = strings.HasSuffix(f.Path, ".html")
		if !strings.HasPrefix(f.Path, "assets/") { // it has no hash in its name
			a.cache = cacheNever
		}
		for encoding, suffix := range map[string]string{"br": ".br", "gzip": ".gz"} {
			data, err := fs.ReadFile(files, "dist/"+f.Path+suffix)
			if err != nil {
				return nil, fmt.Errorf("%w: %v", ErrManifest, err)
			}
			a.forms[encoding] = data
		}
		assets[f.Path] = a
	}
	if assets["index.html"] == nil {
		return nil, fmt.Errorf("%w: no index.html", ErrManifest)
	}
	return assets, nil
}

// serve answers r with the form of a that it accepts.
func (a *asset) serve(w http.ResponseWriter, r *http.Request) {
	encoding := a.choose(r.Header.Values("Accept-Encoding"))
	head := w.Header()
	head.Set("Content-Type", a.kind)
	head.Set("Cache-Control", a.cache)
	head.Set("Vary", "Accept-Encoding")
	head.Set("X-Content-Type-Options", "nosniff")
	if strings.HasPrefix(a.kind, "text/html") {
		head.Set("Content-Security-Policy", policyFor(r))
		head.Set("Referrer-Policy", "no-referrer")
	}
	head.Set("ETag", strconv.Quote(a.hash+"-"+encoding))
	data, ok := a.forms[encoding]
	if !ok {
		a.unpack(w, r)
		return
	}
	if encoding != "identity" {
		head.Set("Content-Encoding", encoding)
	}
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(data))
}

// unpack serves the rare client that takes no compression.
func (a *asset) unpack(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("If-None-Match") == w.Header().Get("ETag") {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Header().Set("Content-Length", strconv.FormatInt(a.length, 10))
	if r.Method == http.MethodHead {
		return
	}
	z, err := gzip.NewReader(bytes.NewReader(a.forms["gzip"]))
	if err != nil {
		http.Error(w, ErrManifest.Error(), http.StatusInternalServerError)
		return
	}
	// The client went away, or the connection breaks off short of Content-Length: it notices either way.
	_, _ = io.Copy(w, z)
}

// choose returns the smallest form that the Accept-Encoding values allow.
func (a *asset) choose(accept []string) string {
	weights := encodings(strings.Join(accept, ","))
	for _, encoding := range []string{"br", "gzip"} {
		weight, named := weights[encoding]
		if !named {
			weight = weights["*"]
		}
		if weight > 0 && a.forms[encoding] != nil {
			return encoding
		}
	}
	return "identity"
}

// encodings reads an Accept-Encoding value (RFC 9110, section 12.5.3) into weights; an unreadable weight counts as 0.
func encodings(accept string) map[string]float64 {
	weights := make(map[string]float64)
	for _, part := range strings.Split(accept, ",") {
		name, parameter, found := strings.Cut(strings.TrimSpace(part), ";")
		weight := 1.0
		if found {
			value, ok := strings.CutPrefix(strings.ReplaceAll(parameter, " ", ""), "q=")
			q, err := strconv.ParseFloat(value, 64)
			if weight = q; !ok || err != nil {
				weight = 0
			}
		}
		if name = strings.ToLower(strings.TrimSpace(name)); name != "" {
			weights[name] = weight
		}
	}
	return weights
}
