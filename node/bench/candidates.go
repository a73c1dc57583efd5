package bench

import (
	"fmt"

	"github.com/evoswarm/evoswarm/internal/kernel"
)

// kernelGroup is the group kernel: layers with the weights of one candidate, as in rollouts, then of many.
func kernelGroup() ([]*task, error) {
	tasks, err := withEachKernel(kernelTasks)()
	for _, rows := range []int{1, 16} {
		tasks = append(tasks, candidateTasks(rows)...)
	}
	return tasks, err
}

// candidateTasks are a pass for each of 256 candidates with weights of its own, 6 MB in all, which come from
// a far cache: as libraries for neural networks do it, where all candidates take a step together. Rollouts do
// not: a candidate's weights stay in the nearest cache for an episode. The limit is the weights' way, however
// it is read fastest, or arithmetic.
func candidateTasks(rows int) (tasks []*task) {
	const candidates = 256
	nets, pairs := make([]*network, candidates), 0.0
	for i := range nets {
		nets[i] = newNetwork([]int{24, 64, 64, 4}, rows)
		pairs += nets[i].pairs()
	}
	add := func(name string, limit func() float64, f func(n *network)) *task {
		t := &task{name: name, unit: "GMAC/s", work: pairs, warm: true, limit: limit, run: func() {
			for _, n := range nets {
				f(n)
			}
		}}
		tasks = append(tasks, t)
		return t
	}
	var reads []*task
	for _, k := range kernel.All() {
		reads = append(reads, add("", nil, func(n *network) { n.read(&k) }))
	}
	for _, k := range kernel.All() {
		peak := &task{unit: "GMAC/s", work: float64(k.MultiplyAdd(400)), run: func() { k.MultiplyAdd(400) }}
		tasks = append(tasks, peak)
		limit := func() float64 {
			way := 0.0
			for _, read := range reads {
				way = max(way, read.value())
			}
			return min(peak.value(), way)
		}
		name := fmt.Sprintf("%s layers 24-64-64-4 of %d candidates x %d", k.Name, candidates, rows)
		add(name, limit, func(n *network) { n.forward(&k, nil) })
		add(name+" tanh", limit, func(n *network) { n.forward(&k, k.Tanh) })
	}
	return tasks
}
