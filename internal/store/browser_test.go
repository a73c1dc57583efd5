//go:build !js

package store

import (
	"context"
	"fmt"
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
// The longest task of this thread since the program set it to 0. [ms]
globalThis.longest = 0;
new PerformanceObserver((list) => list.getEntries().forEach((e) => (globalThis.longest = Math.max(globalThis.longest, e.duration)))).observe({ type: "longtask" });
// Makes a database as an earlier version of the page left it: rows are [store, key, value].
globalThis.makeDatabase = (name, version, stores, rows) => new Promise((resolve, reject) => {
  const request = indexedDB.open(name, version);
  request.onupgradeneeded = () => stores.forEach((store) => request.result.createObjectStore(store));
  request.onerror = () => reject(request.error);
  request.onsuccess = () => {
    const transaction = request.result.transaction(stores, "readwrite");
    rows.forEach(([store, key, value]) => transaction.objectStore(store).put(value, key));
    transaction.oncomplete = () => { request.result.close(); resolve(); };
    transaction.onabort = () => reject(transaction.error);
  };
});
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

// The store in a real browser: written, and found again after a reload; from an earlier version; longer than memory;
// and with a quota that is used up.
func TestBrowser(t *testing.T) {
	url := serveBrowser(t)
	ctx := newBrowser(t, 2*time.Minute)
	small := 8.0 * (1 << 20) // bytes
	quota := chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, storage.OverrideQuotaForOrigin, storage.OverrideQuotaForOriginParams{Origin: url, QuotaSize: &small})
		return err
	})
	if err := chromedp.Do(ctx, quota); err != nil {
		t.Fatal(err)
	}
	for _, step := range []string{"first", "second", "second"} {
		if got := visit(t, ctx, url+"/?step="+step); got != "ok" {
			t.Fatalf("%s: %s", step, got)
		}
	}
	if got := visit(t, ctx, url+"/?step=full"); got != "ok" {
		t.Errorf("full: %s", got)
	}
	if got := visit(t, ctx, url+"/?step=second"); got != "ok" {
		t.Errorf("after a full quota: %s", got)
	}
	if got := visit(t, ctx, url+"/?step=room"); got != "ok" {
		t.Errorf("another run after a full quota: %s", got)
	}
	other := strings.Replace(url, "127.0.0.1", "localhost", 1) // an origin without that quota
	for _, step := range []string{"old", "long"} {
		if got := visit(t, ctx, other+"/?step="+step); got != "ok" {
			t.Errorf("%s: %s", step, got)
		}
	}
}

// BenchmarkBrowserOpen fills the database of a real browser with generations as large as those of CartPole-v1 alone,
// and opens it. open-ms is how long that takes, longest-ms the longest task of the thread meanwhile, heap-MB what the
// program holds then, disk-B/entry what the browser says that it stores. Run it with -benchtime 1x.
func BenchmarkBrowserOpen(b *testing.B) {
	url := serveBrowser(b)
	ctx := newBrowser(b, time.Hour)
	for _, length := range []int{1000, 10_000} {
		b.Run(fmt.Sprint(length), func(b *testing.B) {
			if got := visit(b, ctx, fmt.Sprintf("%s/?step=grow&length=%d", url, length)); !strings.HasPrefix(got, "ok") {
				b.Fatal(got)
			}
			for b.Loop() {
				var ms, longest, heap, disk float64
				got := visit(b, ctx, url+"/?step=open")
				if _, err := fmt.Sscanf(got, "ok %f %f %f %f", &ms, &longest, &heap, &disk); err != nil {
					b.Fatal(got)
				}
				b.ReportMetric(ms, "open-ms")
				b.ReportMetric(longest, "longest-ms")
				b.ReportMetric(heap, "heap-MB")
				b.ReportMetric(disk, "disk-B/entry")
			}
		})
	}
}

// serveBrowser builds the test's page and serves it.
func serveBrowser(t testing.TB) (url string) {
	t.Helper()
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
	t.Cleanup(server.Close)
	return server.URL
}

// goRoot is where Go's own files are.
func goRoot(t testing.TB) string {
	t.Helper()
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(root))
}

func write(t testing.TB, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// newBrowser starts Debian's Chromium on an empty profile.
func newBrowser(t testing.TB, most time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), most)
	t.Cleanup(cancel)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.UserDataDir(t.TempDir()))
	ctx, cancel = chromedp.NewExecAllocator(ctx, options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	return ctx
}

// visit opens a page and waits for the title that says how it ended.
func visit(t testing.TB, ctx context.Context, url string) (title string) {
	t.Helper()
	err := chromedp.Do(ctx, chromedp.Navigate(url), chromedp.Poll[chromedp.Void](`document.title !== "running"`, chromedp.WithPollingTimeout(5*time.Minute)))
	if err == nil {
		title, err = chromedp.Run(ctx, chromedp.Title())
	}
	if err != nil {
		t.Fatalf("%s: %v", url, err)
	}
	return strings.TrimSpace(title)
}
