package evolve_test

import (
	"math"
	"slices"
	"testing"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/kernel"
	"pgregory.net/rapid"
)

// genome is a chain of mutations.
type genome struct {
	mutations uint64
	links     [][2]uint64 // generation and seed of the last of them
}

// genomes reads the slot of a state of ga that remembers at most limit mutations.
func genomes(s *evolve.State, limit uint64) []genome {
	var all []genome
	for words := s.Slot("ga/genomes").Words; len(words) > 0; {
		g := genome{mutations: words[0]}
		words = words[1:]
		for range min(g.mutations, limit) {
			g.links = append(g.links, [2]uint64{words[0], words[1]})
			words = words[2:]
		}
		all = append(all, g)
	}
	return all
}

// TestGenomesMakeTheParents: the first model and a chain of seeds are the whole of a parent, bit for bit.
func TestGenomesMakeTheParents(t *testing.T) {
	const dim, sigma, spread, decay, parents = 9, 0.2, 3.0, 0.5, 5
	st := strategy(t, "ga", dim, evolve.Params{"top": float64(parents), "sigma": sigma, "sigma_decay": decay, "sigma_min": 0.05, "spread": spread, "retest": 0.3})
	theta := []float32{1, -1, 0, 2, 0.5, 7, -3, 0, 0}
	s := st.Init(slices.Clone(theta))
	for gen := range 40 {
		for k, g := range genomes(s, 256) {
			x := slices.Clone(theta)
			for _, link := range g.links {
				power := max(sigma*math.Pow(decay, float64(link[0])), 0.05)
				if link[0] == 0 {
					power *= spread
				}
				kernel.Perturb(x, x, float32(power), 1, link[1])
			}
			if got := s.Slot("ga/parents").Values[k*dim : (k+1)*dim]; !slices.Equal(got, x) {
				t.Fatalf("generation %d: parent %d is %v, its genome %v makes %v", gen, k, got, g, x)
			}
		}
		if got := len(genomes(s, 256)); got != parents {
			t.Fatalf("generation %d: %d genomes, want %d", gen, got, parents)
		}
		s = st.Apply(s, generation(st, s, 16))
	}
	if s.Slot("ga/genomes").Words[0] < 3 {
		t.Errorf("the model has %d mutations after 40 generations", s.Slot("ga/genomes").Words[0])
	}
}

// TestGenomesAreBounded: what a parent remembers is the end of the whole chain.
func TestGenomesAreBounded(t *testing.T) {
	whole := strategy(t, "ga", 4, evolve.Params{"top": 4.0})
	a := whole.Init(make([]float32, 4))
	for _, limit := range []uint64{0, 1, 3} {
		short := strategy(t, "ga", 4, evolve.Params{"top": 4.0, "genome": float64(limit)})
		a, b := a, short.Init(make([]float32, 4))
		for range 30 {
			a, b = whole.Apply(a, generation(whole, a, 16)), short.Apply(b, generation(short, b, 16))
		}
		if a.ThetaDigest() != b.ThetaDigest() {
			t.Errorf("limit %d: the length of what is remembered changes the model", limit)
		}
		long := genomes(a, 256)
		for k, g := range genomes(b, limit) {
			tail := long[k].links[len(long[k].links)-len(g.links):]
			if g.mutations != long[k].mutations || uint64(len(g.links)) != min(limit, g.mutations) || !slices.Equal(g.links, tail) {
				t.Errorf("limit %d: parent %d remembers %v, the whole is %v", limit, k, g, long[k])
			}
		}
	}
}

// TestRetests: of many candidates the share asked for are parents as they are, each of the elite and of the
// next as many about as often; the others are one perturbation away from theirs, every parent about as often.
func TestRetests(t *testing.T) {
	const dim, parents, sigma = 3, 4, 0.5
	st := strategy(t, "ga", dim, evolve.Params{"top": float64(parents), "elite": 1.0, "retest": 0.25, "sigma": sigma})
	s := st.Init(make([]float32, dim))
	rows := s.Slot("ga/parents").Values
	for i := range rows {
		rows[i] = float32(10 * i)
	}
	s.Gen = 1
	var same, near [parents]int
	candidate := make([]float32, dim)
	const n = 8000
	for seed := range uint64(n) {
		st.Candidate(candidate, s, seed, 1)
		for k := range parents {
			row := rows[k*dim : (k+1)*dim]
			if slices.Equal(candidate, row) {
				same[k]++
			} else if slices.Equal(candidate, perturbed(row, sigma, seed)) {
				near[k]++
			}
		}
	}
	sum := 0
	for k := range parents {
		sum += same[k] + near[k]
		want := 0
		if k < 2 {
			want = n / 4 / 2
		}
		if same[k] < want*8/10 || same[k] > want*12/10 {
			t.Errorf("parent %d is tested again %d times, want about %d", k, same[k], want)
		}
		if want := n / parents * 3 / 4; near[k] < want*9/10 || near[k] > want*11/10 {
			t.Errorf("parent %d is mutated %d times, want about %d", k, near[k], want)
		}
	}
	if sum != n {
		t.Errorf("%d of %d candidates are parents or mutants of one", sum, n)
	}
}

// gaSeeds returns n seeds each that test parent k again and that mutate it.
func gaSeeds(t *testing.T, st evolve.Strategy, s *evolve.State, k, n int) (again, mutants []uint64) {
	t.Helper()
	dim := len(s.Theta)
	row := s.Slot("ga/parents").Values[k*dim : (k+1)*dim]
	candidate := make([]float32, dim)
	for seed := uint64(0); len(again) < n || len(mutants) < n; seed++ {
		st.Candidate(candidate, s, seed, 1)
		if slices.Equal(candidate, row) {
			again = append(again, seed)
		} else if slices.Equal(candidate, perturbed(row, 0.1, seed)) {
			mutants = append(mutants, seed)
		}
	}
	return again[:n], mutants[:n]
}

func result(seed uint64, fitness int64) evolve.Result {
	return evolve.Result{Seed: seed, Fitness: [2]int64{fitness << 20}}
}

// TestEliteIsWhatHoldsGood: a parent is among the elite by the mean of all its tests, and
// a mutant's one lucky test does not make it the model.
func TestEliteIsWhatHoldsGood(t *testing.T) {
	st := strategy(t, "ga", 2, evolve.Params{"top": 3.0, "elite": 1.0})
	s := st.Init([]float32{0, 0})
	_, first := gaSeeds(t, st, s, 0, 3)
	s = st.Apply(s, []evolve.Result{result(first[0], 50), result(first[1], 40), result(first[2], 30)})
	theta := func(k int) []float32 { return s.Slot("ga/parents").Values[2*k : 2*k+2] }
	a, b := perturbed([]float32{0, 0}, 0.1, first[0]), perturbed([]float32{0, 0}, 0.1, first[1])
	if !slices.Equal(s.Theta, a) || !slices.Equal(theta(1), b) {
		t.Fatalf("parents %v, want %v first, then %v", s.Slot("ga/parents").Values, a, b)
	}
	again0, _ := gaSeeds(t, st, s, 0, 1)
	again1, mutants := gaSeeds(t, st, s, 1, 4)
	// a: (50 + 10) / 2 = 30; b: (40 + 60 + 20) / 3 = 40; a mutant of b has 99 once.
	s2 := st.Apply(s, []evolve.Result{result(again0[0], 10), result(mutants[0], 99), result(again1[0], 60), result(mutants[1], 98), result(again1[1], 20)})
	if !slices.Equal(s2.Theta, b) {
		t.Errorf("the model is %v, want %v, whose mean is the best", s2.Theta, b)
	}
	if got := s2.Slot("ga/tests").Words; !slices.Equal(got, []uint64{3, 1, 1}) {
		t.Errorf("tests %v, want 3 of the elite and 1 of both mutants", got)
	}
	if got := s2.Slot("ga/fitness").Reals; !slices.Equal(got, []float64{120, 99, 98}) {
		t.Errorf("sums %v, want 120 99 98", got)
	}
	// A test that gave no fitness counts as the worst of the generation: b falls to
	// (40 - 5) / 2, a stays at (50 + 10) / 2.
	bad := evolve.Result{Seed: again1[0], Fitness: [2]int64{evolve.InvalidFitness}}
	s3 := st.Apply(s, []evolve.Result{bad, result(again0[0], 10), result(mutants[0], -5)})
	if !slices.Equal(s3.Theta, a) || s3.Slot("ga/tests").Words[0] != 2 {
		t.Errorf("the model is %v after the other one failed, want %v", s3.Theta, a)
	}
	// The only mutant is the second parent; the one that failed comes last.
	if got := s3.Slot("ga/fitness").Reals; !slices.Equal(got, []float64{60, -5, 35}) {
		t.Errorf("sums %v, want 60 -5 35", got)
	}
}

func TestGADecisive(t *testing.T) {
	st := strategy(t, "ga", 1, evolve.Params{"top": 2.0})
	results := []evolve.Result{{Fitness: [2]int64{5}}, {Fitness: [2]int64{7}}, {Fitness: [2]int64{evolve.InvalidFitness}}, {Fitness: [2]int64{6}}}
	for n, want := range [][]int{nil, {1}, {1, 3}, {1, 3}} {
		if got := st.Decisive(results, n); !slices.Equal(got, want) {
			t.Errorf("Decisive(%d) = %v, want %v", n, got, want)
		}
	}
}

// TestStrangersGenomes: a state that has the right shape may hold any words.
func TestStrangersGenomes(t *testing.T) {
	st := strategy(t, "ga", 2, evolve.Params{"top": 4.0, "genome": 3.0})
	rapid.Check(t, func(r *rapid.T) {
		word := rapid.OneOf(rapid.Uint64Range(0, 5), rapid.Uint64())
		s := st.Init(make([]float32, 2))
		s.Gen = rapid.Uint64().Draw(r, "gen")
		s.Slot("ga/genomes").Words = rapid.SliceOfN(word, 0, 40).Draw(r, "genomes")
		s.Slot("ga/tests").Words = rapid.SliceOfN(word, 4, 4).Draw(r, "tests")
		s.Slot("ga/fitness").Reals = rapid.SliceOfN(rapid.Float64(), 4, 4).Draw(r, "fitness")
		if err := st.Shape().Check(s); err != nil {
			r.Fatal(err)
		}
		for range 3 {
			s = st.Apply(s, generation(st, s, 16))
			if err := st.Shape().Check(s); err != nil {
				r.Fatal(err)
			}
			if n := len(s.Slot("ga/genomes").Words); n > 4*(1+2*3) {
				r.Fatalf("%d words of genomes", n)
			}
		}
	})
}
