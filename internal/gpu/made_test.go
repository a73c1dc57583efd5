package gpu

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/translate"
	"github.com/evoswarm/evoswarm/internal/worlds"
)

// TestMade translates step code again. A change of it needs go generate ./internal/gpu, and clang 14.
func TestMade(t *testing.T) {
	p, err := translate.LoadWorlds(".")
	if err != nil {
		t.Fatal(err)
	}
	texts, err := translate.Devices(p)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range texts { //lint:sorted each is reported
		got, err := os.ReadFile(filepath.Join("worlds", name+".cl"))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("worlds/%s.cl is not what its step code translates to: go generate ./internal/gpu", name)
		}
	}
}

// TestLength: a program is for observations of one length, so devices leave other ones to the CPU.
func TestLength(t *testing.T) {
	env, err := envs.Find("CartPole-v1")
	if err != nil {
		t.Fatal(err)
	}
	longer := *env
	longer.ObsDim++
	if _, err := worldOf(&longer); !errors.Is(err, ErrProgram) || !strings.Contains(err.Error(), "with 4 observations") {
		t.Errorf("with an observation more: %v, want ErrProgram", err)
	}
}

// TestPTX: no product is fused with a sum, every sum and product says how it is rounded, so that the driver does not
// fuse them either, no function is missing, and none returns a value, which NVIDIA's compiler gets wrong (device.cl).
func TestPTX(t *testing.T) {
	loose := regexp.MustCompile(`(?m)^\s*(?:@\S+\s+)?(?:(?:fma|mad)\.\S*f(?:32|64)|(?:add|sub|mul)\.(?:ftz\.)?f(?:32|64)|\S*\.(?:ftz|approx|full)\b\S*|\.extern\s+\.func|\.func\s+\()[^\n]*$`)
	programs := []program{arithmeticProgram()}
	for _, w := range worlds.Table {
		if !w.OnDevices() {
			continue
		}
		env, err := envs.Find(w.ID)
		if err != nil {
			t.Fatal(err)
		}
		on, err := worldOf(env)
		if err != nil {
			t.Fatal(err)
		}
		programs = append(programs, on.program())
	}
	for _, p := range programs {
		name, ptx := p.name, p.ptx()
		if want := fmt.Sprintf("// Made of the text with SHA-256 %x.\n", sha256.Sum256([]byte(p.source))); !strings.HasPrefix(ptx, want) {
			t.Errorf("%s: the PTX is of another text: go generate ./internal/gpu, with clang 14", name)
		}
		if found := loose.FindString(ptx); found != "" {
			t.Errorf("%s: %s", name, strings.TrimSpace(found))
		}
		for _, kernel := range p.kernels {
			if !strings.Contains(ptx, ".entry "+kernel+"(") {
				t.Errorf("%s: the PTX has no kernel %s", name, kernel)
			}
		}
		if n := strings.Count(ptx, ".rn.f"); n < 10 {
			t.Errorf("%s: %d operations on floats", name, n)
		}
	}
	for _, line := range []string{"\tfma.rn.f32 \t%f1, %f2;", "\t@%p1 mul.f64 %fd1;", "add.ftz.f32", "\tdiv.approx.f32 \t%f", ".extern .func (.param .b64 r) fabs", ".func  (.param .b64 func_retval0) exact_Sqrt("} {
		if loose.FindString(line) == "" {
			t.Errorf("%q is not found", line)
		}
	}
}
