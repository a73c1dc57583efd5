//go:build !js

package mesh_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/evoswarm/evoswarm/internal/mesh"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

func TestResolve(t *testing.T) {
	run, other := seedlog.LinkOf(genesis).String(), seedlog.LinkOf([]byte("other")).String()
	addr := "/ip4/127.0.0.1/tcp/4001/p2p/" + mustID(t, seedlog.PeerOf(key(1)))
	answers := map[string]string{
		"/addresses.json":       fmt.Sprintf(`{"run":%q,"addresses":[%q],"version":1}`, run, addr),
		"/below/addresses.json": fmt.Sprintf(`{"run":%q,"addresses":[%q],"version":1,"more":1}`, run, addr),
		"/two/addresses.json":   fmt.Sprintf(`{"run":%q,"addresses":["x"],"runs":[{"run":%q,"addresses":["x"]},{"run":%q,"addresses":[%q]}]}`, other, other, run, addr),
		"/many/addresses.json":  `{"run":"","addresses":["x"],"runs":[` + strings.Repeat(`{},`, 64) + `{}]}`,
		"/empty/addresses.json": `{"run":"","addresses":[]}`,
		"/page/addresses.json":  `<html>`,
		"/huge/addresses.json":  `{"run":"` + strings.Repeat("x", 300<<10) + `"}`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if answers[r.URL.Path] == "" {
			http.NotFound(w, r)
		}
		fmt.Fprint(w, answers[r.URL.Path])
	}))
	defer server.Close()
	defer http.DefaultClient.CloseIdleConnections()
	for _, c := range []struct {
		name, target string
		run          string
		pinned       bool
		err          error
		hint         string
	}{
		{name: "address", target: " " + addr + "\n"},
		{name: "address of a run", target: addr + "#" + run, run: run, pinned: true},
		{name: "page", target: server.URL, run: run},
		{name: "page with slash and query", target: server.URL + "/?lang=en", run: run},
		{name: "page below a path", target: server.URL + "/below/", run: run},
		{name: "the list itself", target: server.URL + "/addresses.json", run: run},
		{name: "join link", target: server.URL + "/#run=" + run, run: run, pinned: true},
		{name: "join link of another run", target: server.URL + "/#" + other, err: mesh.ErrAddress, hint: other},
		{name: "one of two runs", target: server.URL + "/two/#" + run, run: run, pinned: true},
		{name: "none of two runs", target: server.URL + "/two/#" + seedlog.LinkOf([]byte("third")).String(), err: mesh.ErrAddress, hint: "runs " + other + ", " + run},
		{name: "too many runs", target: server.URL + "/many/", err: mesh.ErrUnreachable, hint: "evoswarm page"},
		{name: "bad run", target: server.URL + "/#hello", err: mesh.ErrAddress, hint: "run id"},
		{name: "no scheme", target: "example.com:8080", err: mesh.ErrAddress, hint: "http://example.com:8080"},
		{name: "no peer in it", target: "/ip4/127.0.0.1/tcp/4001", err: mesh.ErrAddress, hint: "/p2p/"},
		{name: "nothing there", target: "http://127.0.0.1:1/", err: mesh.ErrUnreachable, hint: "--http"},
		{name: "another page", target: server.URL + "/page", err: mesh.ErrUnreachable, hint: "evoswarm page"},
		{name: "not found", target: server.URL + "/nowhere", err: mesh.ErrUnreachable, hint: "404"},
		{name: "no address", target: server.URL + "/empty", err: mesh.ErrUnreachable, hint: "--bootstrap"},
		{name: "too much", target: server.URL + "/huge", err: mesh.ErrUnreachable, hint: "evoswarm page"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := mesh.Resolve(t.Context(), c.target)
			if !errors.Is(err, c.err) || (err != nil && !strings.Contains(err.Error(), c.hint)) {
				t.Fatalf("got error %v, want %v with %q", err, c.err, c.hint)
			}
			if err == nil && (got.Run != c.run || got.Pinned != c.pinned || len(got.Addresses) != 1 || got.Addresses[0] != addr) {
				t.Errorf("got %+v", got)
			}
		})
	}
}
