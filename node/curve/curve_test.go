package curve

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/runspec"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/internal/solo"
	"github.com/evoswarm/evoswarm/internal/store"
)

// train makes a log of some generations and returns its bytes, its rules and the rows that training told.
func train(t testing.TB, seed uint64, generations uint64) ([]byte, *seedlog.Rules, []Row) {
	t.Helper()
	return trainAs(t, runspec.Options{Env: "CartPole-v1", Strategy: "dises", Seed: seed, Settings: runspec.Settings{"population": uint64(8), "eval-every": uint64(2)}}, generations)
}

func trainAs(t testing.TB, o runspec.Options, generations uint64) ([]byte, *seedlog.Rules, []Row) {
	t.Helper()
	spec, err := runspec.NewSpec(o)
	if err != nil {
		t.Fatal(err)
	}
	rules, err := seedlog.NewRules(spec)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "run.seedlog")
	log, err := store.OpenLog(path, rules, nil)
	if err != nil {
		t.Fatal(err)
	}
	var rows []Row
	_, err = solo.Train(t.Context(), solo.Config{Log: log, Until: solo.Until{Evaluations: 8 * generations}, OnGeneration: func(p solo.Progress) {
		rows = append(rows, Row{p.Gen, p.Evaluations, p.Steps, nil, p.Best, p.Mean, p.Return})
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data, rules, rows
}

func openCSV(t testing.TB, path string) *CSV {
	t.Helper()
	c, err := OpenCSV(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c
}

// ended is where a log of that height ends.
func ended(rules *seedlog.Rules, height uint64) *seedlog.Replayed {
	return &seedlog.Replayed{Rules: rules, Parent: seedlog.Parent{Height: height}}
}

// text is the file that holds rows.
func text(rows []Row) string {
	s := Header + "\n"
	for _, r := range rows {
		s += r.line()
	}
	return s
}

// Whatever is left of a curve, catching up gives what training told, row by row: nothing is lost or doubled.
func TestCatchUp(t *testing.T) {
	const n = 6
	data, rules, rows := train(t, 3, n)
	pool := rollout.NewPool(rules.Plan, 0)
	full := text(rows)
	path := filepath.Join(t.TempDir(), "curve.csv")
	for cut := 0; cut <= len(full); cut += 7 {
		if err := os.WriteFile(path, []byte(full[:cut]), 0o600); err != nil {
			t.Fatal(err)
		}
		c := openCSV(t, path)
		if err := CatchUp(context.Background(), bytes.NewReader(data), ended(rules, n), pool, c); err != nil {
			t.Fatalf("cut to %d bytes: %v", cut, err)
		}
		c.Close()
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(full, string(got)); diff != "" {
			t.Fatalf("cut to %d bytes (-want +got):\n%s", cut, diff)
		}
	}
}

// So it is where observations are normalized, whose env-steps no claim counts; also with nothing missing.
func TestCatchUpWithNormalisation(t *testing.T) {
	const n = 4
	data, rules, rows := trainAs(t, runspec.Options{Env: "Pendulum-v1", Strategy: "openai-es", Settings: runspec.Settings{"population": uint64(8), "observations": rollout.Running}}, n)
	full := text(rows)
	path := filepath.Join(t.TempDir(), "curve.csv")
	for _, cut := range []int{0, len(full) - 30, len(full)} {
		if err := os.WriteFile(path, []byte(full[:cut]), 0o600); err != nil {
			t.Fatal(err)
		}
		c := openCSV(t, path)
		if err := CatchUp(context.Background(), bytes.NewReader(data), ended(rules, n), rollout.NewPool(rules.Plan, 0), c); err != nil {
			t.Fatalf("cut to %d bytes: %v", cut, err)
		}
		c.Close()
		if got, err := os.ReadFile(path); err != nil || string(got) != full {
			t.Fatalf("cut to %d bytes (%v):\n%s\nwant\n%s", cut, err, got, full)
		}
	}
}

// What is beyond the log goes.
func TestCatchUpWithAShorterLog(t *testing.T) {
	data, rules, rows := train(t, 3, 6)
	path := filepath.Join(t.TempDir(), "curve.csv")
	if err := os.WriteFile(path, []byte(text(rows)), 0o600); err != nil {
		t.Fatal(err)
	}
	c := openCSV(t, path)
	if err := CatchUp(context.Background(), bytes.NewReader(data), ended(rules, 4), rollout.NewPool(rules.Plan, 1), c); err != nil {
		t.Fatal(err)
	}
	if err := c.Append(rows[4]); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if want := text(rows[:5]); string(got) != want {
		t.Errorf("the file is\n%s\nwant\n%s", got, want)
	}
}

// The curve of another run is not touched.
func TestCatchUpRefuses(t *testing.T) {
	data, rules, _ := train(t, 3, 3)
	_, _, others := train(t, 4, 5)
	pool := rollout.NewPool(rules.Plan, 1)
	path := filepath.Join(t.TempDir(), "curve.csv")
	want := text(others)
	if err := os.WriteFile(path, []byte(want), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, height := range []uint64{0, 3} {
		c := openCSV(t, path)
		if err := CatchUp(context.Background(), bytes.NewReader(data), ended(rules, height), pool, c); !errors.Is(err, ErrOther) {
			t.Errorf("height %d: %v, want %v", height, err, ErrOther)
		}
		c.Close()
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("the file was changed (%v):\n%s", err, got)
	}
}

func TestOpenCSVRefuses(t *testing.T) {
	for _, data := range []string{
		"hello", Header + ",x\n", "a,b,c\n1,2,3\n", Header + "\n1,2,3\n", Header + "\n2,16,100,,1,1,\n", Header + "\n1,16,100,,1,1,\n1,16,100,,1,1,\n",
		Header + "\n1,16,100,,1,NaN,\n", Header + "\n-1,16,100,,1,1,\n", Header + "\n1,16,100,,,1,\n", Header + "\n1,16,100,x,1,1,\n",
		Header + "\n" + strings.Repeat("9", maxLine+1) + "\n",
	} {
		path := filepath.Join(t.TempDir(), "curve.csv")
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenCSV(path); !errors.Is(err, ErrFormat) {
			t.Errorf("%.40q: %v, want %v", data, err, ErrFormat)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != data {
			t.Errorf("%.40q was changed to %.40q (%v)", data, got, err)
		}
	}
}

func TestSeconds(t *testing.T) {
	one := 1.5
	c := &CSV{rows: []Row{{}, {Seconds: &one}, {}}}
	if got := c.Seconds(); got != one {
		t.Errorf("the last time is %v, want %v", got, one)
	}
	if got := new(CSV).Seconds(); got != 0 {
		t.Errorf("without rows it is %v", got)
	}
}

func TestQuantile(t *testing.T) {
	x := []float64{1, 2, 4, 8, 16}
	for q, want := range map[float64]float64{0: 1, 0.25: 2, 0.5: 4, 0.625: 6, 1: 16} {
		if got := Quantile(x, q); got != want {
			t.Errorf("quantile %v is %v, want %v", q, got, want)
		}
	}
	if got := Quantile(x[:1], 0.7); got != 1 {
		t.Errorf("of one value it is %v", got)
	}
}

// What is read is written with the same bytes.
func FuzzReadCSV(f *testing.F) {
	ret := 0.1
	f.Add(text([]Row{{Gen: 1, Evaluations: 2, Steps: 3, Best: 1e300, Mean: -0.5, Return: &ret}, {Gen: 2, Seconds: &ret}}))
	f.Add(Header + "\r\n1,2,3,,4,5,\r\n")
	f.Fuzz(func(t *testing.T, data string) {
		rows, err := ReadCSV(strings.NewReader(data))
		if err != nil {
			return
		}
		again, err := ReadCSV(strings.NewReader(text(rows)))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(rows, again); diff != "" {
			t.Errorf("written and read again (-first +second):\n%s", diff)
		}
	})
}
