package live

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evoswarm/evoswarm/internal/kernel"
)

// chromium builds the command that runs a js/wasm program in a browser.
func chromium(t *testing.T) string {
	t.Helper()
	path, err := build("chromium", "./testnet/wasmexec/chromium")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestKernelsInChromium runs the tests of the kernels in a worker of the browser.
func TestKernelsInChromium(t *testing.T) {
	cmd := exec.Command("go", "test", "-count=1", "-timeout=5m", "-exec="+chromium(t), "./internal/kernel")
	cmd.Dir, cmd.Env = root, append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestWithoutSIMD128 runs tests of the kernels without SIMD128, as in Node on a processor without
// SSE4.1: the program finds no kernel and computes without.
func TestWithoutSIMD128(t *testing.T) {
	script, err := filepath.Abs(filepath.Join(root, "testnet", "wasmexec", "node.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "test", "-count=1", "-v", "-run=TestGoldenForward|TestUse", "-exec=node --no-enable-sse4-1 "+script, "./internal/kernel")
	cmd.Dir, cmd.Env = root, append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "PASS: TestGoldenForward/portable") || strings.Contains(string(out), "simd128") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestOneHead trains with every strategy for 100 generations, with every kernel of this processor, of Node and of the
// browser's workers: one head each.
func TestOneHead(t *testing.T) {
	native, err := build("heads", "./testnet/live/testdata/heads")
	if err != nil {
		t.Fatal(err)
	}
	js, err := build("heads.wasm", "./testnet/live/testdata/heads", "GOOS=js", "GOARCH=wasm")
	if err != nil {
		t.Fatal(err)
	}
	heads := func(command ...string) string {
		t.Helper()
		cmd := exec.Command(command[0], command[1:]...)
		cmd.Env = append(os.Environ(), "GOOS=", "GOARCH=")
		cmd.Dir = root
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v", cmd, err)
		}
		return string(out)
	}
	want := heads(native, "100", "portable")
	for _, k := range kernel.All()[1:] {
		if got := heads(native, "100", k.Name); got != want {
			t.Errorf("%s: got\n%swant\n%s", k.Name, got, want)
		}
	}
	node, err := filepath.Abs(filepath.Join(root, "testnet", "wasmexec", "node.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	browser := chromium(t)
	for _, c := range [][2]string{{node, "simd128"}, {browser, "simd128"}, {browser, "portable"}} {
		if got := heads(c[0], js, "100", c[1]); got != want {
			t.Errorf("%s in %s: got\n%swant\n%s", c[1], filepath.Base(c[0]), got, want)
		}
	}
}
