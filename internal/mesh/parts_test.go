package mesh

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
	"pgregory.net/rapid"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// The window says of every message what a set that forgets nothing says, but for those that are too late.
func TestReplayWindowAgreesWithASet(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := newReplays()
		base := rapid.Uint64Range(1<<20, 1<<62).Draw(t, "base")
		seen := make(map[uint64]bool)
		high := uint64(0)
		for range rapid.IntRange(1, 200).Draw(t, "messages") {
			n := base + rapid.Uint64Range(0, 3*replayWindow).Draw(t, "number")
			want := !seen[n] && n+replayWindow > high
			if got := r.fresh("author", binary.BigEndian.AppendUint64(nil, n)); got != want {
				t.Fatalf("number %d after %d: got %v, want %v", n, high, got, want)
			}
			seen[n] = true
			high = max(high, n)
		}
	})
}

func TestReplayAuthorsAreBounded(t *testing.T) {
	r := newReplays()
	for i := range replayAuthors + 10 {
		r.fresh(peer.ID(fmt.Sprint(i)), make([]byte, 8))
	}
	if got := len(r.authors); got != replayAuthors {
		t.Errorf("got %d authors, want %d", got, replayAuthors)
	}
	r.authors["0"].last = time.Now().Add(-2 * replayMemory)
	if !r.fresh("newcomer", make([]byte, 8)) {
		t.Error("a newcomer finds no room though somebody is long gone")
	}
}

func TestAnAuthorIsHeardAtARate(t *testing.T) {
	r := newReplays()
	heard := 0
	for n := range uint64(2 * authorBurst) {
		if r.fresh("author", binary.BigEndian.AppendUint64(nil, n)) {
			heard++
		}
	}
	if heard < authorBurst || heard == 2*authorBurst {
		t.Errorf("heard %d of %d at once, want about %d", heard, 2*authorBurst, authorBurst)
	}
	if !r.fresh("another", make([]byte, 8)) {
		t.Error("one author silences another")
	}
}

func TestBansEnd(t *testing.T) {
	b := newBans()
	now := time.Unix(0, 0)
	b.now = func() time.Time { return now }
	for i := range maxStrikes {
		if got, want := b.strike("x"), i == maxStrikes-1; got != want {
			t.Errorf("strike %d: got %v, want %v", i, got, want)
		}
	}
	b.ban("x")
	if !b.banned("x") || b.banned("y") || b.InterceptPeerDial("x") || b.InterceptSecured(0, "x", nil) {
		t.Error("the ban does not hold")
	}
	now = now.Add(banTime + time.Second)
	if b.banned("x") {
		t.Error("the ban does not end")
	}
	for i := range maxBanned + 5 {
		b.ban(peer.ID(fmt.Sprint(i)))
		b.strike(peer.ID(fmt.Sprint(i)))
	}
	if len(b.until) > maxBanned || len(b.strikes) > maxBanned {
		t.Errorf("got %d bans and %d strikes, at most %d", len(b.until), len(b.strikes), maxBanned)
	}
}

func TestBook(t *testing.T) {
	b := newBook()
	at := func(n int) []ma.Multiaddr {
		return []ma.Multiaddr{ma.StringCast(fmt.Sprintf("/ip4/10.0.0.1/tcp/%d", n))}
	}
	none := func(peer.ID) bool { return false }
	b.add(peer.AddrInfo{ID: "pinned", Addrs: at(1)}, true)
	b.add(peer.AddrInfo{ID: "told", Addrs: at(2)}, false)
	if got := b.due(1, none); len(got) != 1 {
		t.Errorf("got %v, want one", got)
	}
	if got := len(b.due(9, none)); got != 1 {
		t.Errorf("got %d more, want the other one", got)
	}
	for range maxFailures {
		b.failed("pinned")
		b.failed("told")
	}
	if len(b.hubs) != 1 || b.hubs["pinned"] == nil {
		t.Errorf("got %v, want the pinned one only", b.hubs)
	}
	if got := b.due(9, none); len(got) != 0 {
		t.Errorf("got %v due during the back-off", got)
	}
	if got := b.good(); len(got) != 0 {
		t.Errorf("got %v good, none ever answered", got)
	}
	for i := range 2 * maxAddrsPerHub {
		b.add(peer.AddrInfo{ID: "pinned", Addrs: at(i)}, false)
	}
	if got := len(b.hubs["pinned"].addrs); got != maxAddrsPerHub {
		t.Errorf("got %d addresses, want %d", got, maxAddrsPerHub)
	}
	for i := range 2 * maxBook {
		b.add(peer.AddrInfo{ID: peer.ID(fmt.Sprint(i)), Addrs: at(i)}, false)
	}
	if got := len(b.hubs); got != maxBook {
		t.Errorf("got %d hubs, want %d", got, maxBook)
	}
	b.failed("3")
	b.add(peer.AddrInfo{ID: "newcomer", Addrs: at(7)}, false)
	if b.hubs["newcomer"] == nil || b.hubs["3"] != nil {
		t.Error("a newcomer does not take the place of one that fails")
	}
}

func FuzzDecodeHello(f *testing.F) {
	genesis := []byte("genesis")
	f.Add(seedlog.Encode(&helloMessage{Agent: "a", Run: seedlog.LinkOf(genesis).String(), Genesis: genesis, Addrs: []string{"/ip4/1.2.3.4/tcp/1"}, Hubs: []string{}}))
	f.Add([]byte{0x89})
	f.Fuzz(func(t *testing.T, data []byte) {
		h, err := decodeHello(data)
		if err != nil {
			return
		}
		again, err := decodeHello(seedlog.Encode(h))
		if err != nil {
			t.Fatalf("what was read cannot be read again: %v", err)
		}
		if !bytes.Equal(seedlog.Encode(again), seedlog.Encode(h)) {
			t.Errorf("got %+v, want %+v", again, h)
		}
		for _, a := range append(h.Addrs, h.Hubs...) {
			if info, err := parseAddr(a); err == nil && len(info.Addrs) == 0 {
				t.Errorf("%q leads nowhere", a)
			}
		}
	})
}
