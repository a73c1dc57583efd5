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

const browserPage = `<!doctype html><title>running</title><script src="wasm_exec.js"></script><script type="module">
import { kernelBorder } from "./border.mjs";
import { worldsBorder } from "./worlds.mjs";
const bytes = async (name) => (await fetch(name)).arrayBuffer();
const run = async () => {
  const go = new Go();
  const border = await kernelBorder(await bytes("border.wasm"), await bytes("simd128.wasm"));
  go.importObject.evokernel = border.imports;
  go.importObject.evoworlds = worldsBorder().imports; // the store evaluates nothing
  const { instance } = await WebAssembly.instantiateStreaming(fetch("test.wasm"), go.importObject);
  await border.connect(instance);
  await go.run(instance);
};
run().catch((e) => { document.title = "failed: " + e; });
</script>`

// The store in a real browser: written, and found again after a reload.
func TestBrowser(t *testing.T) {
	dir := t.TempDir()
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "test.wasm"), "./testdata/browser")
	build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	files := map[string]string{"wasm_exec.js": filepath.Join(goRoot(t), "lib", "wasm", "wasm_exec.js")}
	for _, name := range []string{"border.mjs", "border.wasm", "simd128.wasm"} {
		files[name] = filepath.Join("..", "kernel", name)
	}
	files["worlds.mjs"] = filepath.Join("..", "worlds", "border.mjs")
	for name, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, name), text)
	}
	write(t, filepath.Join(dir, "index.html"), []byte(browserPage))
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

// goRoot is where Go's own files are.
func goRoot(t *testing.T) string {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(root))
}

func write(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
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
