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
	decoded = regexp.MustCompile(`^\s+[0-9a-f]+:\s+(?:\{[a-z0-9]+\}\s+)?(?:(?:lock|rep|repz|repnz|data16)\s+)*(\.?[a-z0-9]+)`)
)

// reader says how to disassemble the machine code of a processor for which there is hand-written assembly.
type reader struct {
	env       []string
	objdump   string // GNU's, and the Debian package that has it
	debian    string
	fixture   string // the fused instruction of testdata/fusion_binary
	functions int    // of internal/kernel that are assembly, at least
}

var readers = map[string]reader{
	"amd64": {[]string{"GOARCH=amd64", "GOAMD64=v1"}, "objdump", "binutils", "VFMADD231SS", 16},
	"arm64": {[]string{"GOARCH=arm64"}, "aarch64-linux-gnu-objdump", "binutils-aarch64-linux-gnu", "FMLA", 8},
}

// disassembly builds a binary and disassembles the functions whose names begin with prefix. So it also finds
// instructions that were written as bytes, or that have no name. It counts the functions that are assembly.
func (r reader) disassembly(t *testing.T, prefix string, build ...string) (found []string, functions int) {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "binary")
	cmd := exec.Command("go", append(build[:2:2], append([]string{"-o", binary}, build[2:]...)...)...)
	cmd.Dir = root
	cmd.Env = append(append(os.Environ(), "GOOS=linux", "CGO_ENABLED=0", sharedFlags), r.env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(build, " "), err, out)
	}
	out, err := exec.Command(r.objdump, "-d", "--no-show-raw-insn", binary).Output()
	if err != nil {
		t.Fatalf("%s (apt-get install %s): %v", r.objdump, r.debian, err)
	}
	name := ""
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		line := lines.Text()
		if m := symbol.FindStringSubmatch(line); m != nil {
			name = ""
			if strings.HasPrefix(m[1], prefix) {
				name = m[1]
			}
			if name != "" && strings.HasSuffix(name, ".abi0") {
				functions++
			}
			continue
		}
		m := decoded.FindStringSubmatch(line)
		if name == "" || m == nil {
			continue
		}
		if mnemonic := strings.ToUpper(m[1]); fused.MatchString(mnemonic) || mnemonic == "BAD" || mnemonic == ".INST" {
			found = append(found, fmt.Sprintf("%s: %s", strings.TrimSuffix(strings.TrimPrefix(name, prefix), ".abi0"), mnemonic))
		}
	}
	return found, functions
}

// All assembly of floors 0 to 3 is in internal/kernel, whose test binary contains all of it.
func TestFusionDisassembly(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles for other processors; TestProduct reads the source for what may be fused")
	}
	for name, r := range readers {
		t.Run(name, func(t *testing.T) {
			found, functions := r.disassembly(t, module+"/internal/kernel.", "test", "-c", "./internal/kernel")
			if functions < r.functions {
				t.Fatalf("%d functions of assembly only: was it read?", functions)
			}
			for _, f := range found {
				t.Error(f)
			}
		})
	}
}

func TestFusionDisassemblyFixture(t *testing.T) {
	if testing.Short() {
		t.Skip("needs the readers of machine code")
	}
	for name, r := range readers {
		t.Run(name, func(t *testing.T) {
			found, _ := r.disassembly(t, "main.", "build", "-trimpath", "./internal/lint/testdata/fusion_binary")
			if want := []string{"axpy: " + r.fixture}; !slices.Equal(found, want) {
				t.Errorf("got %q, want %q", found, want)
			}
		})
	}
}

// Assembly in another room would escape TestFusionDisassembly.
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
