package httpd

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestMetrics(t *testing.T) {
	node := &fixedNode{log: []byte("x")}
	h := NewMetricsHandler(node)
	for _, c := range []struct {
		method, path string
		status       int
		part         string
	}{
		{"GET", "/metrics", 200, "\nevoswarm_height 7\n"},
		{"GET", "/metrics", 200, "\nevoswarm_evaluations_total 112\n"},
		{"GET", "/metrics", 200, "\nevoswarm_policy_return NaN\n"},
		{"GET", "/metrics", 200, "\ngo_goroutines "},
		{"GET", "/healthz", 200, "ok"},
		{"POST", "/metrics", 405, ""},
		{"GET", "/debug/pprof/", 404, ""},
		{"GET", "/", 404, ""},
		{"GET", "/api/status", 404, ""},
	} {
		resp, body := get(t, h, c.method, c.path)
		if resp.StatusCode != c.status || !strings.Contains(body, c.part) {
			t.Errorf("%s %s = %d %.300q, want %d with %q", c.method, c.path, resp.StatusCode, body, c.status, c.part)
		}
	}
	node.fault = "no space left"
	for _, h := range []struct {
		path string
		part string
	}{{"/healthz", "no space left"}, {"/metrics", "\nevoswarm_faulty 1\n"}} {
		resp, body := get(t, NewMetricsHandler(node), "GET", h.path)
		if h.path == "/healthz" && resp.StatusCode != 503 || !strings.Contains(body, h.part) {
			t.Errorf("with a fault %s = %d %.300q", h.path, resp.StatusCode, body)
		}
	}
}

// docs/OPERATING.md explains every figure, and no other one.
func TestMetricsAreDocumented(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "OPERATING.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range metrics {
		if !strings.Contains(string(text), "| `evoswarm_"+m.name+"` |") {
			t.Errorf("docs/OPERATING.md lacks %s", m.name)
		}
	}
	if rows := strings.Count(string(text), "| `evoswarm_"); rows != len(metrics) {
		t.Errorf("docs/OPERATING.md explains %d figures, there are %d", rows, len(metrics))
	}
}
