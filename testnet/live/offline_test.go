package live

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
)

// isKept holds once the browser keeps the page, all of it.
const isKept = `(navigator.serviceWorker.getRegistration().then((r) => globalThis.swActive = r?.active?.state === "activated"), globalThis.swActive === true)`

// pageBuild is the build that a page says it is.
const pageBuild = `document.querySelector("meta[name=build]")?.content ?? ""`

// TestOfflineStart: a page that was open once opens without its node, says so, and helps again as soon as the node is
// back. While the node answers, its page is the one that opens: no older build is.
func TestOfflineStart(t *testing.T) {
	var s swarm
	n := s.serve(t, "node", "--bootstrap", "--train", "CartPole-v1", "--workers", "1")
	var another atomic.Bool
	address := swapped(t, n.page, &another)
	b := s.newTab(t, address)
	b.open(t)
	s.await(t, "the tab helps", b.reads("Your computer is helping"))
	s.await(t, "the browser keeps the page", b.has(isKept))
	build, err := ask[string](b, pageBuild)
	if err != nil || build == "" {
		t.Fatalf("the page has build %q, %v", build, err)
	}

	another.Store(true)
	b.do(t, "reloading", chromedp.Reload())
	if got, err := ask[string](b, pageBuild); err != nil || got != "another" {
		t.Errorf("with another build at the node the page opens as %q, %v", got, err)
	}
	another.Store(false)

	n.kill()
	b.do(t, "reloading without the node", chromedp.Reload())
	if got, err := ask[string](b, pageBuild); err != nil || got != build {
		t.Fatalf("without the node the page opens as %q, %v", got, err)
	}
	s.await(t, "the page says what is wrong", b.reads("The node may be restarting"))
	b.picture(t, "offline")
	n.start(t)
	s.await(t, "the tab helps again", b.reads("Your computer is helping"))
}

// keptPrograms names the programs and worlds that the browser keeps.
const keptPrograms = `(caches.keys().then(async (names) => {
	const kept = [];
	for (const name of names) kept.push(...(await (await caches.open(name)).keys()).map((r) => /([^/]*)-[^/]*\.wasm$/.exec(r.url)?.[1]).filter(Boolean));
	globalThis.keptPrograms = kept.sort().join(" ");
}), globalThis.keptPrograms ?? "")`

// TestOfflineWorlds: after one visit the browser keeps what computes the run's world, and nothing of other worlds; it
// takes them from there when the page opens again.
func TestOfflineWorlds(t *testing.T) {
	for env, want := range map[string]string{"Hopper-v5": "compute_mujoco mujoco tab", "Pendulum-v1": "compute tab worlds"} {
		t.Run(env, func(t *testing.T) {
			var s swarm
			n := s.serve(t, "node", "--bootstrap", "--train", env, "--workers", "1")
			address, fetched, forget := watched(t, n.page)
			b := s.newTab(t, address)
			b.open(t)
			s.await(t, "the tab helps", b.reads("Your computer is helping"))
			s.await(t, "the browser keeps the page", b.has(isKept))
			s.await(t, "the browser keeps "+want, func() string {
				if got, err := ask[string](b, keptPrograms); err != nil || got != want {
					return fmt.Sprintf("it keeps %q, %v", got, err)
				}
				return ""
			})
			if before := fetched(); strings.Join(before, " ") != want {
				t.Errorf("the first visit fetched %v, want %s", before, want)
			}
			forget()
			b.do(t, "reloading", chromedp.Reload())
			s.await(t, "the tab helps again", b.reads("Your computer is helping"))
			s.await(t, "the worlds in C play", b.reads("Engine: c."))
			if after := fetched(); len(after) > 0 {
				t.Errorf("the second visit fetched %v", after)
			}
		})
	}
}

// swapped serves what page serves, while another is set as another build; 502 where page does not answer.
func swapped(t *testing.T, page string, another *atomic.Bool) string {
	t.Helper()
	target, err := url.Parse(page)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.ModifyResponse = func(r *http.Response) error {
		if !another.Load() || r.Request.URL.Path != "/" {
			return nil
		}
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return err
		}
		text := string(body)
		at := strings.Index(text, `name="build" content="`) + len(`name="build" content="`)
		body = []byte(text[:at] + "another" + text[at+strings.IndexByte(text[at:], '"'):])
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		r.Header.Set("Content-Length", strconv.Itoa(len(body)))
		r.Header.Del("ETag")
		return nil
	}
	director := proxy.Director
	proxy.Director = func(r *http.Request) {
		director(r)
		r.Header.Set("Accept-Encoding", "identity")
		r.Header.Del("If-None-Match")
	}
	proxy.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }
	server := httptest.NewServer(proxy)
	t.Cleanup(server.Close)
	return server.URL + "/"
}
