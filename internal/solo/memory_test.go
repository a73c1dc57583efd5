//go:build !js

package solo

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/runspec"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// largeRules are those of a run of CartPole by openai-es with two hidden layers of that width: width^2 + 8 width + 2
// parameters.
func largeRules(t testing.TB, width, population uint64) *seedlog.Rules {
	t.Helper()
	return soloRules(t, runspec.Options{Env: "CartPole-v1", Strategy: "openai-es", Params: evolve.Params{"sigma": 0.02, "alpha": 0.01, "beta1": 0.9, "beta2": 0.999, "l2": 0.0},
		Settings: runspec.Settings{"population": population, "eval-every": uint64(1000), "hidden": []uint64{width, width}, "activation": "tanh", "bias": true}})
}

// allocated returns how many bytes f asks for, those that it gives back included.
func allocated(f func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// TestMemoryIsNotPopulationTimesParameters: what training takes is the states, a vector for each worker and a few words
// for each evaluation. Bytes given back count too, so a copy for each candidate or digest would show even if it were
// freed at once.
func TestMemoryIsNotPopulationTimesParameters(t *testing.T) {
	const workers, generations = 2, 2
	for _, size := range []struct{ width, population uint64 }{{400, 16}, {28, 2048}} {
		rules := largeRules(t, size.width, size.population)
		dim := int64(rules.Shape().Dim)
		path := filepath.Join(t.TempDir(), "run.seedlog")
		got := allocated(func() {
			train(t, path, rules, workers, Until{Evaluations: generations * size.population})
		})
		// Adam's state has three vectors; an update makes the next one and a gradient.
		vectors := int64(3+generations*(3+1)+workers) * dim * 4
		results := int64(generations*size.population) * 600
		if limit := vectors*11/10 + results + 1<<20; got > limit {
			t.Errorf("%d parameters, population %d: %d bytes, want at most %d", dim, size.population, got, limit)
		}
	}
}

// BenchmarkLarge makes one generation of the largest sizes that are promised and reports the most memory that the
// process ever had resident: run each alone.
func BenchmarkLarge(b *testing.B) {
	for _, size := range []struct{ width, population uint64 }{{3160, 16}, {28, 100_000}} {
		rules := largeRules(b, size.width, size.population)
		b.Run(fmt.Sprintf("%d-parameters/population-%d", rules.Shape().Dim, size.population), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				debug.FreeOSMemory()
				train(b, filepath.Join(b.TempDir(), "run.seedlog"), rules, 0, Until{Evaluations: size.population})
			}
			b.ReportMetric(peakMB(b), "peak-MB")
			b.ReportMetric(float64(rules.Shape().Bytes())/1e6, "state-MB")
		})
	}
}

// peakMB is the most that the process ever had resident.
func peakMB(t testing.TB) float64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := bytes.Cut(status, []byte("VmHWM:"))
	var kib float64
	if _, err := fmt.Sscanf(string(rest), "%f", &kib); err != nil {
		t.Fatal(err)
	}
	return kib * 1024 / 1e6
}
