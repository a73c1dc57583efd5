package live

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/chromedp"
)

// tab is a volunteer's Chromium with its own profile and one tab, which shows the page.
type tab struct {
	profile, downloads string
	url                string
	flags              []chromedp.ExecAllocatorOption // besides those of all tabs
	ctx                context.Context
	cancel             context.CancelFunc
}

// newTab prepares a browser that has never been used.
func (s *swarm) newTab(t *testing.T, url string) *tab {
	t.Helper()
	profile, err := os.MkdirTemp(programs, "profile-") // not the test's: Chromium's helpers may still write to it
	if err != nil {
		t.Fatal(err)
	}
	b := &tab{url: url, profile: profile, downloads: t.TempDir()}
	s.tab = b
	t.Cleanup(b.close)
	return b
}

// chromiumFlags turn off everything but the page.
var chromiumFlags = []string{"disable-gpu", "disable-quic", "disable-component-update"}

// open starts or restarts the browser, and opens the page.
func (b *tab) open(t *testing.T) {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.UserDataDir(b.profile), chromedp.WindowSize(1280, 900))
	for _, f := range chromiumFlags {
		options = append(options, chromedp.Flag(f, true))
	}
	options = append(options, b.flags...)
	ctx, cancelAllocator := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, cancelContext := chromedp.NewContext(ctx)
	b.ctx, b.cancel = ctx, func() { cancelContext(); cancelAllocator() }
	if err := chromedp.Do(ctx); err != nil { // not with a timeout: the browser lives as long as the context of the first call
		t.Fatalf("starting Chromium: %v", err)
	}
	_, err := chromedp.CallBrowser(ctx, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
		Behavior: browser.SetDownloadBehaviorBehaviorAllow, DownloadPath: b.downloads})
	if err != nil {
		t.Fatalf("allowing downloads: %v", err)
	}
	b.do(t, "opening "+b.url, chromedp.Navigate(b.url))
}

// close shuts the browser down, if it runs, and waits for it.
func (b *tab) close() {
	if b.cancel == nil {
		return
	}
	ctx, cancel := context.WithTimeout(b.ctx, 10*time.Second)
	defer cancel()
	chromedp.Cancel(ctx) // cleanly, if it can
	b.cancel()
	b.cancel = nil
	chromedp.FromContext(b.ctx).Allocator.Wait()
}

// kill ends the browser with SIGKILL.
func (b *tab) kill(t *testing.T) {
	t.Helper()
	process := chromedp.FromContext(b.ctx).Browser.Process()
	if err := process.Kill(); err != nil {
		t.Fatalf("killing Chromium: %v", err)
	}
	b.close()
}

func (b *tab) do(t *testing.T, what string, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}

// ask evaluates an expression in the page.
func ask[T any](b *tab, expression string) (T, error) {
	ctx, cancel := context.WithTimeout(b.ctx, 10*time.Second)
	defer cancel()
	return chromedp.Run(ctx, chromedp.Evaluate[T](expression))
}

// number reads a count that the page shows; 0 if it shows none yet.
func (b *tab) number(id string) uint64 {
	text, err := ask[string](b, fmt.Sprintf("document.getElementById(%q)?.textContent ?? ''", id))
	if err != nil {
		return 0
	}
	digits := strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1 // a thousands separator
		}
		return r
	}, text)
	n, err := strconv.ParseUint(digits, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// mark returns when the page recorded an event, in milliseconds since it was opened; negative if it has not.
func (b *tab) mark(name string) float64 {
	at, err := ask[float64](b, fmt.Sprintf("performance.getEntriesByName(%q)[0]?.startTime ?? -1", name))
	if err != nil {
		return -1
	}
	return at
}

// describe is what the volunteer reads.
func (b *tab) describe() string {
	if b.cancel == nil {
		return "closed"
	}
	text, err := ask[string](b, "document.body.innerText")
	return fmt.Sprintf("%s %v", text, err)
}

// download presses the button and returns the file that the browser wrote.
func (s *swarm) download(t *testing.T) string {
	t.Helper()
	b := s.tab
	for f := range b.files() { // a browser gives a second file of a name another one, or asks
		if err := os.Remove(filepath.Join(b.downloads, f)); err != nil {
			t.Fatal(err)
		}
	}
	b.do(t, "pressing the button", chromedp.Evaluate[chromedp.Void](`document.getElementById("log").click()`))
	name := ""
	s.await(t, "the log is downloaded", func() string {
		for f := range b.files() {
			if strings.HasSuffix(f, ".seedlog") {
				name = filepath.Join(b.downloads, f)
				return ""
			}
		}
		return fmt.Sprintf("the folder has %v", b.files())
	})
	return name
}

// files lists what was downloaded, or is being.
func (b *tab) files() map[string]bool {
	list, err := os.ReadDir(b.downloads)
	if err != nil {
		return nil
	}
	names := map[string]bool{}
	for _, f := range list {
		names[f.Name()] = true
	}
	return names
}
