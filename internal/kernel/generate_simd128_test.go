//go:build !js

package kernel

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestGeneratedSIMD128 makes the modules for WebAssembly anew and compares them with what is committed.
func TestGeneratedSIMD128(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command("go", "-C", "_gen", "run", "./simd128", "-out", dir)
	cmd.Env = append(os.Environ(), "GOOS=", "GOARCH=", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, name := range []string{"border.wasm", "simd128.wasm"} {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not what _gen makes: GOOS=js GOARCH=wasm go generate ./internal/kernel", name)
		}
	}
}
