package evolve_test

import (
	"math"
	"reflect"
	"testing"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"pgregory.net/rapid"
)

// twin is EvoTorch's PGPE in float64, without its optimizers.
type twin struct{ theta, sigma []float64 }

func newTwin(dim int, sigma float64) *twin {
	w := &twin{make([]float64, dim), make([]float64, dim)}
	for i := range w.sigma {
		w.sigma[i] = sigma
	}
	return w
}

// gradient returns the gradient by the mean and moves the standard deviations:
// SymmetricSeparableGaussian._compute_gradients with divide_by num_directions and
// centered ranks, and modify_tensor with max_change.
func (w *twin) gradient(results []evolve.Result, sigmaAlpha, maxChange float64) []float64 {
	all := make([]int64, 0, 2*len(results))
	for _, r := range results {
		all = append(all, r.Fitness[0], r.Fitness[1])
	}
	ranks := dumbRanks(all)
	n, divisor := float64(len(results)), 2*float64(len(all)-1)
	grad, gradSigma := make([]float64, len(w.theta)), make([]float64, len(w.theta))
	for k, r := range results {
		plus, minus := float64(ranks[2*k])/divisor, float64(ranks[2*k+1])/divisor
		for i, e := range epsOf(r.Seed, len(w.theta)) {
			z := w.sigma[i] * e
			grad[i] += (plus - minus) / 2 * z / n
			gradSigma[i] += (plus + minus) / 2 * (z*z - w.sigma[i]*w.sigma[i]) / w.sigma[i] / n
		}
	}
	for i, old := range w.sigma {
		w.sigma[i] = math.Min(math.Max(old+sigmaAlpha*gradSigma[i], old*(1-maxChange)), old*(1+maxChange))
	}
	return grad
}

func length(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v * v
	}
	return math.Sqrt(sum)
}

func TestPGPESteps(t *testing.T) {
	const dim, alpha, momentum, speed = 7, 0.05, 0.9, 2.0
	for _, change := range []float64{0.2, 0.003} { // the second one binds
		st := strategy(t, "pgpe", dim, evolve.Params{"alpha": alpha, "momentum": momentum, "max_speed": speed, "sigma": 0.3,
			"sigma_alpha": 0.4, "sigma_max_change": change})
		s, w, velocity := st.Init(make([]float32, dim)), newTwin(dim, 0.3), make([]float64, dim)
		for range 20 {
			results := generation(st, s, 8)
			grad := w.gradient(results, 0.4, change)
			norm := length(grad)
			for i := range velocity {
				velocity[i] = momentum*velocity[i] + alpha*grad[i]/norm
			}
			norm = length(velocity)
			for i := range velocity {
				if norm > speed*alpha {
					velocity[i] *= speed * alpha / norm
				}
				w.theta[i] += velocity[i]
			}
			s = st.Apply(s, results)
			near(t, "theta", s.Theta, w.theta, 1e-5)
			near(t, "sigma", s.Slots[0].Values, w.sigma, 1e-5)
		}
	}
}

func TestPEPGSteps(t *testing.T) {
	const dim, alpha, beta1, beta2, decay, floor = 7, 0.02, 0.9, 0.999, 0.99, 0.2
	st := strategy(t, "pepg", dim, evolve.Params{"alpha": alpha, "beta1": beta1, "beta2": beta2, "sigma": 0.3,
		"sigma_alpha": 0.1, "sigma_decay": decay, "sigma_min": floor})
	s, w, m, v := st.Init(make([]float32, dim)), newTwin(dim, 0.3), make([]float64, dim), make([]float64, dim)
	for step := 1; step <= 60; step++ {
		results := generation(st, s, 8)
		for i, g := range w.gradient(results, 0.1, 0.2) {
			m[i] = beta1*m[i] + (1-beta1)*g
			v[i] = beta2*v[i] + (1-beta2)*g*g
			rate := alpha * math.Sqrt(1-math.Pow(beta2, float64(step))) / (1 - math.Pow(beta1, float64(step)))
			w.theta[i] += rate * m[i] / (math.Sqrt(v[i]) + 1e-8)
			w.sigma[i] = math.Max(w.sigma[i]*decay, floor)
		}
		s = st.Apply(s, results)
		near(t, "theta", s.Theta, w.theta, 2e-4)
		near(t, "sigma", s.Slots[0].Values, w.sigma, 1e-5)
	}
}

// exploring are the strategies of PGPE's family.
var exploring = []string{"pgpe", "pepg"}

// TestExploringBounds draws results and settings at will: the model never moves faster than ClipUp's speed,
// no sigma by more than its share or out of its bounds, and everything stays finite.
func TestExploringBounds(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		const dim = 5
		name := rapid.SampledFrom(exploring).Draw(r, "name")
		alpha := rapid.Float64Range(1e-3, 10).Draw(r, "alpha")
		speed := rapid.Float64Range(1e-3, 10).Draw(r, "max_speed")
		change := rapid.Float64Range(0, 0.9).Draw(r, "change")
		low, high := rapid.Float64Range(1e-6, 0.5).Draw(r, "low"), rapid.Float64Range(0.5, 1000).Draw(r, "high")
		st := strategy(t, name, dim, evolve.Params{"optimizer": "clipup", "alpha": alpha, "max_speed": speed, "sigma": 0.5,
			"sigma_min": low, "sigma_max": high, "sigma_max_change": change, "sigma_decay": 1.0,
			"sigma_alpha": rapid.Float64Range(0, 1000).Draw(r, "sigma_alpha"),
			"shaping":     rapid.SampledFrom([]string{"raw", "ranks", "zscore", "nes"}).Draw(r, "shaping")})
		s := st.Init(make([]float32, dim))
		for range 5 {
			next := st.Apply(s, drawn(r))
			moved := 0.0
			for i := range next.Theta {
				moved = math.Hypot(moved, float64(next.Theta[i])-float64(s.Theta[i]))
				was, is := float64(s.Slots[0].Values[i]), float64(next.Slots[0].Values[i])
				if math.Abs(is-was) > was*(change+1e-6) || is < low*(1-1e-6) || is > high*(1+1e-6) || !(is > 0) {
					r.Fatalf("sigma[%d] from %v to %v, want within %v of itself and in [%v, %v]", i, was, is, change, low, high)
				}
			}
			if limit := alpha * speed; moved > limit*(1+1e-4)+1e-6 {
				r.Fatalf("theta moved by %v, want at most %v", moved, limit)
			}
			if err := st.Shape().Check(next); err != nil {
				r.Fatal(err)
			}
			s = next
		}
	})
}

// drawn draws results: extreme, equal and invalid fitness among them.
func drawn(r *rapid.T) []evolve.Result {
	fitness := rapid.OneOf(rapid.Int64(), rapid.Int64Range(-3, 3), rapid.Just(evolve.InvalidFitness), rapid.Just(int64(math.MaxInt64)))
	results := make([]evolve.Result, rapid.IntRange(0, 9).Draw(r, "n"))
	for i := range results {
		results[i] = evolve.Result{Seed: rapid.Uint64().Draw(r, "seed"), Fitness: [2]int64{fitness.Draw(r, "plus"), fitness.Draw(r, "minus")}}
	}
	return results
}

// TestExploringEqualFitness: where all fitness is equal, the mean does not move
// without weight decay, nor a sigma without its decay.
func TestExploringEqualFitness(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		f := rapid.Int64().Draw(r, "fitness")
		st := strategy(t, rapid.SampledFrom(exploring).Draw(r, "name"), 4, evolve.Params{"sigma_decay": 1.0,
			"shaping": rapid.SampledFrom([]string{"raw", "ranks", "zscore"}).Draw(r, "shaping")})
		s := st.Init([]float32{1, -2, 3, -4})
		results := make([]evolve.Result, rapid.IntRange(1, 9).Draw(r, "n"))
		for i := range results {
			results[i] = evolve.Result{Seed: uint64(i), Fitness: [2]int64{f, f}}
		}
		next := st.Apply(s, results)
		if !reflect.DeepEqual(next.Theta, s.Theta) || !reflect.DeepEqual(next.Slots, s.Slots) {
			r.Fatalf("state %+v, want %+v", next, s)
		}
		if got := st.Decisive(results, 9); len(got) != 0 {
			r.Fatalf("Decisive = %v, want none", got)
		}
	})
}

func TestExploringDecay(t *testing.T) {
	st := strategy(t, "pepg", 2, evolve.Params{"sigma": 0.4, "sigma_decay": 0.5, "sigma_min": 0.15, "l2": 0.1, "optimizer": "sgd", "alpha": 0.5})
	s := st.Init([]float32{2, -4})
	for _, want := range []float32{0.2, 0.15, 0.15} {
		s = st.Apply(s, nil)
		if got := s.Slots[0].Values[0]; got != want || s.Theta[0] != 2 {
			t.Errorf("sigma %v, theta %v without results, want %v and 2", got, s.Theta[0], want)
		}
	}
	s = st.Apply(s, []evolve.Result{{Seed: 1}})
	near(t, "theta", s.Theta, []float64{1.9, -3.8}, 1e-6)
}

func TestExploringCandidates(t *testing.T) {
	st := strategy(t, "pgpe", 3, nil)
	s := st.Init([]float32{1, 2, 3})
	copy(s.Slots[0].Values, []float32{0.5, 2, 8})
	eps, got := epsOf(7, 3), make([]float32, 3)
	for _, sign := range []float64{1, -1} {
		st.Candidate(got, s, 7, float32(sign))
		near(t, "candidate", got, []float64{1 + sign*0.5*eps[0], 2 + sign*2*eps[1], 3 + sign*8*eps[2]}, 1e-6)
	}
}
