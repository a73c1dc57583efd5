package mesh

import (
	"crypto/ed25519"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

func someDescription() description {
	return description{User: "abcd", Password: "0123456789abcdefghijklmn", Fingerprint: make([]byte, 32),
		Places: []place{{Host: "203.0.113.7", Port: 40000, Priority: 2113937151}, {Host: "7c1b8f6e-1c0a-4b6e-9d54-4c9f8a0e1d2f.local", Port: 1}}}
}

// What the page says of this tab is told to others only if it can be, and the page reads what others say as it wrote
// it.
func TestDescriptions(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(d *description)
		want  string
	}{
		"what a browser says":     {func(*description) {}, ""},
		"a description that long": {func(d *description) { d.User = strings.Repeat("a", 1<<20) }, "user name"},
		"places without end":      {func(d *description) { d.Places = make([]place, 1000) }, "places"},
		"no certificate":          {func(d *description) { d.Fingerprint = nil }, "fingerprint"},
	} {
		t.Run(name, func(t *testing.T) {
			p, d := newFakePage(t), someDescription()
			c.spoil(&d)
			p.says(map[string]any{"op": "described", "ours": fromDescription(&d)})
			got, err := p.conn.describe(t.Context())
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
			if err == nil && !reflect.DeepEqual(got, d) {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// A connection to a tab is there once its first channel is open, has the key of whom it was offered to, and ends with
// that channel.
func TestTabConnection(t *testing.T) {
	p := newFakePage(t)
	key := seedlog.PeerOf(ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)))
	id, err := IDOf(key)
	if err != nil {
		t.Fatal(err)
	}
	p.says(map[string]any{"op": "opened", "channel": 0})
	if err := p.conn.meetTab(t.Context(), id); err != nil || p.conn.RemotePeer() != id || p.conn.RemotePublicKey() == nil {
		t.Fatalf("got %s, %v", p.conn.RemotePeer(), err)
	}
	p.says(map[string]any{"op": "shut", "channel": 0})
	select {
	case <-p.conn.done:
	case <-time.After(10 * time.Second):
		t.Fatal("the connection does not end")
	}
	if err := p.conn.why(); !errors.Is(err, errLeft) {
		t.Errorf("it ends with %v", err)
	}
}

// The browser refuses a tab with another certificate than it signed for; the connection ends by name.
func TestTabOfAnotherCertificate(t *testing.T) {
	p := newFakePage(t)
	p.says(map[string]any{"op": "ended", "why": "nobody answers over UDP, or with another certificate than was named"})
	if err := p.conn.meetTab(t.Context(), ""); err == nil || !strings.Contains(err.Error(), "another certificate") {
		t.Errorf("got %v", err)
	}
}

// A tab takes connections of others, and tells nobody an address for them: there is none.
func TestTabHasNoAddress(t *testing.T) {
	newFakePage(t)
	m, err := New(t.Context(), Config{Key: ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)), Kind: coordinator.Tab})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if m.acceptTab == nil || len(m.Addrs()) > 0 || len(m.host.Network().ListenAddresses()) != 1 {
		t.Errorf("addresses %v, listens on %v", m.Addrs(), m.host.Network().ListenAddresses())
	}
	if _, err := m.Dial(t.Context(), tabAddress.String()+owner); !errors.Is(err, ErrUnreachable) {
		t.Errorf("an address of a tab that somebody tells: %v", err)
	}
	if Dialable(tabAddress.String() + owner) {
		t.Error("it counts as one that leads somewhere")
	}
}
