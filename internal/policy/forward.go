package policy

import "github.com/evoswarm/evoswarm/internal/kernel"

// maxLayers is the largest number of layers: 8 hidden layers and the output layer.
const maxLayers = 9

// Activations.
const (
	actNone int32 = iota
	actTanh
	actReLU
)

// Heads.
const (
	headArgmax int32 = iota
	headBins
	headClip
)

// Network is a policy as one flat value, for code outside of Go.
type Network struct {
	// Layers is the number of layers, the output layer included.
	Layers int32
	// Sizes holds the width of the input, then of each layer.
	Sizes [maxLayers + 1]int32
	// Activation follows every layer but the last.
	Activation int32
	// Bias says that a bias follows the weights of every layer.
	Bias bool
	// Head turns outputs into an action.
	Head int32
	// Bins is the number of outputs per action dimension of a bins head.
	Bins int32
}

// Forward computes the outputs for rows observations, stored as rows of obs. The layers write to a and b
// alternately, so the outputs are rows of a if Layers is odd, and of b otherwise. a and b have room for as
// many rows of the widest layer, not counting the input.
func (n *Network) Forward(theta, obs, a, b []float32, rows int) {
	at := 0
	for l := int32(0); l < n.Layers; l++ {
		in, out := int(n.Sizes[l]), int(n.Sizes[l+1])
		weights := theta[at : at+in*out]
		at += in * out
		bias := theta[at:at]
		if n.Bias {
			bias = theta[at : at+out]
			at += out
		}
		y, x := a[:rows*out], b
		if l%2 == 1 {
			y, x = b[:rows*out], a
		}
		if l == 0 {
			x = obs
		}
		if rows == 1 {
			kernel.Dense(y, weights, bias, x[:in])
		} else {
			kernel.DenseBatch(y, weights, bias, x[:rows*in], rows)
		}
		if l < n.Layers-1 {
			n.activate(y)
		}
	}
}

// Act turns rows observations, stored as rows of obs, into as many rows of actions of length actDim. a and b are the
// working memory of Forward, low, high and noise are as in Choose; noise is empty, or has a row for each action.
func (n *Network) Act(theta, obs, a, b []float32, rows int, act []float64, actDim int, low, high, noise []float64) {
	n.Forward(theta, obs, a, b, rows)
	y := a
	if n.Layers%2 == 0 {
		y = b
	}
	outputs, own := int(n.Sizes[n.Layers]), noise
	for r := range rows {
		if len(noise) > 0 {
			own = noise[r*actDim : (r+1)*actDim]
		}
		n.Choose(act[r*actDim:(r+1)*actDim], y[r*outputs:(r+1)*outputs], low, high, own)
	}
}

// activate applies the activation to y in place.
func (n *Network) activate(y []float32) {
	if n.Activation == actTanh {
		kernel.Tanh(y)
	} else if n.Activation == actReLU {
		kernel.Relu(y)
	}
}

// Choose turns the outputs y into an action. low and high are the bounds of a continuous action, one per
// dimension; a discrete action needs none. noise is empty, or is added to a continuous action before it is
// clamped to its bounds.
func (n *Network) Choose(act []float64, y []float32, low, high, noise []float64) {
	if n.Head == headArgmax {
		act[0] = float64(argmax(y))
		return
	}
	for i := range act {
		if n.Head == headBins {
			k := argmax(y[i*int(n.Bins) : (i+1)*int(n.Bins)])
			act[i] = low[i] + float64(float64(k)*(high[i]-low[i]))/float64(n.Bins-1)
			if len(noise) > 0 {
				act[i] = clip(act[i]+noise[i], low[i], high[i])
			}
		} else if len(noise) > 0 {
			act[i] = clip(float64(y[i])+noise[i], low[i], high[i])
		} else {
			act[i] = clip(float64(y[i]), low[i], high[i])
		}
	}
}

// argmax returns the lowest index of the largest value. NaN ranks below everything; if all values are NaN the
// result is 0.
func argmax(y []float32) int {
	best := 0
	for i := 1; i < len(y); i++ {
		if y[i] > y[best] || (y[best] != y[best] && y[i] == y[i]) {
			best = i
		}
	}
	return best
}

// clip clamps x to [low, high]; NaN becomes low.
func clip(x, low, high float64) float64 {
	if !(x > low) {
		return low
	}
	if x > high {
		return high
	}
	return x
}
