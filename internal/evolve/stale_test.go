package evolve_test

import (
	"slices"
	"testing"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"pgregory.net/rapid"
)

// takers are the variants that take stale results.
func takers(t *testing.T, dim int) map[string]evolve.Strategy {
	list := make(map[string]evolve.Strategy)
	for _, v := range append(variants(), variant{"pgpe-raw", "pgpe", evolve.Params{"shaping": "raw"}}) {
		if st := strategy(t, v.method, dim, v.params); evolve.TakesStale(st) {
			list[v.name] = st
		}
	}
	return list
}

// TestWhoTakesStale: a strategy says by its settings whether old results are any use to it.
func TestWhoTakesStale(t *testing.T) {
	list := takers(t, 3)
	for name, want := range map[string]bool{
		"snes": true, "openai-es": true, "openai-es-raw-sgd": true, "pgpe": true, "pgpe-raw": false, "dises": false, "dises-linear": true,
		"dises-group": false, "ga": false, "cma-es": false, "sep-cma-es": false, "cem": false, "random-search": false,
	} {
		if _, takes := list[name]; takes != want {
			t.Errorf("%s takes stale results: %t, want %t", name, takes, want)
		}
	}
}

// TestOneGroupIsNone: results of one state give the same bits whatever the number of their group.
func TestOneGroupIsNone(t *testing.T) {
	for _, v := range variants() {
		st := strategy(t, v.method, 5, v.params)
		s := st.Init(make([]float32, 5))
		results := generation(st, s, 8)
		want := st.Apply(s, results).Digest()
		for i := range results {
			results[i].Group = 3
		}
		if st.Apply(s, results).Digest() != want {
			t.Errorf("%s: a generation of group 3 moves the model elsewhere", v.name)
		}
	}
}

// TestGroupsAreNotCompared: what one group's episodes were worth more than another's changes nothing, and neither do
// the numbers of the groups.
func TestGroupsAreNotCompared(t *testing.T) {
	for name, st := range takers(t, 5) {
		rapid.Check(t, func(r *rapid.T) {
			s := st.Init([]float32{1, -1, 2, 0, 1})
			results := generation(st, s, rapid.IntRange(2, 20).Draw(r, "results"))
			groups := rapid.IntRange(1, 4).Draw(r, "groups")
			for i := range results {
				results[i].Group = uint32(rapid.IntRange(0, groups-1).Draw(r, "group"))
			}
			want, decisive := st.Apply(s, results), st.Decisive(results, 3)
			harder := slices.Clone(results)
			shift := rapid.Int64Range(-1<<20, 1<<20).Draw(r, "shift") << 20
			for i := range harder {
				if harder[i].Group == 1 {
					harder[i].Fitness[0] += shift
					harder[i].Fitness[1] += shift
				}
				harder[i].Group += 7
			}
			got := st.Apply(s, harder)
			for i, x := range got.Theta {
				if d := x - want.Theta[i]; d > 1e-5 || d < -1e-5 { // z-scores are rounded
					r.Fatalf("%s: parameter %d moves to %v, want %v", name, i, x, want.Theta[i])
				}
			}
			if name != "openai-es-zscore-clipup" && name != "dises-fitness" && !slices.Equal(st.Decisive(harder, 3), decisive) {
				r.Fatalf("%s: %v decide, want %v", name, st.Decisive(harder, 3), decisive)
			}
		})
	}
}

// TestPooledGroupsAreOne: where results are pooled, those of several states move the model, and decide, as if all were
// of one.
func TestPooledGroupsAreOne(t *testing.T) {
	for _, v := range variants() {
		m, err := evolve.Find(v.method)
		if err != nil {
			t.Fatal(err)
		}
		st := strategy(t, v.method, 5, v.params)
		if !evolve.TakesStale(st) {
			continue
		}
		params, err := m.Complete(v.params)
		if err != nil {
			t.Fatal(err)
		}
		pooled, err := m.New(params, evolve.Size{Dim: 5, Population: 8, Pooled: true})
		if err != nil {
			t.Fatal(err)
		}
		s := st.Init([]float32{1, -1, 2, 0, 1})
		results := generation(st, s, 8)
		want, decisive, influence := st.Apply(s, results).Digest(), st.Decisive(results, 3), evolve.Influence(st, results)
		for i := range results {
			results[i].Group = uint32(i % 3)
		}
		if pooled.Apply(s, results).Digest() != want {
			t.Errorf("%s: results of three states move the model elsewhere", v.name)
		}
		if got := pooled.Decisive(results, 3); !slices.Equal(got, decisive) {
			t.Errorf("%s: %v decide, want %v", v.name, got, decisive)
		}
		if got := evolve.Influence(pooled, results); !slices.Equal(got, influence) {
			t.Errorf("%s: results move the model by %v, want %v", v.name, got, influence)
		}
		if v.name != "openai-es-raw-sgd" && st.Apply(s, results).Digest() == want {
			t.Errorf("%s: without that they move it as one state's do", v.name)
		}
	}
}

// TestAloneInItsGroup: one result without another to compare it with says nothing, unless it is a pair.
func TestAloneInItsGroup(t *testing.T) {
	for name, st := range takers(t, 5) {
		if st.Antithetic() {
			continue
		}
		s := st.Init([]float32{1, -1, 2, 0, 1})
		results := generation(st, s, 9)
		results[4].Group = 1
		want := st.Apply(s, results).Digest()
		results[4].Fitness[0] = 1 << 50
		if st.Apply(s, results).Digest() != want {
			t.Errorf("%s: a result that nothing is compared with moves the model", name)
		}
	}
}

// TestStaleResultsHelp: a swarm that takes what was measured on the last three states as well, which lay elsewhere
// and whose episodes were worth more or less, learns in fewer generations than one that drops it.
func TestStaleResultsHelp(t *testing.T) {
	const dim, fresh, back = 40, 8, 3
	for _, test := range []struct {
		name, method string
		params       evolve.Params
	}{
		{"snes", "snes", evolve.Params{"sigma": 0.3}},
		{"openai-es", "openai-es", evolve.Params{"sigma": 0.1, "alpha": 0.05, "l2": 0.0}},
		{"pgpe", "pgpe", evolve.Params{"alpha": 0.05, "sigma": 0.2}},
		{"dises", "dises", evolve.Params{"selection": "linear", "top": 0.5, "sigma": 0.2, "step": 2.0}},
	} {
		st := strategy(t, test.method, dim, test.params)
		run := func(ages int) (generations int) {
			start := make([]float32, dim)
			for i := range start {
				start[i] = 1
			}
			s := st.Init(start)
			var states []*evolve.State
			for s.Gen < 2000 && sphere(s.Theta) < sphere(start)/10 {
				states = append([]*evolve.State{s}, states[:min(len(states), back)]...)
				var results []evolve.Result
				for age, old := range states[:min(len(states), ages+1)] {
					all := generation(st, old, fresh*(back+1))
					for _, r := range all[fresh*age : fresh*(age+1)] {
						r.Group = uint32(age)
						luck := int64(old.Gen*2654435761%1000) << 20
						r.Fitness[0], r.Fitness[1] = r.Fitness[0]+luck, r.Fitness[1]+luck
						results = append(results, r)
					}
				}
				s = st.Apply(s, results)
			}
			return int(s.Gen)
		}
		dropped, taken := run(0), run(back)
		t.Logf("%s: %d generations without old results, %d with", test.name, dropped, taken)
		if taken*10 > dropped*9 {
			t.Errorf("%s: %d generations with old results, %d without", test.name, taken, dropped)
		}
	}
}
