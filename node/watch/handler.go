package watch

import (
	"encoding/json"
	"net/http"

	"github.com/evoswarm/evoswarm/web"
)

// NewHandler serves the page that draws p, which is read-only, at / and p at /policy.json.
func NewHandler(p *web.Policy) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /policy.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(p) // an error here means that the reader went away
	})
	mux.Handle("/", web.WatchHandler())
	return mux
}
