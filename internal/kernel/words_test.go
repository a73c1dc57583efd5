//go:build !js

package kernel

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var (
	encoded = regexp.MustCompile(`(?m)^\tWORD \$0x([0-9a-f]{8}) // (.+)$`)
	decoded = regexp.MustCompile(`(?m)^ +[0-9a-f]+:\t[0-9a-f]{8} \t(.+)$`)
)

// Instructions for arm64 that are written as words are what their comments say, in the eyes of objdump.
func TestWords(t *testing.T) {
	source, err := os.ReadFile("asm_arm64.s")
	if err != nil {
		t.Fatal(err)
	}
	words := encoded.FindAllStringSubmatch(string(source), -1)
	if n := strings.Count(string(source), "WORD"); n != len(words) || n == 0 {
		t.Fatalf("%d words with comments, %d in all", len(words), n)
	}
	var code []byte
	for _, w := range words {
		bits, err := strconv.ParseUint(w[1], 16, 32)
		if err != nil {
			t.Fatal(err)
		}
		code = binary.LittleEndian.AppendUint32(code, uint32(bits))
	}
	file := filepath.Join(t.TempDir(), "code")
	if err := os.WriteFile(file, code, 0o600); err != nil {
		t.Fatal(err)
	}
	// -z: no run of equal words is left out.
	out, err := exec.Command("aarch64-linux-gnu-objdump", "-D", "-z", "-b", "binary", "-m", "aarch64", file).Output()
	if err != nil {
		t.Fatalf("aarch64-linux-gnu-objdump (apt-get install binutils-aarch64-linux-gnu): %v", err)
	}
	read := decoded.FindAllStringSubmatch(string(out), -1)
	if len(read) != len(words) {
		t.Fatalf("objdump read %d words of %d", len(read), len(words))
	}
	for i, w := range words {
		if got := strings.ReplaceAll(read[i][1], "\t", " "); got != w[2] {
			t.Errorf("word %s: got %q, want %q", w[1], got, w[2])
		}
	}
}
