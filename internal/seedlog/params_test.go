package seedlog

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"math"
	"strings"
	"testing"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/policy"
)

// windySpec returns the spec of a run on one machine, of format 2, in wind.
func windySpec(t testing.TB) *Spec {
	t.Helper()
	s := newSpec(t, "openai-es")
	s.Format, s.SpotChecks, s.Generation.Duration = Format2, &SpotChecks{First: 1, Share: 32}, 250
	s.Env = EnvRef{ID: "LunarLanderContinuous-v3", Revision: 1, Params: envs.Params{"enable_wind": 1, "gravity": -8.5}}
	s.Policy = policy.Spec{Kind: "linear", Hidden: []uint64{}, Head: "clip"}
	origin := PeerOf(SoloKey(s))
	s.Origin = origin[:]
	return s
}

// TestParamsInTheSpec holds the bytes of the field, and what they do.
func TestParamsInTheSpec(t *testing.T) {
	s := windySpec(t)
	got := Encode(s)
	// Three fields of env; two parameters, the shorter name first, as float64.
	want := hex.EncodeToString([]byte("cenv")) + "a3" + hex.EncodeToString([]byte("bid")) + "7818" + hex.EncodeToString([]byte("LunarLanderContinuous-v3")) +
		hex.EncodeToString([]byte("fparams")) + "a2" + hex.EncodeToString([]byte("ggravity")) + "fbc021000000000000" + hex.EncodeToString([]byte("kenable_wind")) + "fb3ff0000000000000"
	if !strings.Contains(hex.EncodeToString(got), want) {
		t.Errorf("the spec %x lacks %s", got, want)
	}
	again, err := DecodeSpec(got)
	if err != nil || !bytes.Equal(Encode(again), got) {
		t.Fatalf("%x: %v", got, err)
	}
	rules := newRules(t, again)
	if given := rules.Env.Given(); !maps.Equal(given, s.Env.Params) {
		t.Errorf("the run's environment has %v, want %v", given, s.Env.Params)
	}
	calm := windySpec(t)
	calm.Env.Params = nil
	if bytes.Contains(Encode(calm), []byte("ggravity")) || newRules(t, calm).Run == rules.Run {
		t.Error("a run without wind is the same one")
	}
	if _, err := Replay(bytes.NewReader(windyLog(t, rules)), ReplayOptions{Check: CheckClaims}); err != nil {
		t.Errorf("replay: %v", err)
	}
}

func windyLog(t testing.TB, rules *Rules) []byte {
	t.Helper()
	chain, _ := newChain(t, rules, 2)
	return file(rules, chain...)
}

// TestHostileParams: a spec has one encoding of them, and who cannot honor them refuses the run.
func TestHostileParams(t *testing.T) {
	many := envs.Params{}
	for i := range envs.MaxParams + 1 {
		many[fmt.Sprintf("p%d", i)] = 1
	}
	for _, c := range []struct {
		name   string
		change func(*Spec)
		want   error
		text   string
	}{
		{"in format 1", func(s *Spec) { s.Format, s.SpotChecks, s.Generation.Duration = Format1, nil, 0 }, ErrSpec, "env.params is a field of format 2"},
		{"none of that name", func(s *Spec) { s.Env.Params["rain"] = 1 }, ErrVersion, `no "rain"`},
		{"of another environment", func(s *Spec) { s.Env.Params["g"] = 9.81 }, ErrVersion, `no "g"`},
		{"out of range", func(s *Spec) { s.Env.Params["wind_power"] = 20.5 }, ErrVersion, "wind_power is 20.5, want a number from 0 to 20"},
		{"half a bool", func(s *Spec) { s.Env.Params["enable_wind"] = 0.5 }, ErrVersion, "0 (false) or 1 (true)"},
		{"a default", func(s *Spec) { s.Env.Params["wind_power"] = 15 }, ErrSpec, "defaults are left out"},
		{"too many", func(s *Spec) { s.Env.Params = many }, ErrSpec, "env.params (number) is 33"},
		{"-0", func(s *Spec) { s.Env.Params["wind_power"] = math.Copysign(0, -1) }, ErrSpec, "env.params.wind_power is -0"},
		{"without parameters", func(s *Spec) { s.Env.ID = "BipedalWalker-v3" }, ErrVersion, "has no parameters"},
	} {
		s := windySpec(t)
		c.change(s)
		back, err := DecodeSpec(Encode(s))
		if err == nil {
			_, err = NewRules(back)
		}
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v, want %v with %q", c.name, err, c.want, c.text)
		}
	}
	spec := Encode(windySpec(t))
	one := append([]byte("kenable_wind"), Encode(1.0)...)
	if !bytes.Contains(spec, one) {
		t.Fatalf("%x has no %x", spec, one)
	}
	for name, value := range map[string][]byte{
		"an integer": {0x01}, "true": {0xf5}, "a text": {0x61, 'x'}, "float32": {0xfa, 0x3f, 0x80, 0, 0},
		"NaN": {0xfb, 0x7f, 0xf8, 0, 0, 0, 0, 0, 0}, "infinity": {0xfb, 0x7f, 0xf0, 0, 0, 0, 0, 0, 0},
	} {
		if _, err := DecodeSpec(bytes.Replace(spec, one, append([]byte("kenable_wind"), value...), 1)); err == nil {
			t.Errorf("%s was accepted", name)
		}
	}
	params := windySpec(t).Env.Params
	if _, err := DecodeSpec(bytes.Replace(spec, Encode(params), []byte{0xa0}, 1)); err == nil {
		t.Error("an empty map was accepted")
	}
	s := windySpec(t)
	s.Env.Params = envs.Params{}
	if _, err := NewRules(s); !errors.Is(err, ErrSpec) {
		t.Errorf("NewRules with an empty map: %v, want ErrSpec", err)
	}
}
