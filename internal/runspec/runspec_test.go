package runspec

import (
	"errors"
	"testing"

	"github.com/evoswarm/evoswarm/internal/evolve"
)

func TestNewSpec(t *testing.T) {
	for _, c := range []struct {
		name                     string
		o                        Options
		evaluations, chunk, most uint64
		err                      error
	}{
		{"preset", Options{Env: "CARTPOLE-V1", Strategy: "dises"}, 8, 8, 1, nil},
		{"pairs", Options{Env: "CartPole-v1", Strategy: "openai-es"}, 8, 4, 1, nil},
		{"swarm", Options{Env: "CartPole-v1", Strategy: "dises", Nonce: [16]byte{9}}, 32, 32, 2, nil},
		{"swarm of long episodes", Options{Env: "BipedalWalker-v3", Nonce: [16]byte{9}}, 40, 5, 16, nil},
		{"odd population", Options{Env: "CartPole-v1", Strategy: "dises", Settings: Settings{"population": uint64(7)}}, 7, 7, 1, nil},
		{"prime population", Options{Env: "CartPole-v1", Strategy: "dises", Settings: Settings{"population": uint64(1009)}}, 1009, 1, 1009, nil},
		{"many", Options{Env: "CartPole-v1", Strategy: "dises", Settings: Settings{"population": uint64(1 << 17)}}, 1 << 17, 256, 512, nil},
		{"odd pairs", Options{Env: "CartPole-v1", Strategy: "openai-es", Settings: Settings{"population": uint64(7)}}, 0, 0, 0, evolve.ErrParams},
		{"large prime", Options{Env: "CartPole-v1", Strategy: "dises", Settings: Settings{"population": uint64(1031)}}, 0, 0, 0, ErrPopulation},
		{"too many", Options{Env: "CartPole-v1", Strategy: "dises", Settings: Settings{"population": uint64(1<<17 + 1)}}, 0, 0, 0, ErrSetting},
		{"setting", Options{Env: "CartPole-v1", Strategy: "dises", Params: evolve.Params{"sigmas": 1.0}}, 0, 0, 0, evolve.ErrParams},
		{"strategy", Options{Env: "CartPole-v1", Strategy: "des"}, 0, 0, 0, evolve.ErrMethod},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec, err := NewSpec(c.o)
			if !errors.Is(err, c.err) {
				t.Fatalf("got %v, want %v", err, c.err)
			}
			if err != nil {
				return
			}
			g := spec.Generation
			if g.Evaluations != c.evaluations || g.Chunk != c.chunk || g.Quota != c.most {
				t.Errorf("got %+v, want %d evaluations in chunks of %d, at most %d per peer", g, c.evaluations, c.chunk, c.most)
			}
		})
	}
}
