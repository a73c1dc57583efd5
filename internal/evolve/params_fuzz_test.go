package evolve_test

import (
	"errors"
	"math"
	"testing"

	"github.com/evoswarm/evoswarm/internal/evolve"
)

// FuzzParams builds strategies of any settings a spec can hold: what is accepted has a state of the shape it
// says and moves without fault, the rest is refused with ErrParams. Sizes are those of a small run.
func FuzzParams(f *testing.F) {
	for i := range evolve.Methods() {
		f.Add(uint8(i), uint8(9), uint8(16), []byte{})
		f.Add(uint8(i), uint8(1), uint8(7), []byte{0, 1, 1, 2, 2, 3, 3, 200, 4, 5})
	}
	f.Fuzz(func(t *testing.T, method, dim, population uint8, changes []byte) {
		all := evolve.Methods()
		m := all[int(method)%len(all)]
		p := fuzzedParams(m, changes)
		full, err := m.Complete(p)
		if err == nil {
			var st evolve.Strategy
			st, err = m.New(full, evolve.Size{Dim: int(dim), Population: int(population)})
			if err == nil {
				useStrategy(t, st, int(dim), int(population))
			}
		}
		if err != nil && !errors.Is(err, evolve.ErrParams) {
			t.Fatalf("%s %v: error %v is not ErrParams", m.Name, p, err)
		}
	})
}

// fuzzedParams takes pairs of bytes as a setting and a value, in its range and outside.
func fuzzedParams(m evolve.Method, changes []byte) evolve.Params {
	p := evolve.Params{}
	for ; len(changes) >= 2; changes = changes[2:] {
		s := m.Settings[int(changes[0])%len(m.Settings)]
		k := int(changes[1])
		switch {
		case s.Choices != nil:
			p[s.Name] = append(s.Choices, "other")[k%(len(s.Choices)+1)]
		case k < 8:
			p[s.Name] = []any{s.Min, s.Max, s.Min - 1, s.Max * 2, math.NaN(), math.Inf(1), "text", 0.5}[k]
		case k < 32:
			p[s.Name] = float64(k - 8)
		default:
			x := s.Min + (min(s.Max, 4)-s.Min)*float64(k-32)/223
			if s.Integer {
				x = math.Floor(x)
			}
			p[s.Name] = x
		}
	}
	return p
}

// useStrategy runs a few generations of whatever size and fitness.
func useStrategy(t *testing.T, st evolve.Strategy, dim, population int) {
	s := st.Init(make([]float32, dim))
	for gen := range 4 {
		if err := st.Shape().Check(s); err != nil {
			t.Fatalf("generation %d: %v", gen, err)
		}
		results := generation(st, s, []int{population, 0, 1, population}[gen])
		if gen == 3 {
			for i := range results {
				results[i].Fitness = [2]int64{int64(i%3) - 1, evolve.InvalidFitness}
			}
		}
		for _, k := range st.Decisive(results, 3) {
			if k < 0 || k >= len(results) {
				t.Fatalf("Decisive names %d of %d results", k, len(results))
			}
		}
		s = st.Apply(s, results)
	}
	if err := st.Shape().Check(s); err != nil {
		t.Fatal(err)
	}
}
