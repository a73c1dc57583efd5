package seedlog

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

// conditioned returns newSpec with all that can be asked of episodes.
func conditioned(t testing.TB) *Spec {
	t.Helper()
	s := newSpec(t, "openai-es")
	s.Policy = policy.Spec{Kind: "mlp", Hidden: []uint64{4}, Activation: "tanh", Bias: true, Head: "argmax", VBN: true}
	s.Episodes.Conditions = rollout.Conditions{Bonus: 0.5, Skip: 2, Cap: 2}
	s.Observations = &rollout.Observations{Kind: rollout.Running, Episodes: 2, Clip: 5}
	origin := PeerOf(SoloKey(s))
	s.Origin = origin[:]
	return s
}

// TestConditionsInTheSpec holds the bytes of the optional fields, which docs/spec/seedlog.md shows too.
func TestConditionsInTheSpec(t *testing.T) {
	plain := Encode(newSpec(t, "openai-es"))
	for _, name := range []string{"action_noise", "bonus", "growth", "horizon", "skip", "observations", "vbn"} {
		if bytes.Contains(plain, []byte(name)) {
			t.Errorf("a spec without conditions has %s", name)
		}
	}
	s := conditioned(t)
	s.Episodes.ActionNoise = 0.25
	got := Encode(s)
	for what, want := range map[string]string{
		"episodes": hex.EncodeToString([]byte("hepisodes")) + "a6" + "63636170" + "fb4000000000000000" + "64736b6970" + "02" + "65626f6e7573" + "fb3fe0000000000000" +
			"65636f756e74" + "01" + "66736861726564" + "f5" + "6c616374696f6e5f6e6f697365" + "fb3fd0000000000000",
		"observations": hex.EncodeToString([]byte("lobservations")) + "a3" + "64636c6970" + "fb4014000000000000" + "646b696e64" + "6772756e6e696e67" + "68657069736f646573" + "02",
		"vbn":          "6376626e" + "f5",
	} {
		if !strings.Contains(hex.EncodeToString(got), want) {
			t.Errorf("%s: the spec %x lacks %s", what, got, want)
		}
	}
	again, err := DecodeSpec(got)
	if err != nil || !bytes.Equal(Encode(again), got) {
		t.Errorf("%x: %v", got, err)
	}
}

// TestHostileConditions: what is out of range is refused as soon as it is read.
func TestHostileConditions(t *testing.T) {
	for name, change := range map[string]func(*Spec){
		"action_noise": func(s *Spec) { s.Episodes.ActionNoise = -1 },
		"bonus":        func(s *Spec) { s.Episodes.Bonus = 1e300 },
		"skip":         func(s *Spec) { s.Episodes.Skip = 1 << 60 },
		"cap":          func(s *Spec) { s.Episodes.Cap = 0.5 },
		"horizon":      func(s *Spec) { s.Episodes.Horizon = 1 << 40 },
		"growth":       func(s *Spec) { s.Episodes.Growth = -1 },
		"steps":        func(s *Spec) { *s.Observations = rollout.Observations{Kind: rollout.Frozen, Steps: 1 << 60, Clip: 5} },
		"episodes":     func(s *Spec) { s.Observations.Episodes = 1 << 60 },
		"clip":         func(s *Spec) { s.Observations.Clip = 0 },
		"kind":         func(s *Spec) { s.Observations.Kind = strings.Repeat("x", 1000) },
	} {
		s := conditioned(t)
		change(s)
		_, err := DecodeSpec(Encode(s))
		if !errors.Is(err, ErrSpec) || !errors.Is(err, rollout.ErrEpisodes) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: DecodeSpec gives %v, want ErrSpec", name, err)
		}
		if _, err := NewRules(s); !errors.Is(err, ErrSpec) {
			t.Errorf("%s: NewRules gives %v, want ErrSpec", name, err)
		}
	}
	spec := Encode(conditioned(t))
	bonus := append([]byte("ebonus"), Encode(0.5)...)
	if !bytes.Contains(spec, bonus) {
		t.Fatalf("%x has no %x", spec, bonus)
	}
	for name, bits := range map[string]uint64{"NaN": 0x7ff8 << 48, "infinity": 0x7ff0 << 48, "-0": 1 << 63, "0 written out": 0} {
		b := append([]byte("ebonus\xfb"), 0, 0, 0, 0, 0, 0, 0, 0)
		for i := range 8 {
			b[7+i] = byte(bits >> (56 - 8*i))
		}
		if _, err := DecodeSpec(bytes.Replace(spec, bonus, b, 1)); err == nil {
			t.Errorf("bonus %s (%v) was accepted", name, math.Float64frombits(bits))
		}
	}
	s := conditioned(t)
	s.Episodes.ActionNoise = 1
	if _, err := NewRules(s); !errors.Is(err, rollout.ErrEpisodes) {
		t.Errorf("noise on discrete actions: %v, want ErrEpisodes", err)
	}
	s = conditioned(t)
	s.Policy.Bias = false
	if _, err := NewRules(s); !errors.Is(err, policy.ErrSpec) {
		t.Errorf("vbn without biases: %v, want policy.ErrSpec", err)
	}
}

// TestConditionedChain trains with everything on, and replays the log with every check.
func TestConditionedChain(t *testing.T) {
	rules := newRules(t, conditioned(t))
	all, state := newChain(t, rules, 4)
	var log bytes.Buffer
	w := NewWriter(&log)
	if _, err := w.WriteBeginning(rules); err != nil {
		t.Fatal(err)
	}
	claimed := uint64(0)
	for _, g := range all {
		if _, err := w.AppendEntry(g.entry, g.seal, g.claims); err != nil {
			t.Fatal(err)
		}
		claimed += g.entry.Steps
	}
	for _, check := range []Check{CheckLinks, CheckDigests, CheckClaims} {
		got, err := Replay(bytes.NewReader(log.Bytes()), ReplayOptions{Check: check})
		if err != nil {
			t.Fatal(err)
		}
		if check == CheckLinks {
			if got.Steps != claimed {
				t.Errorf("%d steps, the claims have %d", got.Steps, claimed)
			}
			continue
		}
		if got.State.Digest() != state.Digest() || got.Steps != claimed+rules.ObserveSteps(state) || got.Steps <= claimed {
			t.Errorf("check %s: %d steps, want %d of claims and %d more", check, got.Steps, claimed, rules.ObserveSteps(state))
		}
	}
	// Another parent, other episodes, other statistics.
	first := all[0]
	other := rules.Apply(first.state, LinkOf([]byte("elsewhere")), first.claims)
	same := rules.Apply(first.state, rules.Run, first.claims)
	if other.Digest() == same.Digest() || other.ThetaDigest() != same.ThetaDigest() {
		t.Error("the statistics do not come from episodes that the parent names")
	}
}
