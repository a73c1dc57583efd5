package policy

import (
	"github.com/evoswarm/evoswarm/internal/exact"
	"github.com/evoswarm/evoswarm/internal/noise"
)

// outputScale makes the outputs of a new network small, so that it prefers no action, as in Salimans et al.,
// "Evolution Strategies as a Scalable Alternative to Reinforcement Learning" (2017).
const outputScale = 0.01

// Init writes the initial parameters to theta (length Dim).
//
// A linear policy starts at zero. In a network the weights are independent normal draws from the stream of
// seed in noise.DomainInit, in ascending order, divided by the square root of the layer's inputs; those of
// the output layer are 100 times smaller; biases are 0. Bit exact.
func (p *Policy) Init(theta []float32, seed uint64) {
	theta = theta[:p.dim]
	for i := range theta {
		theta[i] = 0
	}
	if p.net.Layers == 1 {
		return
	}
	stream := noise.NewStream(seed, noise.DomainInit)
	for l := range int(p.net.Layers) {
		t := p.weights(l)
		scale := 1 / exact.Sqrt(float64(t.Rows))
		if l == int(p.net.Layers)-1 {
			scale *= outputScale
		}
		w := theta[t.Offset : t.Offset+t.Rows*t.Cols]
		for i := range w {
			w[i] = float32(stream.Normal() * float32(scale))
		}
	}
}

// weights returns the weights of layer l.
func (p *Policy) weights(l int) Tensor {
	if p.net.Bias {
		l *= 2
	}
	return p.tensors[l]
}
