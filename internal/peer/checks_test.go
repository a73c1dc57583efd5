package peer

import (
	"net/netip"
	"testing"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/mesh"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// A stranger with any number of keys fills the queue of checks. What others send is checked in turn all the same.
func TestChecksAreShared(t *testing.T) {
	far, near := netip.MustParsePrefix("198.51.100.0/24"), netip.MustParsePrefix("203.0.113.0/24")
	c := newChecks(&seedlog.Rules{})
	message := &coordinator.Claims{Blocks: [][]byte{make([]byte, 60<<10)}}
	for i := range 2000 {
		c.add(mesh.Received{From: seedlog.Peer{1, byte(i), byte(i >> 8)}, Source: far, Message: message}, 1, 0)
	}
	honest := seedlog.Peer{2}
	for range 2 * maxChecksOf {
		c.add(mesh.Received{From: honest, Source: near, Message: message}, 1, 0)
	}
	if got := c.waiting.Waiting(far) + c.waiting.Waiting(near); got > maxChecks {
		t.Errorf("%d bytes wait, at most %d", got, maxChecks)
	}
	got := 0
	for range 2 * maxChecksOf {
		if _, e, ok := c.waiting.Pop(); ok && e.From == honest {
			got++
		}
	}
	if got < maxChecksOf-1 || got > maxChecksOf {
		t.Errorf("of the first %d checks %d are of the honest peer, want half", 2*maxChecksOf, got)
	}
}

// What one block has checked unasked is bounded in time; what was asked for and what others send is not held up.
func TestChecksHaveABudget(t *testing.T) {
	far, near := netip.MustParsePrefix("198.51.100.0/24"), netip.MustParsePrefix("203.0.113.0/24")
	c := newChecks(&seedlog.Rules{})
	add := func(at netip.Prefix, m coordinator.Message, now uint64) bool {
		before := c.waiting.Len()
		c.add(mesh.Received{From: seedlog.Peer{byte(before)}, Source: at, Message: m}, 1, now)
		return c.waiting.Len() > before
	}
	c.far.Take(0, far, checkBurst)
	for _, x := range []struct {
		what string
		at   netip.Prefix
		m    coordinator.Message
		now  uint64
		want bool
	}{
		{"more of the stranger", far, &coordinator.Claims{}, 0, false},
		{"a segment of the stranger", far, &coordinator.Segment{}, 0, true},
		{"others", near, &coordinator.Claims{}, 0, true},
		{"the stranger, a second later", far, &coordinator.Claims{}, 1000, true},
	} {
		if got := add(x.at, x.m, x.now); got != x.want {
			t.Errorf("%s: taken %v, want %v", x.what, got, x.want)
		}
	}
}

// Of segments as many wait as their sender was asked for: who began at a base asks one peer for two at a time.
func TestChecksOfSegments(t *testing.T) {
	at := netip.MustParsePrefix("203.0.113.0/24")
	for answers := range 3 {
		c := newChecks(&seedlog.Rules{})
		for range 4 {
			c.add(mesh.Received{From: seedlog.Peer{1}, Source: at, Message: &coordinator.Segment{}}, answers, 0)
		}
		waiting := 0
		for _, _, ok := c.waiting.Pop(); ok; _, _, ok = c.waiting.Pop() {
			waiting++
		}
		if waiting != answers {
			t.Errorf("%d segments wait, want %d", waiting, answers)
		}
	}
}

// The coordinator counts shares by where a message came from: it is told, if that is known.
func TestChecksKeepTheSource(t *testing.T) {
	p := &Peer{checks: newChecks(&seedlog.Rules{})}
	for at, want := range map[netip.Prefix]string{{}: "", netip.MustParsePrefix("198.51.100.0/24"): "198.51.100.0/24"} { //lint:sorted each one on its own
		e, ok := p.checked(mesh.Received{From: seedlog.Peer{1}, Via: seedlog.Peer{2}, Source: at, Message: new(coordinator.Leave)}).(coordinator.Received)
		if !ok || e.From != (seedlog.Peer{1}) || e.Via != (seedlog.Peer{2}) || e.Source != want {
			t.Errorf("from %v: got %+v", at, e)
		}
	}
}
