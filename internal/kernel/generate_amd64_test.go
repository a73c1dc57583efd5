package kernel

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestGenerated makes the assembly anew and compares it with what is committed.
func TestGenerated(t *testing.T) {
	dir := t.TempDir()
	asm, stubs := filepath.Join(dir, "asm_amd64.s"), filepath.Join(dir, "asm_amd64.go")
	cmd := exec.Command("go", "-C", "_gen", "run", ".", "-pkg", "kernel", "-out", asm, "-stubs", stubs)
	cmd.Env = append(os.Environ(), "GOOS=", "GOARCH=", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, made := range []string{asm, stubs} {
		got, err := os.ReadFile(made)
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(filepath.Base(made))
		if err != nil {
			t.Fatal(err)
		}
		// The first line has the command.
		_, got, _ = bytes.Cut(got, []byte("\n"))
		_, want, _ = bytes.Cut(want, []byte("\n"))
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not what _gen makes: go generate ./internal/kernel", filepath.Base(made))
		}
	}
}
