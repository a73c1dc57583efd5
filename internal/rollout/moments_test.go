package rollout

import (
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/evoswarm/evoswarm/internal/episode"
	"github.com/evoswarm/evoswarm/internal/noise"
)

// observed draws n observations of some values, around shift.
func observed(seed uint64, n, dim int, scale, shift float32) [][]float32 {
	flat := make([]float32, n*dim)
	noise.FillNormal(flat, seed, 0)
	var obs [][]float32
	for i := range flat {
		flat[i] = float32(flat[i]*scale) + shift
	}
	for i := 0; i < len(flat); i += dim {
		obs = append(obs, flat[i:i+dim])
	}
	return obs
}

// twoPass is mean and standard deviation as numpy computes them.
func twoPass(obs [][]float32, i int) (mean, std float64) {
	for _, o := range obs {
		mean += float64(o[i])
	}
	mean /= float64(len(obs))
	for _, o := range obs {
		d := float64(o[i]) - mean
		std += d * d
	}
	return mean, math.Sqrt(std / float64(len(obs)))
}

func TestMomentsAgainstFloat64(t *testing.T) {
	const dim = 3
	for _, tt := range []struct {
		n            int
		scale, shift float32
	}{{2, 1, 0}, {1000, 1, 0}, {1000, 1, -1}, {5000, 0.01, 100}, {300, 10000, -5}, {300, 1e-3, 1000}, {1, 1, 0}, {100, 0, 7}} {
		obs := observed(uint64(tt.n), tt.n, dim, tt.scale, tt.shift)
		m := make(moments, episode.SumsLen(dim))
		for _, o := range obs {
			episode.Add(m, o)
		}
		mean, std := make([]float32, dim), make([]float32, dim)
		m.write(mean, std)
		for i := range dim {
			wantMean, wantStd := twoPass(obs, i)
			if d := math.Abs(float64(mean[i]) - wantMean); d > 1e-7*(math.Abs(wantMean)+wantStd)+4e-9 {
				t.Errorf("%+v: mean %v, want %v", tt, mean[i], wantMean)
			}
			if d := math.Abs(float64(std[i]) - wantStd); d > 1e-6*wantStd+4e-9 {
				t.Errorf("%+v: std %v, want %v", tt, std[i], wantStd)
			}
		}
	}
}

// Mean and deviation are those of exact arithmetic, whatever the sums, within what a float64 holds.
func TestMomentsAgainstExact(t *testing.T) {
	obs := observed(4, 777, 1, 1e-5, 40000)
	m := make(moments, episode.SumsLen(1))
	sum, squares, n := new(big.Int), new(big.Int), big.NewInt(int64(len(obs)))
	for _, o := range obs {
		episode.Add(m, o)
		v := big.NewInt(int64(math.RoundToEven(float64(o[0]) * episode.ObservedOne)))
		sum.Add(sum, v)
		squares.Add(squares, v.Mul(v, v))
	}
	// n^2 variance = n squares - sum^2
	v := new(big.Int).Mul(n, squares)
	v.Sub(v, new(big.Int).Mul(sum, sum))
	num, _ := new(big.Float).SetInt(v).Float64()
	want := math.Sqrt(num) / float64(len(obs)) / episode.ObservedOne
	if _, std := m.of(0); math.Abs(std-want) > 1e-12*want {
		t.Errorf("std %v, want %v", std, want)
	}
}

func TestMomentsAnyOrder(t *testing.T) {
	const dim = 4
	obs := observed(9, 501, dim, 300, -100)
	whole := make(moments, episode.SumsLen(dim))
	for _, o := range obs {
		episode.Add(whole, o)
	}
	slices.Reverse(obs)
	parts := make(moments, episode.SumsLen(dim))
	for len(obs) > 0 {
		n := min(len(obs), 37)
		part := make(moments, episode.SumsLen(dim))
		for _, o := range obs[:n] {
			episode.Add(part, o)
		}
		parts.merge(part)
		obs = obs[n:]
	}
	if !slices.Equal(whole, parts) {
		t.Errorf("got %v in parts, want %v", parts, whole)
	}
}

func TestMomentsHoldWhatIsTooLarge(t *testing.T) {
	m, inf := make(moments, episode.SumsLen(1)), float32(math.Inf(1))
	for _, x := range []float32{inf, -inf, math.MaxFloat32, -math.MaxFloat32, float32(math.NaN()), 0} {
		episode.Add(m, []float32{x})
	}
	mean, std := m.of(0)
	if want := math.Sqrt(4.0/6) * episode.ObservedMax; mean != 0 || math.Abs(std-want) > 1e-9 {
		t.Errorf("mean %v, std %v, want 0 and %v", mean, std, want)
	}
	full := moments{observedCount, 1, 2, 3, 4}
	full.merge(m)
	if !slices.Equal(full, moments{observedCount, 1, 2, 3, 4}) {
		t.Errorf("full sums took more: %v", full)
	}
	full = moments{observedCount - 6, 0, 0, 0, 0}
	full.merge(m)
	if full[0] != observedCount {
		t.Errorf("%d observations, want %d", full[0], uint64(observedCount))
	}
}

func TestMomentsWithoutObservations(t *testing.T) {
	mean, std := []float32{5}, []float32{5}
	make(moments, episode.SumsLen(1)).write(mean, std)
	if mean[0] != 0 || std[0] != 1 {
		t.Errorf("mean %v, std %v, want 0 and 1", mean[0], std[0])
	}
}

// FuzzMoments: words from a stranger's state give finite numbers, and no panic.
func FuzzMoments(f *testing.F) {
	f.Add(uint64(1), uint64(5), uint64(0), uint64(25), uint64(0))
	f.Add(uint64(3), ^uint64(0), ^uint64(0), uint64(1), uint64(0))
	f.Add(^uint64(0), ^uint64(0), uint64(1)<<63, ^uint64(0), ^uint64(0))
	f.Add(uint64(2), uint64(0), uint64(1)<<63, uint64(0), uint64(0))
	f.Fuzz(func(t *testing.T, n, sum0, sum1, squares0, squares1 uint64) {
		m, other := moments{n, sum0, sum1, squares0, squares1}, make(moments, episode.SumsLen(1))
		episode.Add(other, []float32{1})
		mean, std := []float32{0}, []float32{0}
		m.write(mean, std)
		m.merge(other)
		if mean[0]-mean[0] != 0 || std[0]-std[0] != 0 || std[0] < 0 {
			t.Errorf("%v: mean %v, std %v", m, mean[0], std[0])
		}
	})
}
