package mesh

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
	"golang.org/x/time/rate"
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
			if got := heard(r, "author", n, "via", attackers); got != want {
				t.Fatalf("number %d after %d: got %v, want %v", n, high, got, want)
			}
			seen[n] = true
			high = max(high, n)
		}
	})
}

// Addresses of a stranger and of others in these tests.
var (
	attackers = netip.MustParsePrefix("198.51.100.0/24")
	honest    = netip.MustParsePrefix("203.0.113.0/24")
)

// freely is more than any test sends.
var freely = limit{1e6, 1e6}

func heard(r *replays, author peer.ID, number uint64, via peer.ID, from block) bool {
	return r.fresh(author, binary.BigEndian.AppendUint64(nil, number), 1, freely, via, from)
}

// A stranger fills the table with authors that it makes up. Newcomers that come over other neighbors are heard, and
// what they say is recognized when it comes again.
func TestThrowawayAuthorsShutNobodyOut(t *testing.T) {
	r := newReplays()
	for i := range 2 * replayAuthors {
		heard(r, peer.ID(fmt.Sprint(i)), 0, "stranger", attackers)
	}
	if got := r.authors.Len(); got > replayAuthors {
		t.Errorf("got %d authors, at most %d", got, replayAuthors)
	}
	for i := range 1000 {
		if !heard(r, peer.ID(fmt.Sprint("newcomer ", i)), uint64(i), "neighbor", honest) {
			t.Fatalf("newcomer %d is not heard", i)
		}
	}
	for i := range replayAuthors {
		heard(r, peer.ID(fmt.Sprint("more ", i)), 0, "stranger", attackers)
	}
	for i := range 1000 {
		if heard(r, peer.ID(fmt.Sprint("newcomer ", i)), uint64(i), "neighbor", honest) {
			t.Fatalf("newcomer %d is heard twice", i)
		}
	}
	if via, ok := r.way("newcomer 7"); !ok || via != "neighbor" {
		t.Errorf("got the way %q, %v", via, ok)
	}
}

func TestAnAuthorIsHeardAtARate(t *testing.T) {
	r := newReplays()
	now := time.Unix(1000, 0)
	r.now = func() time.Time { return now }
	rate := limit{10, 50}
	number := uint64(0)
	send := func(kind byte, n int) (heard int) {
		for range n {
			number++
			if r.fresh("author", binary.BigEndian.AppendUint64(nil, number), kind, rate, "via", honest) {
				heard++
			}
		}
		return heard
	}
	if got := send(1, 200); got != 50 {
		t.Errorf("heard %d at once, want the burst of 50", got)
	}
	if got := send(5, 1); got != 1 {
		t.Error("one type of message silences another")
	}
	now = now.Add(2 * time.Second)
	if got := send(1, 200); got != 20 {
		t.Errorf("heard %d after 2 s, want 20", got)
	}
	if !heard(r, "another", 1, "via", honest) {
		t.Error("one author silences another")
	}
}

func TestBansEnd(t *testing.T) {
	at := map[peer.ID]block{"x": honest}
	b := newBans(func(id peer.ID) block {
		if p, ok := at[id]; ok {
			return p
		}
		return attackers
	})
	now := time.Unix(0, 0)
	b.now = func() time.Time { return now }
	for i := range maxStrikes {
		if got, want := b.strike("x"), i == maxStrikes-1; got != want {
			t.Errorf("strike %d: got %v, want %v", i, got, want)
		}
	}
	b.ban("x")
	b.strike("y")
	for i := range maxBanned + 5 {
		b.ban(peer.ID(fmt.Sprint(i)))
		b.strike(peer.ID(fmt.Sprint(i)))
	}
	if b.until.Len() > maxBanned || b.strikes.Len() > maxBanned {
		t.Errorf("got %d bans and %d strikes, at most %d", b.until.Len(), b.strikes.Len(), maxBanned)
	}
	// Keys that cost nothing do not push out the ban of another block.
	if !b.banned("x") || b.banned("y") || b.InterceptPeerDial("x") || b.InterceptSecured(0, "x", nil) {
		t.Error("the ban does not hold")
	}
	now = now.Add(banTime + time.Second)
	if b.banned("x") {
		t.Error("the ban does not end")
	}
}

func addrs(format string, args ...any) []ma.Multiaddr {
	return []ma.Multiaddr{ma.StringCast(fmt.Sprintf(format, args...))}
}

func TestBook(t *testing.T) {
	b := newBook()
	at := func(n int) []ma.Multiaddr { return addrs("/ip4/10.0.0.1/tcp/%d", n) }
	none := func(peer.ID) bool { return false }
	b.add(peer.AddrInfo{ID: "pinned", Addrs: at(1)}, block{}, true)
	b.add(peer.AddrInfo{ID: "told", Addrs: at(2)}, honest, false)
	if got := b.due(1, nil, none); len(got) != 1 {
		t.Errorf("got %v, want one", got)
	}
	if got := len(b.due(9, nil, none)); got != 1 {
		t.Errorf("got %d more, want the other one", got)
	}
	for range maxFailures {
		b.failed("pinned")
		b.failed("told")
	}
	if b.hubs.Len() != 1 || !b.hubs.Has("pinned") {
		t.Errorf("got %d hubs, want the pinned one only", b.hubs.Len())
	}
	if got := b.due(9, nil, none); len(got) != 0 {
		t.Errorf("got %v due during the back-off", got)
	}
	if info, dialing := b.take("pinned", rate.NewLimiter(1, 1)); info != nil || dialing {
		t.Errorf("got %v, %v for a message during the back-off", info, dialing)
	}
	if got := b.good(); len(got) != 0 {
		t.Errorf("got %v good, none ever answered", got)
	}
	for i := range 2 * maxAddrsPerHub {
		b.add(peer.AddrInfo{ID: "pinned", Addrs: at(i)}, honest, false)
	}
	if h, _ := b.hubs.Get("pinned"); len(h.addrs) != maxAddrsPerHub {
		t.Errorf("got %d addresses, want %d", len(h.addrs), maxAddrsPerHub)
	}
}

// A hub that answered once is dialed at least once a minute for an hour, and remembered for a day: it may be on the
// other side of a partition.
func TestBookRemembersThoseWhoAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBook()
		b.add(peer.AddrInfo{ID: "hub", Addrs: addrs("/ip4/10.0.0.1/tcp/1")}, honest, false)
		b.succeeded("hub")
		begun := time.Now()
		dial := func() bool {
			if len(b.due(1, nil, func(peer.ID) bool { return false })) == 0 {
				return false
			}
			b.failed("hub")
			return true
		}
		last := begun
		for ; b.hubs.Has("hub"); time.Sleep(keepEvery) {
			limit := backoffMax
			if time.Since(begun) > lostAfter {
				limit = backoffLost
			}
			if waited := time.Since(last); waited > limit+2*keepEvery {
				t.Fatalf("%v after its last answer it was not dialed for %v", time.Since(begun), waited)
			}
			if dial() {
				last = time.Now()
			}
		}
		if d := time.Since(begun); d < rememberFor || d > rememberFor+2*backoffLost {
			t.Errorf("forgotten after %v", d)
		}
	})
}

// A neighbor that tells of thousands of hubs displaces neither those that others told of, nor those that answered, nor
// the user's.
func TestOneSourceCannotFillTheBook(t *testing.T) {
	b := newBook()
	b.add(peer.AddrInfo{ID: "pinned", Addrs: addrs("/ip4/192.0.2.1/tcp/1")}, block{}, true)
	b.add(peer.AddrInfo{ID: "answered", Addrs: addrs("/ip4/192.0.2.2/tcp/1")}, honest, false)
	b.succeeded("answered")
	for i := range 20 {
		b.add(peer.AddrInfo{ID: peer.ID(fmt.Sprint("honest ", i)), Addrs: addrs("/ip4/203.0.%d.1/tcp/1", i)}, honest, false)
	}
	for i := range 4 * maxBook {
		b.add(peer.AddrInfo{ID: peer.ID(fmt.Sprint(i)), Addrs: addrs("/ip4/%d.%d.1.1/tcp/1", 20+i/250, i%250)}, attackers, false)
	}
	if got := b.hubs.Len(); got != maxBook {
		t.Errorf("got %d hubs, want %d", got, maxBook)
	}
	for i := range 20 {
		if !b.hubs.Has(peer.ID(fmt.Sprint("honest ", i))) {
			t.Errorf("honest hub %d is forgotten", i)
		}
	}
	if !b.hubs.Has("pinned") || !b.hubs.Has("answered") {
		t.Error("the user's hub or one that answered is forgotten")
	}
}

// The connections of this peer go to many networks, though most addresses that it hears of are in one.
func TestDialsAreDiverse(t *testing.T) {
	b := newBook()
	for i := range 200 {
		b.add(peer.AddrInfo{ID: peer.ID(fmt.Sprint("close ", i)), Addrs: addrs("/ip4/198.51.100.%d/tcp/1", i)}, attackers, false)
	}
	if got := b.hubs.Len(); got != maxPerBlock {
		t.Errorf("got %d hubs of one block, want %d", got, maxPerBlock)
	}
	for i := range nativeHubs - 2 {
		b.add(peer.AddrInfo{ID: peer.ID(fmt.Sprint("far ", i)), Addrs: addrs("/ip4/203.0.%d.1/tcp/1", i)}, attackers, false)
	}
	far := 0
	for _, info := range b.due(nativeHubs-2, map[block]int{attackers: 1}, func(peer.ID) bool { return false }) {
		if strings.HasPrefix(string(info.ID), "far") {
			far++
		}
	}
	if far != nativeHubs-2 {
		t.Errorf("got %d of %d connections to other networks", far, nativeHubs-2)
	}
}

func TestBlocks(t *testing.T) {
	for addr, want := range map[string]string{
		"/ip4/198.51.100.7/tcp/1":                      "198.51.100.0/24",
		"/ip4/192.168.1.7/tcp/1":                       "192.168.1.7/32",
		"/ip4/127.0.0.1/udp/1/quic-v1":                 "127.0.0.1/32",
		"/ip6/2001:db8:1:2::1/tcp/1":                   "2001:db8:1::/48",
		"/ip6/fd00::1/tcp/1":                           "fd00::1/128",
		"/ip6/::ffff:198.51.100.7/tcp/1":               "198.51.100.0/24",
		"/ip6zone/eth0/ip6/fe80::1/tcp/1":              "fe80::1/128",
		"/dns/example.com/tcp/443":                     "invalid Prefix",
		"/ip4/198.51.100.200/tcp/1/ws/p2p/" + example1: "198.51.100.0/24",
	} {
		if got := blockOf(ma.StringCast(addr)).String(); got != want {
			t.Errorf("%s: got %s, want %s", addr, got, want)
		}
	}
}

const example1 = "12D3KooWD3eckifWpRn9wQpMG9R9hX3sD158z7EqHWmweQAJU5SA"

// Whatever 256 neighbors of one block send, they get their own small shares and that of their block; others get theirs.
func TestQuotasAreFair(t *testing.T) {
	n := newNeighbors()
	at := addrs("/ip4/198.51.100.7/tcp/1")[0]
	for i := range 256 {
		n.connected(peer.ID(fmt.Sprint(i)), at, false)
	}
	n.connected("honest", addrs("/ip4/203.0.113.7/tcp/1")[0], false)
	n.connected("neighbor", addrs("/ip4/198.51.100.200/tcp/1")[0], false)
	taken := 0
	for range 100 {
		for i := range 256 {
			if n.take(peer.ID(fmt.Sprint(i)), gossipMessages, 1) {
				taken++
			}
		}
	}
	q := quotas[gossipMessages]
	if most := int(256*q.own.burst+q.block.burst) + 300; taken > most { // 300: a second of time
		t.Errorf("256 keys of one block got %d messages, at most %d", taken, most)
	}
	for _, id := range []peer.ID{"honest", "neighbor"} {
		for range int(q.own.burst) {
			if !n.take(id, gossipMessages, 1) {
				t.Fatalf("%s does not get its own share", id)
			}
		}
	}
	for i := range 256 {
		n.disconnected(peer.ID(fmt.Sprint(i)))
	}
	for i := range 2 * maxBlocks {
		id := peer.ID(fmt.Sprint("passing ", i))
		n.connected(id, addrs("/ip4/%d.%d.%d.1/tcp/1", 20+i>>16, i>>8&255, i&255)[0], false)
		n.disconnected(id)
	}
	if got := len(n.blocks); got > maxBlocks {
		t.Errorf("got %d blocks, at most %d", got, maxBlocks)
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

// The queue of events gives each block its turns, whatever waits of others, and tells of links first.
func TestEventsAreShared(t *testing.T) {
	q := newQueue()
	for i := range 100_000 {
		q.gossip(Received{From: seedlog.Peer{1, byte(i)}, Source: attackers}, 100)
	}
	if got := q.messages.Waiting(attackers); got > maxWaiting {
		t.Errorf("%d bytes wait, at most %d", got, maxWaiting)
	}
	for range 10 {
		q.gossip(Received{From: seedlog.Peer{2}, Source: honest}, 100)
	}
	q.link(Unlinked{seedlog.Peer{3}})
	if e, _ := q.take(); e != (Unlinked{seedlog.Peer{3}}) {
		t.Errorf("got %v first, want what concerns links", e)
	}
	got := 0
	for range 24 {
		if e, ok := q.take(); ok && e.(Received).From == (seedlog.Peer{2}) {
			got++
		}
	}
	if got != 10 {
		t.Errorf("%d of 10 messages came within 24 turns", got)
	}
}

// A direct message waits while its block has too much waiting, those of others do not; and it gets in when there is
// room.
func TestSendersWaitForTheirBlockOnly(t *testing.T) {
	q := newQueue()
	stuck := make(chan int)
	go func() {
		n := 0
		for ; q.direct(Received{Source: attackers}, 64<<10); n++ {
			if n == 2*maxWaitingOf/(64<<10) {
				break
			}
		}
		stuck <- n
	}()
	for q.waitingOf(attackers) < maxWaitingOf {
		time.Sleep(time.Millisecond)
	}
	if !q.direct(Received{Source: honest}, 64<<10) {
		t.Fatal("the queue is closed")
	}
	if got := q.waitingOf(attackers); got > maxWaitingOf+128<<10 {
		t.Errorf("%d bytes of one block wait, want some %d", got, maxWaitingOf)
	}
	for {
		select {
		case n := <-stuck:
			if n != 2*maxWaitingOf/(64<<10) {
				t.Errorf("%d messages went in", n)
			}
			return
		default:
			if _, ok := q.take(); !ok {
				time.Sleep(time.Millisecond)
			}
		}
	}
}

func (q *queue) waitingOf(at block) uint64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.messages.Waiting(at)
}

// Readers that do not read, at one address, take no room from what is for others.
func TestOutboxesAreShared(t *testing.T) {
	m := &Mesh{outs: make(map[peer.ID]*outbox)}
	fill := func(id peer.ID, at block, bytes int) *outbox {
		o := &outbox{at: at}
		for ; bytes > 0; bytes -= 1 << 20 {
			o.items = append(o.items, make([]byte, 1<<20))
			o.bytes += 1 << 20
			m.queued += 1 << 20
		}
		m.outs[id] = o
		return o
	}
	for i := range maxQueuedBytes / maxOutboxBytes {
		fill(peer.ID(fmt.Sprint(i)), attackers, maxOutboxBytes)
	}
	if m.makeRoom(attackers, 1<<20) {
		t.Error("the block that fills all outboxes gets more")
	}
	friend := fill("friend", honest, 0)
	for range 3 {
		if !m.makeRoom(honest, 1<<20) {
			t.Fatal("there is no room for a peer in another block")
		}
		friend.items = append(friend.items, make([]byte, 1<<20))
		friend.bytes += 1 << 20
		m.queued += 1 << 20
	}
	sum := 0
	for _, o := range m.outs {
		sum += o.bytes
	}
	if friend.bytes != 3<<20 || sum != m.queued || m.queued > maxQueuedBytes {
		t.Errorf("%d bytes wait for the friend and %d in all, %d counted, at most %d", friend.bytes, sum, m.queued, maxQueuedBytes)
	}
}

// What is only sent directly is not gossiped, and each type has one topic.
func TestGossipRules(t *testing.T) {
	for kind := range 256 {
		_, gossiped := gossipRules[byte(kind)]
		if _, err := ruleOf([]byte{byte(kind), 0x80}); (err == nil) != gossiped {
			t.Errorf("type %d: got %v", kind, err)
		}
	}
	for _, kind := range []byte{3, 4, 6, 7, 10, 11, 17, 18, 19, 20} { // Want, Claims, Pull, Segment, VoteReply, Handover, Recheck, Rechecked, Ask, Part
		if _, ok := gossipRules[kind]; ok {
			t.Errorf("type %d is gossiped: everybody would answer it", kind)
		}
	}
	for kind, rule := range gossipRules {
		if _, err := ruleOf(append([]byte{kind}, make([]byte, rule.bytes)...)); err == nil {
			t.Errorf("type %d may have more than %d bytes", kind, rule.bytes)
		}
		if !slices.Contains(typesHeard[:], kind) {
			t.Errorf("type %d has no rate for its authors", kind)
		}
	}
}
