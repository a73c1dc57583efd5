package hover

import (
	"testing"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/envs/envtest"
)

// TestConform checks all that the rest of the module relies on.
func TestConform(t *testing.T) { envtest.Conform(t, Spec, clone) }

func BenchmarkStep(b *testing.B) { envtest.Bench(b, Spec) }

func clone(e envs.Env) envs.Env {
	c := *e.(*drone)
	return &c
}
