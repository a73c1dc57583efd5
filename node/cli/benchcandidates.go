package cli

import (
	"fmt"
	"slices"

	"github.com/evoswarm/evoswarm/internal/kernel"
)

// eachCandidate is how many candidates take turns.
const eachCandidate = 256

// kernelGroup is the group kernel: layers with the weights of one candidate, as in rollouts, then of many.
func kernelGroup(k kernel.Kernel) []*benchTask {
	return slices.Concat(kernelTasks(k), candidateTasks(k))
}

// candidateTasks are a pass for each of 256 candidates with weights of its own, 6 MB in all, which come from a far cache:
// as libraries for neural networks do it, where all candidates take a step together. Rollouts do not: a candidate's
// weights stay in the nearest cache for an episode. The limit is the weights' way, and arithmetic for several rows.
func candidateTasks(k kernel.Kernel) (tasks []*benchTask) {
	peak := &benchTask{unit: "GMAC/s", work: float64(k.MultiplyAdd(400)), run: func() { k.MultiplyAdd(400) }}
	tasks = append(tasks, peak)
	for _, rows := range []int{1, 16} {
		nets, pairs := make([]*benchNet, eachCandidate), 0.0
		for i := range nets {
			nets[i] = newBenchNet([]int{24, 64, 64, 4}, rows)
			pairs += nets[i].pairs()
		}
		each := func(f func(n *benchNet)) func() {
			return func() {
				for _, n := range nets {
					f(n)
				}
			}
		}
		read := &benchTask{unit: "GMAC/s", work: pairs, warm: true, run: each(func(n *benchNet) { n.read(&k) })}
		limit := func() float64 { return min(peak.value(), read.value()) }
		name := fmt.Sprintf("%s layers 24-64-64-4 of %d candidates x %d", k.Name, eachCandidate, rows)
		tasks = append(tasks, read,
			&benchTask{name: name, unit: "GMAC/s", work: pairs, warm: true, limit: limit, run: each(func(n *benchNet) { n.forward(&k, nil) })},
			&benchTask{name: name + " tanh", unit: "GMAC/s", work: pairs, warm: true, limit: limit, run: each(func(n *benchNet) { n.forward(&k, k.Tanh) })})
	}
	return tasks
}
