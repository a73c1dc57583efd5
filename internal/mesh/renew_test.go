//go:build !js

package mesh

import (
	"strings"
	"testing"
	"time"

	"github.com/benbjohnson/clock"
	"github.com/libp2p/go-libp2p/core/crypto"
)

// certhashesOf lists the certificates of the only WebTransport address of a host.
func certhashesOf(t *testing.T, m *Mesh) []string {
	t.Helper()
	for _, a := range m.Addrs() {
		if WayOf(a) == WebTransport {
			a, _, _ = strings.Cut(a, "/p2p/")
			return strings.Split(a, "/certhash/")[1:]
		}
	}
	return nil
}

// When a node renews its certificate for WebTransport, its addresses name the new one and the next, and the new one is
// what they named as the next before: who has an old address still finds the node.
func TestAddressesFollowCertificates(t *testing.T) {
	key, _, err := crypto.GenerateEd25519Key(strings.NewReader(strings.Repeat("k", 64)))
	if err != nil {
		t.Fatal(err)
	}
	// The date is fixed: certificates follow one another at set times, every fourteen days less two hours, so fourteen
	// days that begin in the last two hours of one see two renewals.
	now := clock.NewMock()
	now.Set(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	near := newNeighbors()
	h, err := newHostAt(Config{Listen: []string{"/ip4/127.0.0.1/udp/0/quic-v1/webtransport"}}, key, newBans(near.block), near, now)
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	m := &Mesh{host: h, reserved: newReservations()}
	before := certhashesOf(t, m)
	if len(before) != 2 {
		t.Fatalf("the addresses are %v, want one with two certificates", m.Addrs())
	}
	now.Add(14 * 24 * time.Hour)
	for begun := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		after := certhashesOf(t, m)
		if len(after) == 2 && after[0] == before[1] && after[1] != before[0] && after[1] != before[1] {
			return
		}
		if time.Since(begun) > 30*time.Second {
			t.Fatalf("the certificates were %v, and fourteen days later they are %v", before, after)
		}
	}
}
