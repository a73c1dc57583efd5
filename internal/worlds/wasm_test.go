//go:build !js

package worlds

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// TestBuild: the name of the sources in Go and in each module is that of the sources as they are.
func TestBuild(t *testing.T) {
	for i := range Modules {
		t.Run(Modules[i].Name, func(t *testing.T) { testBuild(t, i) })
	}
}

func testBuild(t *testing.T, number int) {
	h := sha256.New()
	for _, name := range []string{"worlds.c", "prelude.h", "host.c"} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		h.Write(data)
	}
	for _, p := range Packages(number) {
		fmt.Fprintf(h, "WORLD(%s) ", path.Base(p))
	}
	build, file := builds[number], Modules[number].Name+".wasm"
	want := binary.LittleEndian.Uint64(h.Sum(nil))
	if build != want {
		t.Fatalf("build.go has %#x, the sources are %#x: go generate ./internal/worlds", build, want)
	}
	module, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var constant []byte // i64.const
	for x := int64(want); ; x >>= 7 {
		low := byte(x & 0x7f)
		if x>>6 == 0 || x>>6 == -1 {
			constant = append(constant, low)
			break
		}
		constant = append(constant, low|0x80)
	}
	if !bytes.Contains(module, append([]byte{0x42}, constant...)) {
		t.Errorf("%s was made from other sources: go generate ./internal/worlds, with clang 14 and lld", file)
	}
}

// TestWasm compiles the modules again where the compiler is the one that made it. Others give other bytes, and the
// same results.
func TestWasm(t *testing.T) {
	version, err := exec.Command("clang", "--version").Output()
	if err != nil || !strings.Contains(string(version), "Debian clang version 14.0.6") {
		t.Skipf("needs clang 14.0.6 of Debian 12: %s %v", version, err)
	}
	out := t.TempDir()
	cmd := exec.Command("go", "run", "./internal/worlds/_gen", "-wasm", out)
	cmd.Dir = filepath.Join("..", "..")
	if message, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, message)
	}
	for _, m := range Modules {
		got, err := os.ReadFile(filepath.Join(out, m.Name+".wasm"))
		if err != nil {
			t.Fatal(err)
		}
		want, err := os.ReadFile(m.Name + ".wasm")
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s.wasm is not what its sources compile to: go generate ./internal/worlds", m.Name)
		}
	}
}
