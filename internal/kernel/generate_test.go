//go:build !js

package kernel

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestGenerated runs the generators and compares their output with what is committed.
func TestGenerated(t *testing.T) {
	for name, c := range map[string]struct {
		program, files []string
	}{
		"amd64":   {[]string{"./amd64", "-pkg", "kernel", "-out", "asm_amd64.s", "-stubs", "asm_amd64.go"}, []string{"asm_amd64.s", "asm_amd64.go"}},
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

// TestOnlyAVX2: registers from 16 on, and those of masks, came with AVX-512. avo takes them when it runs out of others.
func TestOnlyAVX2(t *testing.T) {
	later := regexp.MustCompile(`\b([XY](1[6-9]|2\d|3[01])|Z\d+|K\d)\b`)
	for name, code := range functions(t, "AVX2") {
		if register := later.FindString(code); register != "" {
			t.Errorf("%s has %s", name, register)
		}
	}
}

// functions returns those of the assembly for amd64 whose names end with suffix.
func functions(t *testing.T, suffix string) map[string]string {
	code, err := os.ReadFile("asm_amd64.s")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, f := range strings.Split(string(code), "\nTEXT ")[1:] {
		if name, _, _ := strings.Cut(f, "("); strings.HasSuffix(name, suffix) {
			found[name] = f
		}
	}
	if len(found) < 8 {
		t.Fatalf("found %d functions of %s only", len(found), suffix)
	}
	return found
}

// sse2Only are the instructions on vectors that the kernel sse2 has; every amd64 processor knows them.
const sse2Only = `ADDPS ANDNPS ANDPS CMPPS DIVPS MAXPS MINPS MOVAPS MOVD MOVLHPS MOVSD MOVSS MOVUPS MULPS ORPS PADDQ PMULULQ POR
	PSHUFD PSLLDQ PSRLDQ PSRLQ PUNPCKHQDQ PUNPCKLLQ PUNPCKLQDQ PXOR SHUFPS SUBPS UNPCKLPS XORPS`

// TestOnlySSE2: the list of kernels has sse2 for every processor, however old.
func TestOnlySSE2(t *testing.T) {
	known := append(strings.Fields(sse2Only), "MOVQ")
	for name, code := range functions(t, "SSE2") {
		for _, m := range regexp.MustCompile(`(?m)^\t([A-Z0-9]+) .*\b[XYZK]\d`).FindAllStringSubmatch(code, -1) {
			if !slices.Contains(known, m[1]) {
				t.Errorf("%s has %s", name, strings.TrimSpace(m[0]))
			}
		}
	}
}
