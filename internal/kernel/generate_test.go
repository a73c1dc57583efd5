//go:build !js

package kernel

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestGenerated runs the generators anew and compares what they make with what is committed.
func TestGenerated(t *testing.T) {
	for name, c := range map[string]struct {
		program, files []string
	}{
		"amd64":   {[]string{".", "-pkg", "kernel", "-out", "asm_amd64.s", "-stubs", "asm_amd64.go"}, []string{"asm_amd64.s", "asm_amd64.go"}},
		"arm64":   {[]string{"./arm64", "-out", "."}, []string{"asm_arm64.s", "asm_arm64.go"}},
		"simd128": {[]string{"./simd128", "-out", "."}, []string{"border.wasm", "simd128.wasm"}},
	} {
		t.Run(name, func(t *testing.T) { generated(t, c.program, c.files) })
	}
}

// generated runs a program of _gen in a folder of its own.
func generated(t *testing.T, program, files []string) {
	dir := t.TempDir()
	binary := filepath.Join(dir, "generator")
	build := exec.Command("go", "-C", "_gen", "build", "-o", binary, program[0])
	build.Env = append(os.Environ(), "GOOS=", "GOARCH=", "GOFLAGS=")
	run := exec.Command(binary, program[1:]...)
	run.Dir = dir
	for _, cmd := range []*exec.Cmd{build, run} {
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	for _, name := range files {
		got, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Ext(name) != ".wasm" {
			// The first line has the command.
			_, got, _ = bytes.Cut(got, []byte("\n"))
			_, want, _ = bytes.Cut(want, []byte("\n"))
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not what _gen makes: go generate ./internal/kernel", name)
		}
	}
}
