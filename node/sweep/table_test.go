package sweep

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sample draws n sorted costs from a skewed distribution.
func sample(seed uint64, n int) []float64 {
	rng := rand.New(rand.NewPCG(seed, 7))
	x := make([]float64, n)
	for i := range x {
		x[i] = 100 + 1000*rng.ExpFloat64()
	}
	slices.Sort(x)
	return x
}

func TestTableRoundTrip(t *testing.T) {
	x := -199.123456789
	want := []Row{
		{Env: "W, \"1\"", Strategy: "s", Seed: 1<<64 - 1, Done: true, Solved: true, Gens: 1, Evaluations: 2, Steps: 3,
			Seconds: 0.1234567, Return: &x, Tests: 4, EvaluationSteps: 5, Until: "solved,evals=3", Resumed: true, Log: "a\nb",
			Run: "r", Head: "h", Theta: "t"},
		{Env: "W", Seed: 0},
	}
	for _, name := range []string{"t.csv", "t.json", "t.JSON"} {
		path := filepath.Join(t.TempDir(), name)
		for range 2 { // over itself, too
			if err := Write(path, want); err != nil {
				t.Fatal(err)
			}
		}
		got, err := Read(path)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if names, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); len(names) != 1 {
			t.Errorf("writing left %q", names)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "it is empty"},
		{"seed,solved,steps\n0,true,1\n", `no column "seconds"`},
		{"seed,solved,steps,seconds\n", "no runs"},
		{"seed,solved,steps,seconds\n0,true,1\n", "wrong number of fields"},
		{"seed,solved,steps,seconds\n0,perhaps,1,1\n", `solved is "perhaps"`},
		{"seed,solved,steps,seconds\n0,,1,1\n", `solved is ""`},
		{"seed,solved,steps,seconds\n-1,true,1,1\n", `seed is "-1"`},
		{"seed,solved,steps,seconds\n1,true,1,NaN\n", "not finite"},
		{"seed,solved,steps,seconds\n1,true,1,-1\n", "-1 seconds"},
		{"seed,solved,steps,seconds\n1,true,1,1\n1,true,1,1\n", "there are two runs of seed 1"},
		{"{", "unexpected end"},
		{`{"runs":[]}`, "no runs"},
		{`{"runs":[{"seed":"x"}]}`, "cannot unmarshal"},
		{"\x00\xff\"", "bare"},
	} {
		path := filepath.Join(t.TempDir(), "t.csv")
		if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := Read(path)
		if !errors.Is(err, ErrTable) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q gives %v, want ErrTable with %q", c.text, err, c.want)
		}
	}
	if _, err := Read(filepath.Join(t.TempDir(), "none.csv")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file gives %v, want os.ErrNotExist", err)
	}
}

// FuzzDecode checks that no file crashes the program.
func FuzzDecode(f *testing.F) {
	f.Add([]byte("seed,solved,steps,seconds\n0,true,1,1\n"))
	f.Add([]byte(`{"runs":[{"seed":1,"done":true}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		rows, err := decode(data)
		if err != nil {
			return
		}
		Summarize(rows)
		if len(rows) == 0 {
			t.Error("an empty table is taken")
		}
	})
}
