// Command chromium runs a js/wasm program of this module in a Web Worker of a headless Chromium, with its kernels: what
// testnet/wasmexec/node.mjs does in Node. It is meant for go test (chromium.sh is this command for go test -exec):
//
//	GOOS=js GOARCH=wasm go test -exec="$PWD/testnet/wasmexec/chromium.sh" ./internal/kernel
//
// The program can read files below the current folder; files that it writes exist as long as it runs. The command exits
// with the program's status. CHROMIUM_JS_FLAGS are flags for V8.
package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/chromedp/chromedp"
)

//go:embed worker.mjs
var script []byte

const page = `<!doctype html><title>evoswarm</title><script>
const worker = new Worker("worker.mjs", { type: "module" });
worker.onerror = (event) => fetch("end?status=2", { method: "POST", body: event.message ?? "the worker's script failed" });
</script>`

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: chromium PROGRAM [ARGUMENT ...]")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	status, err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "chromium:", err)
		status = 2
	}
	os.Exit(status)
}

// run serves the program to a browser until it has ended, and returns its exit status.
func run(ctx context.Context, args []string) (status int, err error) {
	assets, err := findAssets(args[0])
	if err != nil {
		return 0, err
	}
	h := &host{assets: assets, args: args, ended: make(chan int, 1)}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	server := &http.Server{Handler: h.routes()}
	go server.Serve(listener)
	defer server.Close()

	profile, err := os.MkdirTemp("", "evoswarm-chromium-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(profile)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox, chromedp.UserDataDir(profile))
	for _, f := range []string{"disable-gpu", "disable-component-update"} {
		options = append(options, chromedp.Flag(f, true))
	}
	if flags := os.Getenv("CHROMIUM_JS_FLAGS"); flags != "" {
		options = append(options, chromedp.Flag("js-flags", flags))
	}
	allocator, cancelAllocator := chromedp.NewExecAllocator(ctx, options...)
	defer cancelAllocator()
	browser, cancel := chromedp.NewContext(allocator)
	defer func() {
		cancel()
		chromedp.FromContext(browser).Allocator.Wait()
	}()
	if err := chromedp.Do(browser, chromedp.Navigate("http://"+listener.Addr().String())); err != nil {
		return 0, fmt.Errorf("starting Chromium: %w", err)
	}
	select {
	case status = <-h.ended:
		return status, nil
	case <-browser.Done():
		return 0, errors.New("the browser ended before the program did")
	}
}

// findAssets names the files that the worker fetches: the program, Go's glue, the kernels and the worlds.
func findAssets(program string) (map[string]string, error) {
	goroot, err := command("env", "GOROOT")
	if err != nil {
		return nil, err
	}
	dirs, err := command("list", "-f", "{{.Dir}}", "github.com/evoswarm/evoswarm/internal/kernel", "github.com/evoswarm/evoswarm/internal/worlds")
	if err != nil {
		return nil, err
	}
	kernels, worlds, _ := strings.Cut(dirs, "\n")
	assets := map[string]string{"program.wasm": program, "wasm_exec.js": filepath.Join(goroot, "lib", "wasm", "wasm_exec.js")}
	for _, name := range []string{"border.mjs", "border.wasm", "simd128.wasm"} {
		assets[name] = filepath.Join(kernels, name)
	}
	assets["worlds.mjs"], assets["modules.json"] = filepath.Join(worlds, "border.mjs"), filepath.Join(worlds, "modules.json")
	modules, err := filepath.Glob(filepath.Join(worlds, "*.wasm"))
	if err != nil {
		return nil, err
	}
	for _, file := range modules {
		assets[filepath.Base(file)] = file
	}
	return assets, nil
}

func command(args ...string) (string, error) {
	out, err := exec.Command("go", args...).Output()
	if err != nil {
		return "", fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out)), nil
}

// host answers the worker's requests.
type host struct {
	assets map[string]string
	args   []string
	ended  chan int
}

func (h *host) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, page)
	})
	mux.HandleFunc("GET /{name}", h.asset)
	mux.HandleFunc("GET /args", func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, strings.Join(h.args, "\x00"))
	})
	mux.HandleFunc("GET /file", h.file)
	mux.HandleFunc("POST /write", func(w http.ResponseWriter, r *http.Request) {
		io.Copy(stream(r.FormValue("fd")), r.Body)
	})
	mux.HandleFunc("POST /end", h.end)
	return isolated(mux)
}

// isolated sets the headers of a cross-origin isolated page, for which Chromium's clock is finer.
func isolated(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cross-Origin-Opener-Policy", "same-origin")
		w.Header().Set("Cross-Origin-Embedder-Policy", "require-corp")
		w.Header().Set("Cache-Control", "no-store")
		next.ServeHTTP(w, r)
	})
}

func stream(fd string) io.Writer {
	if fd == "2" {
		return os.Stderr
	}
	return os.Stdout
}

func (h *host) asset(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("name")
	types := map[string]string{".mjs": "text/javascript", ".js": "text/javascript", ".wasm": "application/wasm"}
	w.Header().Set("Content-Type", types[filepath.Ext(name)])
	if name == "worker.mjs" {
		w.Write(script)
		return
	}
	path, ok := h.assets[name]
	if !ok {
		http.NotFound(w, r)
		return
	}
	http.ServeFile(w, r, path)
}

// file serves a file below the current folder.
func (h *host) file(w http.ResponseWriter, r *http.Request) {
	root, err := os.OpenRoot(".")
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer root.Close()
	data, err := root.ReadFile(strings.TrimPrefix(r.FormValue("path"), "/"))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Write(data)
}

// end takes the program's exit status and last message.
func (h *host) end(w http.ResponseWriter, r *http.Request) {
	status, err := strconv.Atoi(r.FormValue("status"))
	if err != nil {
		status = 2
	}
	io.Copy(os.Stderr, r.Body)
	select {
	case h.ended <- status:
	default: // it has already ended
	}
}
