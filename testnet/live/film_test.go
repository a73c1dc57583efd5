package live

import (
	"fmt"
	"net/url"
	"os"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestFilm has the page record an episode in Chromium, and plays what it saved in a tab of its own; and has Firefox
// record one.
func TestFilm(t *testing.T) {
	var s swarm
	n := s.serve(t, "node", "--bootstrap", "--train", "Pendulum-v1", "--workers", "1")
	b := s.newTab(t, n.page)
	b.open(t)
	s.await(t, "there is something to film", b.has(`!document.getElementById("film").disabled`))
	b.do(t, "filming", chromedp.Evaluate[chromedp.Void](`document.getElementById("film").click()`))
	s.await(t, "the page records", b.reads("Recording."))
	s.await(t, "the film is saved", b.reads("The film is saved."))
	name := s.downloaded(t, ".webm")
	if info, err := os.Stat(name); err != nil || info.Size() < 10_000 {
		t.Errorf("the film is %v, %v", info, err)
	}
	b.do(t, "playing the film", chromedp.Navigate((&url.URL{Scheme: "file", Path: name}).String()))
	s.await(t, "the film plays", b.has(`document.querySelector("video")?.videoWidth === 640 && document.querySelector("video").currentTime > 2`))
	b.close()

	f := newFirefox(t)
	f.open(t, n.page)
	reads := func(id, want string) func() string {
		return func() string {
			if got, err := f.text(fmt.Sprintf("document.getElementById(%q).textContent", id)); err != nil || got != want {
				return fmt.Sprintf("%q, %v", got, err)
			}
			return ""
		}
	}
	s.await(t, "Firefox has something to film", func() string {
		got, err := f.text(`String(document.getElementById("film").disabled)`)
		if err != nil || got != "false" {
			return fmt.Sprint(got, err)
		}
		return ""
	})
	if _, err := f.text(`globalThis.film = "";
		const make = URL.createObjectURL;
		URL.createObjectURL = (blob) => (globalThis.film = blob.type + " " + (blob.size > 10_000), make.call(URL, blob));
		document.getElementById("film").click(); ""`); err != nil {
		t.Fatal(err)
	}
	s.await(t, "Firefox saves the film", reads("film-words", "The film is saved."))
	if got, err := f.text("globalThis.film"); err != nil || got != "video/webm;codecs=vp8 true" {
		t.Errorf("Firefox saved %q, %v", got, err)
	}
}
