//go:build !js

package store

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/storage"
	"github.com/chromedp/chromedp"
)

const browserPage = `<!doctype html><title>running</title><script src="wasm_exec.js"></script><script>
const go = new Go();
WebAssembly.instantiateStreaming(fetch("test.wasm"), go.importObject).then(r => go.run(r.instance)).catch(e => { document.title = "failed: " + e; });
</script>`

// The store in a real browser: written, and found again after a reload.
func TestBrowser(t *testing.T) {
	dir := t.TempDir()
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "test.wasm"), "./testdata/browser")
	build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	glue, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"wasm_exec.js": glue, "index.html": []byte(browserPage)} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer server.Close()
	ctx := newBrowser(t)
	small := 8.0 * (1 << 20) // bytes
	quota := chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, storage.OverrideQuotaForOrigin, storage.OverrideQuotaForOriginParams{Origin: server.URL, QuotaSize: &small})
		return err
	})
	if err := chromedp.Do(ctx, quota); err != nil {
		t.Fatal(err)
	}
	for _, step := range []string{"first", "second", "second"} {
		if got := visit(t, ctx, server.URL+"/?step="+step); got != "ok" {
			t.Fatalf("%s: %s", step, got)
		}
	}
	if got := visit(t, ctx, server.URL+"/?step=full"); got != "ok" {
		t.Errorf("full: %s", got)
	}
	if got := visit(t, ctx, server.URL+"/?step=second"); got != "ok" {
		t.Errorf("after a full quota: %s", got)
	}
}

// newBrowser starts Debian's Chromium on an empty profile.
func newBrowser(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.UserDataDir(t.TempDir()))
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	return ctx
}

// visit opens a page and waits for the title that says how it ended.
func visit(t *testing.T, ctx context.Context, url string) (title string) {
	t.Helper()
	err := chromedp.Do(ctx, chromedp.Navigate(url), chromedp.Poll[chromedp.Void](`document.title !== "running"`))
	if err == nil {
		title, err = chromedp.Run(ctx, chromedp.Title())
	}
	if err != nil {
		t.Fatalf("%s: %v", url, err)
	}
	return strings.TrimSpace(title)
}
