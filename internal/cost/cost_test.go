package cost

import (
	"errors"
	"strings"
	"testing"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/runspec"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// TestCostOfLog compares the estimate with a real generation.
func TestCostOfLog(t *testing.T) {
	for _, strategy := range []string{"dises", "openai-es"} {
		rules, err := runspec.New(runspec.Options{Env: "CartPole-v1", Strategy: strategy, Settings: runspec.Settings{"population": uint64(1024)}})
		if err != nil {
			t.Fatal(err)
		}
		key := seedlog.SoloKey(rules.Spec)
		claims, err := rules.Measure(rollout.NewPool(rules.Plan, 2), rules.Initial(), rules.Run, key, 1024/rules.EvaluationsPerChunk(), nil)
		if err != nil {
			t.Fatal(err)
		}
		entry, _ := rules.NewEntry(rules.Initial(), seedlog.Parent{Link: rules.Run}, 1, rules.Origin, claims)
		data, _ := entry.Encode()
		seal, _ := seedlog.NewSeal(entry, key, nil).Encode()
		bytes := len(data) + len(seal)
		for _, c := range claims {
			b, link := c.Encode()
			bytes += len(b) + len(link.Bytes()) + 2
		}
		got := Of(rules, 2).LogBytes
		if ratio := float64(got) / float64(bytes); ratio < 0.8 || ratio > 1.25 {
			t.Errorf("%s: estimated %d bytes of log, a generation takes %d", strategy, got, bytes)
		}
	}
}

// TestCostRefusesTheAbsurd: the spec of a stranger is refused for what it asks for, before anything is allocated.
func TestCostRefusesTheAbsurd(t *testing.T) {
	large := func(s *seedlog.Spec) {
		s.Policy = policy.Spec{Kind: "mlp", Hidden: []uint64{3900, 3900}, Activation: "tanh", Bias: true, Head: "argmax"}
	}
	for _, c := range []struct {
		name, strategy string
		change         func(*seedlog.Spec)
		word           string
	}{
		{"memory", "openai-es", large, "memory"},
		{"episodes", "dises", func(s *seedlog.Spec) { s.Episodes.Count, s.Generation.Chunk = 1024, 256; large(s) }, ""},
		{"claim", "dises", func(s *seedlog.Spec) {
			s.Episodes.Count, s.Generation.Chunk, s.Generation.Evaluations, s.Generation.Quota = 1024, 256, 256, 2
			s.Policy = policy.Spec{Kind: "mlp", Hidden: []uint64{512, 512}, Activation: "tanh", Bias: true, Head: "argmax"}
		}, "claim"},
		{"update", "dises", func(s *seedlog.Spec) {
			s.Generation.Chunk, s.Generation.Evaluations, s.Generation.Quota = 128, 1<<17, 1024
			s.Policy = policy.Spec{Kind: "mlp", Hidden: []uint64{1000, 900}, Activation: "tanh", Bias: true, Head: "argmax"}
		}, "update"},
	} {
		t.Run(c.name, func(t *testing.T) {
			spec, err := runspec.NewSpec(runspec.Options{Env: "CartPole-v1", Strategy: c.strategy, Nonce: [16]byte{7}})
			if err != nil {
				t.Fatal(err)
			}
			if err := Of(mustRules(t, spec), 2).Check(TabLimits()); err != nil {
				t.Fatalf("the plain run: %v", err)
			}
			c.change(spec)
			err = Of(mustRules(t, spec), 2).Check(TabLimits())
			if !errors.Is(err, ErrTooMuch) || !strings.Contains(err.Error(), c.word) {
				t.Errorf("got %v, want ErrTooMuch that names the %s", err, c.word)
			}
		})
	}
}

func mustRules(t *testing.T, spec *seedlog.Spec) *seedlog.Rules {
	t.Helper()
	rules, err := seedlog.NewRules(spec)
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

func TestCostCountsSlots(t *testing.T) {
	bare, err := runspec.NewSpec(runspec.Options{Env: "CartPole-v1", Strategy: "dises"})
	if err != nil {
		t.Fatal(err)
	}
	with, err := runspec.NewSpec(runspec.Options{Env: "CartPole-v1", Strategy: "openai-es", Params: evolve.Params{"sigma": 0.5}})
	if err != nil {
		t.Fatal(err)
	}
	b, w := Of(mustRules(t, bare), 1), Of(mustRules(t, with), 1)
	if w.StateBytes != 3*b.StateBytes {
		t.Errorf("got %d bytes with Adam's moments and %d without, want three times as many", w.StateBytes, b.StateBytes)
	}
}
