package live

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"testing"
)

// TestOldPage opens the page through a proxy that gives the node another build's name, as when a node was updated while
// the page was open: only then must the page say so.
func TestOldPage(t *testing.T) {
	var s swarm
	n := s.newNode(t, "bootstrap", "--bootstrap", "--train", "CartPole-v1").start(t)
	s.await(t, "the node answers", func() string {
		if _, err := n.status(); err != nil {
			return err.Error()
		}
		return ""
	})
	for _, c := range []struct {
		name string
		url  string
		want bool // whether the page calls itself old
	}{
		{"same build", n.page, false},
		{"other build", updated(t, n.page), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := s.newTab(t, c.url)
			b.open(t)
			s.await(t, "the page has read the node's addresses", func() string {
				if b.mark("evoswarm-running") < 0 {
					return "the tab does not take part yet"
				}
				return ""
			})
			hidden, err := ask[bool](b, `document.getElementById("stale").hidden`)
			if err != nil || hidden == c.want {
				t.Errorf("got a notice %t (%v), want %t", !hidden, err, c.want)
			}
			b.close()
		})
	}
}

// updated serves what page serves, with another build in the address list.
func updated(t *testing.T, page string) string {
	t.Helper()
	target, err := url.Parse(page)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.ModifyResponse = func(r *http.Response) error {
		if r.Request.URL.Path != "/addresses.json" {
			return nil
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return err
		}
		body = regexp.MustCompile(`"build":\s*"[^"]*"`).ReplaceAll(body, []byte(`"build":"another"`))
		r.Body = io.NopCloser(bytes.NewReader(body))
		r.ContentLength = int64(len(body))
		r.Header.Del("Content-Length")
		return nil
	}
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	return server.URL + "/"
}
