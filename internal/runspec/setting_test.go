package runspec

import (
	"math"
	"strings"
	"testing"

	"github.com/evoswarm/evoswarm/internal/rollout"
)

// Names and keys, of today and of earlier versions, each mean one setting; a setting that has no range would
// take no number.
func TestTable(t *testing.T) {
	names, keys := map[string]bool{}, map[string]bool{}
	for _, s := range table {
		for _, name := range append([]string{s.Name}, s.Old...) {
			if names[name] {
				t.Errorf("--%s is there twice", name)
			}
			names[name] = true
			if found, ok := Find(name); !ok || found.Name != s.Name {
				t.Errorf("Find(%q) gives %q, %t, want %q", name, found.Name, ok, s.Name)
			}
		}
		for _, key := range append([]string{s.Key}, s.OldKeys...) {
			if keys[key] {
				t.Errorf("the key %s is there twice", key)
			}
			keys[key] = true
		}
		if s.Doc == "" || s.Key == "" {
			t.Errorf("%s: got doc %q and key %q", s.Name, s.Doc, s.Key)
		}
	}
}

// Every bound of the table is one that the spec's own check has too: what the table takes, a run takes.
func TestBoundsAreTheSpecs(t *testing.T) {
	for _, s := range table {
		for _, x := range []float64{s.Min, s.Max} {
			var v any
			switch s.field(new(draft)).(type) {
			case *uint64:
				v = uint64(x)
			case *float64:
				v = x
			default:
				continue
			}
			o := Options{Env: "Pendulum-v1", Strategy: "dises", Settings: Settings{s.Name: v}}
			switch s.Name {
			case "observe-steps":
				o.Settings["observations"] = rollout.Frozen
			case "observe-episodes", "observe-clip":
				o.Settings["observations"] = rollout.Running
			}
			if _, err := NewSpec(o); err != nil {
				t.Errorf("%s: %v is in the table's range and refused: %v", s.Name, v, err)
			}
		}
	}
}

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       any
		allowed    string // in the error, if it is refused
	}{
		{"hidden", "64,32", []uint64{64, 32}, ""},
		{"hidden", "64, 32", []uint64{64, 32}, ""},
		{"hidden", "100000", nil, "whole numbers from 1 to 4096"},
		{"hidden", "", nil, "whole numbers from 1 to 4096"},
		{"chunk", "-3", nil, "a whole number from 1 to 256"},
		{"chunk", "0x10", uint64(16), ""},
		{"population", "100000000000000000000", nil, "a whole number from 1 to 131072"},
		{"max-penalty", "NaN", nil, "a number from 0 to 1000000"},
		{"max-penalty", "1e6", 1e6, ""},
		{"cap", "NaN", nil, "0 for never, or a number from 1.1 to 1000"},
		{"cap", "0", 0.0, ""},
		{"cap", "1", nil, "0 for never, or a number from 1.1 to 1000"},
		{"horizon", "0", uint64(0), ""},
		{"horizon", "-1", nil, "a whole number from 0 to 1048576"},
		{"policy", "transformer", nil, "linear or mlp"},
		{"head", "none", nil, "argmax, clip or bins"},
		{"bias", "perhaps", nil, "true or false"},
		{"alive-bonus", "0.25", 0.25, ""},
	} {
		s, ok := Find(tt.name)
		if !ok {
			t.Fatalf("no setting %s", tt.name)
		}
		got, err := s.Parse(tt.text)
		switch {
		case tt.allowed == "" && (err != nil || !same(got, tt.want)):
			t.Errorf("%s %q: got %v, %v, want %v", tt.name, tt.text, got, err, tt.want)
		case tt.allowed != "" && (err == nil || !strings.Contains(err.Error(), tt.allowed)):
			t.Errorf("%s %q: got %v, %v, want an error with %q", tt.name, tt.text, got, err, tt.allowed)
		}
	}
}

func same(a, b any) bool {
	one, ok := a.([]uint64)
	if !ok {
		return a == b
	}
	two := b.([]uint64)
	return len(one) == len(two) && one[0] == two[0] && one[len(one)-1] == two[len(two)-1]
}

// -0 has an encoding of its own, which no run may have.
func TestNoNegativeZero(t *testing.T) {
	spec, err := NewSpec(Options{Env: "CartPole-v1", Settings: Settings{"max-penalty": math.Copysign(0, -1), "cap": math.Copysign(0, -1)}})
	if err != nil || math.Signbit(spec.Episodes.Penalty) || math.Signbit(spec.Episodes.Cap) {
		t.Errorf("got %+v, %v, want 0", spec, err)
	}
}
