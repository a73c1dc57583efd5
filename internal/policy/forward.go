package policy

import "github.com/evoswarm/evoswarm/internal/kernel"

// maxLayers is the number of layers that a network can have: 8 hidden and one output layer.
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

// Network is a policy as one flat value, for code that runs where Go does not.
type Network struct {
	// Layers is the number of layers, the output layer included.
	Layers int32
	// Sizes holds the input's width, then each layer's.
	Sizes [maxLayers + 1]int32
	// Activation follows every layer but the last.
	Activation int32
	// Bias says that every layer's weights are followed by its bias.
	Bias bool
	// Head makes an action of the outputs.
	Head int32
	// Bins is the number of outputs for each action dimension of a bins head.
	Bins int32
}

// forward computes the outputs for the given number of observations, one row after the
// other in obs. They are rows in a if Layers is odd, else in b: the layers take turns.
// a and b hold as many rows of the widest layer (the input does not count).
func (n *Network) forward(theta, obs, a, b []float32, rows int) {
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

// activate applies the activation to y in place.
func (n *Network) activate(y []float32) {
	if n.Activation == actTanh {
		kernel.Tanh(y)
	} else if n.Activation == actReLU {
		kernel.Relu(y)
	}
}

// choose makes an action of the outputs y. low and high are the bounds of a real action, one per dimension; a
// discrete action needs none. noise is empty, or is added to a real action before it is held to its bounds.
func (n *Network) choose(act []float64, y []float32, low, high, noise []float64) {
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

// argmax returns the lowest index of the largest value. NaN is below everything; if all are NaN the result is 0.
func argmax(y []float32) int {
	best := 0
	for i := 1; i < len(y); i++ {
		if y[i] > y[best] || (y[best] != y[best] && y[i] == y[i]) {
			best = i
		}
	}
	return best
}

// clip holds x to [low, high]; NaN becomes low.
func clip(x, low, high float64) float64 {
	if !(x > low) {
		return low
	}
	if x > high {
		return high
	}
	return x
}
