package sweep

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCurvesRoundTrip(t *testing.T) {
	name := CurvesName(filepath.Join(t.TempDir(), "a.b.json"))
	if filepath.Base(name) != "a.b.curves.csv" {
		t.Errorf("the curves are in %s", name)
	}
	if got, err := ReadCurves(name); err != nil || len(got) != 0 {
		t.Errorf("no file gives %v, %v", got, err)
	}
	want := Curves{1<<64 - 1: {{0, -1.5}, {1 << 60, 0.1}}, 3: {{7, 1e300}}}
	if err := WriteCurves(name, want); err != nil {
		t.Fatal(err)
	}
	got, err := ReadCurves(name)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestReadCurvesRefuses(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "columns"},
		{"seed,steps\n", "columns"},
		{"seed,steps,return\n1,2\n", "wrong number of fields"},
		{"seed,steps,return\n1,-2,3\n", "line 2"},
		{"seed,steps,return\n1,2,NaN\n", "return is NaN"},
		{"seed,steps,return\n1,2,3\n1,2,3\n", "2 env-steps after 2"},
	} {
		name := filepath.Join(t.TempDir(), "a.curves.csv")
		if err := os.WriteFile(name, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := ReadCurves(name); !errors.Is(err, ErrTable) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q gives %v, want ErrTable with %q", c.text, err, c.want)
		}
	}
}

// A learning curve keeps its shape and its last point, however long it grows.
func TestCurvesAreBounded(t *testing.T) {
	c := Curves{}
	for i := range uint64(10 * maxPoints) {
		c.Add(1, Point{i, float64(i)})
		if last := c[1][len(c[1])-1]; last.Steps != i || len(c[1]) > maxPoints {
			t.Fatalf("after %d points there are %d, the last one %v", i+1, len(c[1]), last)
		}
	}
	for i, p := range c[1][1:] {
		if p.Steps <= c[1][i].Steps {
			t.Fatalf("%v follows %v", p, c[1][i])
		}
	}
}
