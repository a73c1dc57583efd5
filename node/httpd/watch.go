package httpd

import (
	"net/http"

	"github.com/evoswarm/evoswarm/web"
)

// NewWatch serves the page that draws p, which is read-only, at / and p at /policy.json.
func NewWatch(p *web.Policy) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /policy.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		writeJSON(w, p)
	})
	mux.HandleFunc("/policy.json", readOnly)
	mux.Handle("/", web.WatchHandler())
	return mux
}
