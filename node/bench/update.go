package bench

import (
	"runtime"

	"github.com/evoswarm/evoswarm/internal/cores"
	"github.com/evoswarm/evoswarm/internal/kernel"
)

func allUpdateTasks() ([]*task, error) {
	tasks, err := withEachKernel(updateTasks)()
	return append(tasks, updateCoresTasks()...), err
}

// updateTasks are parts of an update of 100,000 parameters over 1,000 seeds: one part of 1,024 parameters and all
// seeds in a slice, as package evolve blocks it. Values are per seed and parameter.
func updateTasks(k kernel.Kernel) []*task {
	const part, seeds, parts = 1024, 100, 97
	theta, eps := make([]float32, part*parts), make([]float32, part)
	at, seed := 0, uint64(0)
	next := func() {
		if seed += seeds; seed == 1000 {
			seed, at = 0, (at+1)%parts
		}
	}
	noise := &task{unit: "ns", work: part * seeds, run: func() {
		for i := range uint64(seeds) {
			k.Normal(eps, seed+i, part*at)
		}
		next()
	}}
	return []*task{noise, {name: k.Name + " update", unit: "ns", work: part * seeds, limit: noise.value, run: func() {
		for i := range uint64(seeds) {
			k.Accumulate(theta[part*at:part*(at+1)], 1e-3, seed+i, part*at)
		}
		next()
	}}}
}

// updateCoresTasks compare an update of 100,000 parameters on all cores with the same on one, with 100 seeds:
// their number does not matter, as every part is computed with all of them.
func updateCoresTasks() []*task {
	const part, seeds, parts = 1024, 100, 98
	n := runtime.GOMAXPROCS(0)
	if n == 1 {
		return nil
	}
	theta := make([]float32, part*parts)
	sum := func(at int) {
		for seed := range uint64(seeds) {
			kernel.Accumulate(theta[part*at:part*(at+1)], 1e-3, seed, part*at)
		}
	}
	one := &task{unit: "ns", work: part * parts * seeds, run: func() {
		for at := range parts {
			sum(at)
		}
	}}
	many := &task{unit: "ns", work: part * parts * seeds, run: func() { cores.Each(parts, sum) }}
	return []*task{one, many, against("update", many, one, n)}
}

// memoryTasks read 512 MiB, 4 MiB in a run: few caches hold that much.
func memoryTasks() ([]*task, error) {
	const size, window = 512 << 18, 4 << 18 // float32
	x := make([]float32, size)
	for i := 0; i < size; i += 1024 {
		x[i] = 1 // else all pages are one
	}
	all, at := kernel.All(), 0
	k := all[len(all)-1]
	return []*task{{name: "memory read", unit: "GB/s", work: 4 * window, run: func() {
		k.Read(x[at : at+window])
		at = (at + window) % size
	}}}, nil
}
