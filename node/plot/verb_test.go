package plot

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/evoswarm/evoswarm/internal/runspec"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/internal/solo"
	"github.com/evoswarm/evoswarm/internal/store"
	"github.com/evoswarm/evoswarm/node/verb"
)

func TestEvenly(t *testing.T) {
	for _, c := range []struct {
		last uint64
		n    int
		want []uint64
	}{
		{0, 5, []uint64{0}},
		{1, 5, []uint64{0, 1}},
		{4, 5, []uint64{0, 1, 2, 3, 4}},
		{10, 3, []uint64{0, 5, 10}},
		{7, 3, []uint64{0, 3, 7}},
		{1 << 40, 2, []uint64{0, 1 << 40}},
	} {
		if got := evenly(c.last, c.n); !slices.Equal(got, c.want) {
			t.Errorf("evenly(%d, %d) = %v, want %v", c.last, c.n, got, c.want)
		}
	}
}

func TestLabels(t *testing.T) {
	for _, c := range []struct{ files, want []string }{
		{[]string{"a/x.seedlog", "b/y.csv"}, []string{"x", "y"}},
		{[]string{"a/x.seedlog", "b/x.seedlog", "c"}, []string{"a/x.seedlog", "b/x.seedlog", "c"}},
	} {
		var all []*run
		for _, f := range c.files {
			all = append(all, &run{name: f})
		}
		if diff := cmp.Diff(c.want, labels(all)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.files, diff)
		}
	}
}

// The curve of a log is the one that training printed, with any number of workers.
func TestPlotIsTheTraining(t *testing.T) {
	const generations = 12
	path, all := trained(t, runspec.Options{Env: "CartPole-v1", Strategy: "dises", Seed: 5, Settings: runspec.Settings{"population": uint64(8)}}, solo.Until{Evaluations: 8 * generations})
	for _, y := range []string{"return", "best", "mean"} {
		for _, workers := range []string{"1", "2"} {
			var out bytes.Buffer
			s := &verb.IO{Out: &out, Err: new(bytes.Buffer)}
			args := []string{"plot", path, "-y", y, "--points", "100", "--workers", workers, "-o", filepath.Join(t.TempDir(), "a.svg"), "--json"}
			if status := program().Main(t.Context(), args, s); status != 0 {
				t.Fatalf("status %d: %s", status, s.Err)
			}
			d := json.NewDecoder(&out)
			for i := range generations + 1 {
				if i == 0 && y != "return" {
					continue // there is no fitness before the first generation
				}
				var got pointLine
				if err := d.Decode(&got); err != nil {
					t.Fatal(err)
				}
				if i == 0 {
					continue
				}
				p := all[i-1]
				want := pointLine{path, p.Gen, p.Evaluations, p.Steps, nil, map[string]float64{"return": *p.Return, "best": p.Best, "mean": p.Mean}[y]}
				if got != want {
					t.Errorf("%s: point %d is %+v, want %+v", y, i, got, want)
				}
			}
		}
	}
}

// trained makes a log and returns its name and what training said about each generation.
func trained(t testing.TB, options runspec.Options, until solo.Until) (string, []solo.Progress) {
	t.Helper()
	spec, err := runspec.NewSpec(options)
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
	var all []solo.Progress
	_, err = solo.Train(t.Context(), solo.Config{Log: log, Until: until, OnGeneration: func(p solo.Progress) { all = append(all, p) }})
	if err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	return path, all
}

// program is evonode with this verb alone.
func program() *verb.Program {
	return &verb.Program{Name: "evonode", Root: Verb(), Groups: []verb.Group{{Verbs: []*verb.Verb{Verb()}}}}
}
