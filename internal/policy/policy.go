package policy

import (
	"fmt"

	"github.com/evoswarm/evoswarm/envs"
)

// Policy is a policy for one environment. It is immutable and safe for concurrent use; working memory is in a Scratch.
type Policy struct {
	net       Network
	tensors   []Tensor
	dim       int
	widest    int
	vbn       bool
	low, high []float64
}

// Tensor is a named part of theta: Rows*Cols values from Offset on, row by row.
type Tensor struct {
	// Name is "layers.K.weight" or "layers.K.bias", layers counted from 0.
	Name string `json:"name"`
	// Rows is the number of inputs, 1 for a bias.
	Rows int `json:"rows"`
	// Cols is the number of outputs.
	Cols int `json:"cols"`
	// Offset is the index in theta of the first value.
	Offset int `json:"offset"`
}

// New returns the policy that s describes for env. Errors wrap ErrSpec and name the field, its value and what
// is allowed.
func New(s Spec, env *envs.Spec) (*Policy, error) {
	if err := s.check(env); err != nil {
		return nil, err
	}
	p := &Policy{net: network(&s, env), low: env.Action.Low, high: env.Action.High, vbn: s.VBN}
	for l := range int(p.net.Layers) {
		in, out := int(p.net.Sizes[l]), int(p.net.Sizes[l+1])
		p.add(Tensor{Name: fmt.Sprintf("layers.%d.weight", l), Rows: in, Cols: out})
		if s.Bias {
			p.add(Tensor{Name: fmt.Sprintf("layers.%d.bias", l), Rows: 1, Cols: out})
		}
		p.widest = max(p.widest, out)
	}
	if p.dim > MaxDim {
		return nil, fault("hidden", s.Hidden, fmt.Sprintf("at most %d parameters in all, these are %d", MaxDim, p.dim))
	}
	return p, nil
}

// network returns the flat form of a Spec that has passed check.
func network(s *Spec, env *envs.Spec) Network {
	n := Network{Layers: int32(len(s.Hidden) + 1), Bias: s.Bias, Bins: int32(s.Bins)}
	n.Sizes[0] = int32(env.ObsDim)
	for i, w := range s.Hidden {
		n.Sizes[i+1] = int32(w)
	}
	n.Sizes[n.Layers] = int32(s.outputs(env))
	switch s.Activation {
	case "tanh":
		n.Activation = actTanh
	case "relu":
		n.Activation = actReLU
	}
	switch s.Head {
	case "bins":
		n.Head = headBins
	case "clip":
		n.Head = headClip
	}
	return n
}

// add appends t to the layout.
func (p *Policy) add(t Tensor) {
	t.Offset = p.dim
	p.tensors = append(p.tensors, t)
	p.dim += t.Rows * t.Cols
}

// Dim returns the number of parameters: the length of theta.
func (p *Policy) Dim() int { return p.dim }

// Outputs returns the width of the output layer.
func (p *Policy) Outputs() int { return int(p.net.Sizes[p.net.Layers]) }

// Widest returns the width of the widest layer, not counting the input.
func (p *Policy) Widest() int { return p.widest }

// ActDim returns the length of an action.
func (p *Policy) ActDim() int {
	if p.net.Head == headArgmax {
		return 1
	}
	return len(p.low)
}

// Network returns the policy as one flat value.
func (p *Policy) Network() Network { return p.net }

// Layout returns the parts of theta in ascending order of Offset, without gaps. The slice is the caller's.
func (p *Policy) Layout() []Tensor { return append([]Tensor(nil), p.tensors...) }

// Scratch is working memory for Act. One goroutine may use it at a time. Its contents between calls do not matter.
type Scratch struct {
	a, b []float32
}

// Scratch returns working memory for up to rows observations at a time.
func (p *Policy) Scratch(rows int) *Scratch {
	return &Scratch{a: make([]float32, rows*p.widest), b: make([]float32, rows*p.widest)}
}

// outputs computes the outputs of the network with the parameters theta (length Dim) for rows observations
// (of length ObsDim each): rows of Outputs values, which may be NaN or infinite. The result is part of sc and
// valid until its next use. outputs does not allocate. Bit exact.
func (p *Policy) outputs(theta, obs []float32, rows int, sc *Scratch) []float32 {
	p.net.Forward(theta[:p.dim], obs, sc.a, sc.b, rows)
	if p.net.Layers%2 == 1 {
		return sc.a[:rows*p.Outputs()]
	}
	return sc.b[:rows*p.Outputs()]
}

// Act writes the action for obs with the parameters theta to act.
//
// theta has length Dim, obs the environment's ObsDim, act ActDim; shorter slices panic. A discrete action is
// an integer in 0 .. N-1. A continuous action is finite and within the environment's bounds for any theta and
// obs. Act keeps no reference and does not allocate. Bit exact.
func (p *Policy) Act(theta, obs []float32, sc *Scratch, act []float64) {
	p.net.Choose(act[:p.ActDim()], p.outputs(theta, obs, 1, sc), p.low, p.high, nil)
}

// ActBatch is Act for a batch: obs has rows observations and act gets as many rows of actions; sc must be for
// at least as many. The layers read theta once for several rows, and each row gets the same bits as from Act.
// noise is empty, or is added row by row to continuous actions before they are clamped to the environment's
// bounds; it does not affect discrete actions.
func (p *Policy) ActBatch(theta, obs []float32, rows int, sc *Scratch, act, noise []float64) {
	p.net.Act(theta[:p.dim], obs, sc.a, sc.b, rows, act, p.ActDim(), p.low, p.high, noise)
}
