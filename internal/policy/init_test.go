package policy

import (
	"math"
	"slices"
	"testing"

	"github.com/evoswarm/evoswarm/internal/noise"
)

func TestInitLinearIsZero(t *testing.T) {
	p := mustNew(t, Spec{Kind: "linear", Bias: true, Head: "argmax"}, discrete)
	theta := make([]float32, p.Dim())
	for i := range theta {
		theta[i] = float32(math.NaN())
	}
	p.Init(theta, 1)
	if !slices.Equal(theta, make([]float32, p.Dim())) {
		t.Errorf("Init gives %v, want zeros", theta)
	}
}

// TestInitMoments checks the spread of every layer's weights and that biases are 0.
func TestInitMoments(t *testing.T) {
	for _, bias := range []bool{true, false} {
		s := Spec{Kind: "mlp", Hidden: []uint64{400, 300}, Activation: "tanh", Bias: bias, Head: "bins", Bins: 100}
		p := mustNew(t, s, box)
		theta := make([]float32, p.Dim())
		p.Init(theta, 7)
		for _, tensor := range p.Layout() {
			var sum, squares float64
			n := tensor.Rows * tensor.Cols
			for _, x := range theta[tensor.Offset : tensor.Offset+n] {
				sum += float64(x)
				squares += float64(x) * float64(x)
			}
			want := 1 / math.Sqrt(float64(tensor.Rows))
			switch tensor.Name {
			case "layers.2.weight":
				want /= 100
			case "layers.0.bias", "layers.1.bias", "layers.2.bias":
				want = 0
			}
			// 5 standard errors of mean and deviation.
			mean, deviation := sum/float64(n), math.Sqrt(squares/float64(n))
			if most := 5 / math.Sqrt(float64(n)); math.Abs(mean) > want*most || math.Abs(deviation-want) > want*most {
				t.Errorf("%s: mean %v, deviation %v, want 0, %v", tensor.Name, mean, deviation, want)
			}
		}
	}
}

func TestInitSeeds(t *testing.T) {
	p := mustNew(t, Spec{Kind: "mlp", Hidden: []uint64{8}, Activation: "relu", Bias: true, Head: "argmax"}, discrete)
	a, b, c := make([]float32, p.Dim()), make([]float32, p.Dim()), make([]float32, p.Dim())
	p.Init(a, 1)
	p.Init(b, 1)
	p.Init(c, 2)
	if !slices.Equal(a, b) {
		t.Error("one seed gives different parameters")
	}
	if slices.Equal(a, c) {
		t.Error("two seeds give the same parameters")
	}
	// The first layer with 4 inputs is scaled by 1/2: it must not be the perturbation of the same seed.
	eps := make([]float32, 4)
	noise.FillNormal(eps, 1, 0)
	if a[0] == eps[0]/2 && a[1] == eps[1]/2 {
		t.Error("the first parameters are the perturbation of the same seed")
	}
}
