package lint

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// fusing are the targets whose compiler fuses x*y + z.
var fusing = []struct {
	name string
	env  []string
}{
	{"arm64", []string{"GOARCH=arm64"}},
	{"riscv64", []string{"GOARCH=riscv64"}},
	{"ppc64le", []string{"GOARCH=ppc64le"}},
	{"s390x", []string{"GOARCH=s390x"}},
	{"amd64 v3", []string{"GOARCH=amd64", "GOAMD64=v3"}},
}

// fused matches the mnemonics, in Go's assembler, of every floating multiply-add: FMADDD, FMSUBS, FNMADD, FNMSUB
// (arm64, riscv64, ppc64le, s390x), VFMADD231SD (amd64), WFMADB, VFMADB (s390x), XSMADDADP, XVMADDASP (ppc64le),
// FMLA, VFMLA, VFMLS, FCMLA, and the steps of reciprocals FRECPS and FRSQRTS (arm64). Integer MADD and MSUB are not
// among them.
var fused = regexp.MustCompile(`^(V?FN?M(ADD|SUB)[A-Z0-9]*|[WV]FN?M[AS](DB|SB|XB)?|X[SV]N?M(ADD|SUB)[A-Z0-9]*|V?FC?ML[AS][A-Z0-9]*|FR(ECP|SQRT)S)$`)

// sharedFlags are those of the Makefile, so that what is compiled for other targets is compiled once.
const sharedFlags = "GOFLAGS=-trimpath -buildvcs=false"

// instruction matches a line of the compiler's listing: offset, (file:line), mnemonic.
var instruction = regexp.MustCompile(`^\s+0x[0-9a-f]+ \d+ \((.+):(\d+)\)\s+([A-Z0-9]+)`)

// listing compiles packages for a target and returns the lines with fused instructions. The go command repeats the
// compiler's listing from its cache, so that a second run sees the same.
func listing(env []string, pkgs ...string) (found []finding, instructions int, err error) {
	args := append([]string{"build", "-gcflags=-S", "-o", os.DevNull}, pkgs...)
	if len(pkgs) > 1 {
		args = append([]string{"build", "-gcflags=-S"}, pkgs...)
	}
	cmd := exec.Command("go", args...)
	cmd.Env = append(append(os.Environ(), "GOOS=linux", "CGO_ENABLED=0", sharedFlags), env...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	var failed error // the listing of what did compile is read nevertheless
	if err := cmd.Run(); err != nil {
		failed = fmt.Errorf("go build -gcflags=-S: %w\n%s", err, complaints(out.String()))
	}
	lines := bufio.NewScanner(&out)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		m := instruction.FindStringSubmatch(lines.Text())
		if m == nil {
			continue
		}
		instructions++
		if fused.MatchString(m[3]) {
			line, err := strconv.Atoi(m[2])
			if err != nil {
				return nil, 0, err
			}
			found = append(found, finding{strings.TrimPrefix(m[1], module+"/"), line, "fused instruction " + m[3]})
		}
	}
	return found, instructions, errors.Join(failed, lines.Err())
}

// word matches what may be a mnemonic in an assembly file.
var word = regexp.MustCompile(`\b[A-Z][A-Z0-9]+\b`)

// assembly reads the hand-written assembly of a folder, which the compiler does not list, for fused mnemonics.
func assembly(dir string) (found []finding, err error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.s"))
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		for i, line := range strings.Split(string(data), "\n") {
			line, _, _ = strings.Cut(line, "//")
			for _, w := range word.FindAllString(line, -1) {
				if fused.MatchString(w) {
					found = append(found, finding{name, i + 1, "fused instruction " + w})
				}
			}
		}
	}
	return found, nil
}

func TestFusionAssembly(t *testing.T) {
	report(t, func(c *code) []finding {
		if len(c.GoFiles) == 0 {
			return nil
		}
		found, err := assembly(filepath.Dir(c.GoFiles[0]))
		if err != nil {
			t.Fatal(err)
		}
		return found
	})
}

func TestFusionAssemblyFixture(t *testing.T) {
	found, err := assembly("testdata/fusion_assembly")
	if err != nil {
		t.Fatal(err)
	}
	wanted(t, "testdata/fusion_assembly", found)
}

// complaints drops the listing from the compiler's output.
func complaints(out string) string {
	var kept []string
	for _, line := range strings.Split(out, "\n") {
		if strings.Contains(line, ".go:") && !strings.HasPrefix(line, "\t") {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "\n")
}

func TestFusion(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles for other processors; TestProduct reads the source for what may be fused")
	}
	pkgs, err := pureDirs(nil, []string{"./..."})
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range fusing {
		t.Run(target.name, func(t *testing.T) {
			found, instructions, err := listing(target.env, pkgs...)
			if err != nil {
				t.Error(err)
			}
			if instructions < 1000 {
				t.Fatalf("the listing has %d instructions only: was it read?", instructions)
			}
			seen := map[string]bool{}
			for _, f := range found {
				if s := f.String(); !seen[s] {
					seen[s] = true
					t.Error(s)
				}
			}
		})
	}
}

func TestFusionFixture(t *testing.T) {
	dir, err := filepath.Abs("testdata/fusion")
	if err != nil {
		t.Fatal(err)
	}
	for _, target := range fusing {
		t.Run(target.name, func(t *testing.T) {
			found, _, err := listing(target.env, "./testdata/fusion")
			if err != nil {
				t.Fatal(err)
			}
			wanted(t, dir, found)
		})
	}
}

func TestFusedMnemonics(t *testing.T) {
	for _, name := range []string{"FMADDD", "FMADDS", "FMADD", "FMSUB", "FMSUBS", "FNMSUBD", "FNMADDS", "VFMADD231SD", "VFNMADD213SS", "VFMSUB132PD", "WFMADB", "WFMSDB", "WFMASB", "VFMADB", "XSMADDADP", "XVNMSUBMSP", "VFMLA", "FMLS", "FMLAL2", "FCMLA", "FRECPS", "FRSQRTS"} {
		if !fused.MatchString(name) {
			t.Errorf("%s: not taken for fused", name)
		}
	}
	for _, name := range []string{"MADD", "MSUB", "MADDLD", "FMULD", "FADDS", "FMOVD", "FMUL", "WFMDB", "VFMDB", "FMULS", "FRECPE", "FMAXD", "FMIND"} {
		if fused.MatchString(name) {
			t.Errorf("%s: taken for fused", name)
		}
	}
}
