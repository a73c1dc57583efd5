package lint

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// symbol and decoded match lines of GNU objdump -d: the head of a function, and an instruction's mnemonic.
var (
	symbol  = regexp.MustCompile(`^[0-9a-f]+ <(.+)>:$`)
	decoded = regexp.MustCompile(`^\s+[0-9a-f]+:\s+(?:\{[a-z0-9]+\}\s+)?(?:(?:lock|rep|repz|repnz|data16)\s+)*([a-z0-9]+)`)
)

// disassembly builds a binary for amd64 and reads the functions whose name begins with prefix as the processor will.
// So an instruction written as bytes is seen too.
func disassembly(t *testing.T, prefix string, build ...string) (found []string, functions int) {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "binary")
	cmd := exec.Command("go", append(build[:2:2], append([]string{"-o", binary}, build[2:]...)...)...)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "GOAMD64=v1", "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(build, " "), err, out)
	}
	out, err := exec.Command("objdump", "-d", "--no-show-raw-insn", binary).Output()
	if err != nil {
		t.Fatalf("objdump (apt-get install binutils): %v", err)
	}
	name := ""
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		line := lines.Text()
		if m := symbol.FindStringSubmatch(line); m != nil {
			name = ""
			if strings.HasPrefix(m[1], prefix) {
				name = m[1]
				functions++
			}
			continue
		}
		m := decoded.FindStringSubmatch(line)
		if name == "" || m == nil {
			continue
		}
		if mnemonic := strings.ToUpper(m[1]); fused.MatchString(mnemonic) || mnemonic == "BAD" {
			found = append(found, fmt.Sprintf("%s: %s", strings.TrimSuffix(strings.TrimPrefix(name, prefix), ".abi0"), mnemonic))
		}
	}
	return found, functions
}

// All assembly of floors 0 to 3 is that of internal/kernel, which its test binary has whole.
func TestFusionDisassembly(t *testing.T) {
	found, functions := disassembly(t, module+"/internal/kernel.", "test", "-c", "./internal/kernel")
	if functions < 16 {
		t.Fatalf("%d functions only: was it read?", functions)
	}
	for _, f := range found {
		t.Error(f)
	}
}

func TestFusionDisassemblyFixture(t *testing.T) {
	found, _ := disassembly(t, "main.", "build", "-trimpath", "./internal/lint/testdata/fusion_binary")
	if want := []string{"axpy: VFMADD231SS"}; !slices.Equal(found, want) {
		t.Errorf("got %q, want %q", found, want)
	}
}

// Another room's assembly would have to be disassembled too.
func TestAssemblyPlaces(t *testing.T) {
	for _, room := range []string{"internal", "envs", "coordinator"} {
		names, err := exec.Command("git", "-C", root, "ls-files", "--", room+"/*.s").Output()
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range strings.Fields(string(names)) {
			if dir := filepath.ToSlash(filepath.Dir(name)); dir != "internal/kernel" && !strings.HasPrefix(dir, "internal/lint/testdata/") {
				t.Errorf("%s: assembly outside of internal/kernel, which is not disassembled", name)
			}
		}
	}
}
