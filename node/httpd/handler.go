package httpd

import (
	"encoding/json"
	"mime"
	"net/http"

	"github.com/evoswarm/evoswarm/web"
)

// NewHandler serves the volunteer page at / and the open, read-only views of n.
func NewHandler(n Node) http.Handler {
	mux, advisor := http.NewServeMux(), new(advisor)
	mux.HandleFunc("GET /addresses.json", open(func(w http.ResponseWriter, r *http.Request) { serveAddresses(w, r, n, advisor) }))
	mux.HandleFunc("GET /healthz", open(func(w http.ResponseWriter, _ *http.Request) { serveHealth(w, n) }))
	mux.HandleFunc("GET /api/status", open(func(w http.ResponseWriter, r *http.Request) { serveStatus(w, r, n) }))
	mux.HandleFunc("GET /api/runs", open(func(w http.ResponseWriter, _ *http.Request) { serveRuns(w, n, advisor) }))
	mux.HandleFunc("GET /api/log", open(ofRun(n, serveLog)))
	mux.HandleFunc("GET /api/curve", open(ofRun(n, func(w http.ResponseWriter, _ *http.Request, run Run) { writeJSON(w, run.Curve()) })))
	mux.HandleFunc("GET /api/peers", open(ofRun(n, serveRoster)))
	for _, path := range []string{"/addresses.json", "/healthz", "/api/"} {
		mux.HandleFunc(path, readOnly)
	}
	mux.Handle("/", web.Handler())
	return mux
}

// open lets pages of other hosts read the answer, and forbids caching it.
func open(f http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Access-Control-Allow-Origin", "*")
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		f(w, r)
	}
}

// readOnly answers requests below the paths of the node's own views that no other pattern matched.
func readOnly(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "this side of a node is read-only; use evonode pause, resume or stop on its machine", http.StatusMethodNotAllowed)
		return
	}
	http.NotFound(w, r)
}

// serveStatus answers for the node, or for the run that the request names.
func serveStatus(w http.ResponseWriter, r *http.Request, n Node) {
	if !r.URL.Query().Has("run") {
		writeJSON(w, n.Status())
		return
	}
	ofRun(n, func(w http.ResponseWriter, _ *http.Request, run Run) { writeJSON(w, run.Status()) })(w, r)
}

func serveRoster(w http.ResponseWriter, r *http.Request, run Run) {
	roster, err := run.Roster(r.Context())
	if err != nil {
		http.Error(w, "the run has just ended here; ask again", http.StatusServiceUnavailable)
		return
	}
	writeJSON(w, roster)
}

func serveLog(w http.ResponseWriter, r *http.Request, run Run) {
	id := run.Status().Run
	if id == "" {
		http.Error(w, "no run yet", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/vnd.ipld.car; version=1")
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": id + ".seedlog"}))
	if r.Method == http.MethodHead {
		return
	}
	if err := run.WriteLog(w); err != nil {
		// The status line is sent, so the connection is cut: the reader must not take a part for the whole.
		panic(http.ErrAbortHandler)
	}
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.Encode(v) // an error here means that the reader went away
}
