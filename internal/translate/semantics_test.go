package translate_test

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evoswarm/evoswarm/internal/noise"
	"github.com/evoswarm/evoswarm/internal/translate"
	"github.com/evoswarm/evoswarm/internal/translate/testdata/semantics"
)

// pairs are numbers at the ends of their ranges, special floats as bits, and random ones.
func pairs() (list [][2]int64) {
	edges := []int64{0, 1, -1, 2, 3, 7, 31, 32, 33, 63, 64, 65, math.MaxInt32, math.MinInt32, math.MaxUint32, math.MaxInt64, math.MinInt64}
	for _, x := range []float64{0, math.Copysign(0, -1), 1, -1.5, 0.1, 1e300, -1e-310, math.Inf(1), math.Inf(-1), math.NaN(), 123456.75, -2.5} {
		edges = append(edges, int64(math.Float64bits(x)))
	}
	for _, a := range edges {
		for _, b := range edges {
			list = append(list, [2]int64{a, b})
		}
	}
	rng := noise.NewStream(1, noise.DomainInit)
	for range 300 {
		a := int64(rng.Uint64())
		b := int64(rng.Uint64())
		list = append(list, [2]int64{a, b}, [2]int64{int64(math.Float64bits(rng.UniformIn(-9, 9))), int64(math.Float64bits(rng.UniformIn(-9, 9)))})
	}
	return list
}

// line is what testdata/semantics.c prints for a pair, computed in Go. A NaN is printed as the one of C: its bits are
// no part of what is promised.
func line(a, b int64) string {
	var s strings.Builder
	out := make([]int64, 64)
	semantics.Integers(out, a, b)
	for _, x := range out {
		fmt.Fprintf(&s, "%d ", x)
	}
	reals := make([]float64, 64)
	semantics.Floats(reals, math.Float64frombits(uint64(a)), math.Float64frombits(uint64(b)))
	for _, x := range reals {
		fmt.Fprintf(&s, "%016x ", math.Float64bits(x))
	}
	clear(out)
	semantics.Statements(out, a&15)
	for _, x := range out {
		fmt.Fprintf(&s, "%d ", x)
	}
	return s.String()
}

// TestSemantics runs what C would do otherwise, translated, with each compiler, checked indices and sanitizers.
func TestSemantics(t *testing.T) {
	p, err := translate.Load(".", nil, nil, "./testdata/semantics")
	if err != nil {
		t.Fatal(err)
	}
	var input strings.Builder
	var want []string
	for _, x := range pairs() {
		fmt.Fprintf(&input, "%d %d\n", x[0], x[1])
		want = append(want, line(x[0], x[1]))
	}
	for _, c := range []struct {
		name, compiler string
		flags          []string
		checks         bool
	}{
		{"gcc", "gcc", []string{"-O2"}, false},
		{"clang", "clang", []string{"-O3", "-march=native"}, false},
		{"sanitizers", "gcc", []string{"-O1", "-fsanitize=address,undefined,float-cast-overflow", "-fno-sanitize-recover=all"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := exec.LookPath(c.compiler); err != nil {
				if testing.Short() {
					t.Skipf("%v: apt-get install %s", err, c.compiler)
				}
				t.Fatalf("%v: apt-get install %s", err, c.compiler)
			}
			const pkg = "internal/translate/testdata/semantics."
			text, err := p.Translate(translate.Options{Target: translate.C, CheckIndices: c.checks,
				Roots: []translate.Root{{Name: pkg + "Integers"}, {Name: pkg + "Floats"}, {Name: pkg + "Statements"}}})
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			source, program := filepath.Join(dir, "s.c"), filepath.Join(dir, "s")
			if err := os.WriteFile(source, []byte("#include \"prelude.h\"\n"+text), 0o644); err != nil {
				t.Fatal(err)
			}
			args := append(c.flags, "-std=c11", "-w", "-ffp-contract=off", "-fno-math-errno", "-fno-strict-aliasing", "-I../worlds",
				fmt.Sprintf("-DSEMANTICS=%q", source), "-o", program, "testdata/semantics.c", "-lm")
			if out, err := exec.Command(c.compiler, args...).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s\n%s", err, out, text)
			}
			run := exec.Command(program)
			run.Stdin = strings.NewReader(input.String())
			out, err := run.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			got := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
			faults := 0
			for i, x := range pairs() {
				if got[i] == want[i] {
					continue
				}
				a, b := strings.Fields(got[i]), strings.Fields(want[i])
				for k := range b {
					if a[k] == b[k] || bothNaN(k, a[k], b[k]) {
						continue
					}
					if faults++; faults <= 5 {
						t.Errorf("%d %d: number %d is %s, want %s", x[0], x[1], k, a[k], b[k])
					}
				}
			}
		})
	}
}

// bothNaN says whether the two are floats, and each a NaN.
func bothNaN(k int, a, b string) bool {
	nan := func(s string) bool {
		var bits uint64
		_, err := fmt.Sscanf(s, "%x", &bits)
		return err == nil && math.IsNaN(math.Float64frombits(bits))
	}
	return k >= 64 && k < 128 && nan(a) && nan(b)
}
