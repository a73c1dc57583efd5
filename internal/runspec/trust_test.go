package runspec

import (
	"errors"
	"slices"
	"testing"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// TestTrust: the origin is one of the trusted keys, whatever order they are in, and nothing is re-run of them.
func TestTrust(t *testing.T) {
	origin, other := seedlog.Peer{5}, seedlog.Peer{9}
	o := Options{Env: "CartPole-v1", Strategy: "dises", Nonce: [16]byte{1}, Origin: origin}
	for _, keys := range [][]seedlog.Peer{{other}, {other, origin}, {origin, other}} {
		o.Trust = keys
		spec, err := NewSpec(o)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(spec.Trust, []seedlog.Peer{origin, other}) || spec.SpotChecks != nil {
			t.Errorf("%v: got %v, %v", keys, spec.Trust, spec.SpotChecks)
		}
	}
	for i := range seedlog.MaxTrusted {
		o.Trust = append(o.Trust, seedlog.Peer{1, byte(i >> 8), byte(i)})
	}
	if _, err := NewSpec(o); !errors.Is(err, seedlog.ErrSpec) {
		t.Errorf("%d keys: %v", len(o.Trust), err)
	}
	o.Trust = nil
	if spec, err := NewSpec(o); err != nil || spec.Trust != nil || spec.SpotChecks == nil {
		t.Errorf("without keys: %v, %+v", err, spec)
	}
}
