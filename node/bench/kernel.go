package bench

import (
	"fmt"
	"strings"

	"github.com/evoswarm/evoswarm/internal/kernel"
	"github.com/evoswarm/evoswarm/internal/noise"
)

// network is a network whose layers are computed one after the other, each waiting for the one before, for one
// observation or for rows that share its weights.
type network struct {
	rows    int
	w, b, h [][]float32
	x       []float32
}

func newNetwork(sizes []int, rows int) *network {
	s := noise.NewStream(1, noise.DomainInit)
	normal := func(n int, scale float32) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = scale * s.Normal()
		}
		return v
	}
	n := &network{rows: rows, x: normal(rows*sizes[0], 1)}
	for l, out := range sizes[1:] {
		n.w, n.b, n.h = append(n.w, normal(sizes[l]*out, 0.1)), append(n.b, normal(out, 1)), append(n.h, make([]float32, rows*out))
	}
	return n
}

// forward feeds an output back, as a world would: no two passes overlap.
func (n *network) forward(k *kernel.Kernel, activate func(y []float32)) {
	x := n.x
	for l, h := range n.h {
		if n.rows == 1 {
			k.Dense(h, n.w[l], n.b[l], x)
		} else {
			k.DenseBatch(h, n.w[l], n.b[l], x, n.rows)
		}
		if activate != nil && l < len(n.h)-1 {
			activate(h)
		}
		x = h
	}
	n.x[0] = 1e-3 * x[0]
}

// read does nothing but load the weights of a pass.
func (n *network) read(k *kernel.Kernel) {
	for _, w := range n.w {
		k.Read(w)
	}
}

// pairs is how many multiplications and additions a pass has.
func (n *network) pairs() float64 {
	sum := 0
	for _, w := range n.w {
		sum += n.rows * len(w)
	}
	return float64(sum)
}

// kernelTasks are layers and activations. The weights of a network may lie in a cache whose reads are slower than the
// arithmetic: then these are the limit for one observation; for several that share the weights, arithmetic is.
func kernelTasks(k kernel.Kernel) []*task {
	const rounds = 80_000 // a fifth of a millisecond: the widest vectors take a while to reach their full rate, and a limit must not be too low
	peak := &task{name: k.Name + " multiply-add in registers", unit: "GMAC/s", work: float64(k.MultiplyAdd(rounds)), run: func() { k.MultiplyAdd(rounds) }}
	tasks := []*task{peak}
	for _, c := range []struct {
		sizes []int
		rows  int
	}{{[]int{4, 16, 2}, 1}, {[]int{4, 64, 64, 2}, 1}, {[]int{24, 64, 64, 4}, 1}, {[]int{24, 64, 64, 4}, 16}, {[]int{376, 256, 256, 17}, 1}, {[]int{376, 256, 256, 17}, 16}} {
		n := newNetwork(c.sizes, c.rows)
		name := k.Name + " layers " + strings.Trim(strings.ReplaceAll(fmt.Sprint(c.sizes), " ", "-"), "[]")
		limit := peak.value
		if c.rows > 1 {
			name += fmt.Sprint(" x ", c.rows)
		} else {
			read := &task{unit: "GMAC/s", work: n.pairs(), warm: true, run: func() { n.read(&k) }} // without a name: not shown
			tasks = append(tasks, read)
			limit = func() float64 { return min(peak.value(), read.value()) }
		}
		row := func(name string, activate func(y []float32)) *task {
			return &task{name: name, unit: "GMAC/s", work: n.pairs(), warm: true, limit: limit, run: func() { n.forward(&k, activate) }}
		}
		tasks = append(tasks, row(name, nil), row(name+" tanh", k.Tanh), row(name+" relu", k.Relu))
	}
	y := make([]float32, 1024)
	return append(tasks,
		&task{name: k.Name + " tanh", unit: "ns", work: 1024, run: func() { k.Tanh(y) }},
		&task{name: k.Name + " relu", unit: "ns", work: 1024, run: func() { k.Relu(y) }})
}

// noiseTasks are perturbations of 10,000 parameters.
func noiseTasks(k kernel.Kernel) []*task {
	const n = 10_000
	theta, dst := make([]float32, n), make([]float32, n)
	return []*task{
		{name: k.Name + " noise", unit: "ns", work: n, run: func() { k.Normal(dst, 7, 0) }},
		{name: k.Name + " perturb", unit: "ns", work: n, run: func() { k.Perturb(dst, theta, 0.02, 1, 7) }},
	}
}
