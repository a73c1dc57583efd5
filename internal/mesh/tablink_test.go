//go:build !js

package mesh

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	ma "github.com/multiformats/go-multiaddr"
	"google.golang.org/protobuf/proto"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

func ids(prefix string, n int) (list []peer.ID) {
	for i := range n {
		list = append(list, peer.ID(fmt.Sprint(prefix, i)))
	}
	return list
}

// A tab chooses tabs that linked neighbors tell of, one at a time and two in all, and leaves alone those that do not
// answer.
func TestTabChoosesTabs(t *testing.T) {
	now := time.Now()
	links := newTabLinks()
	next := func(neighbors []peer.ID, have linkedTabs) *tabOffer { return links.next(now, neighbors, "self", have) }
	links.told["hub"] = []peer.ID{"self", "linked", "a", "b"}
	links.told["other"] = []peer.ID{"a"}
	links.told["left"] = ids("left", 5)
	hubs := []peer.ID{"hub", "other", "linked"}

	first := next(hubs, linkedTabs{})
	if first == nil || first.to != "a" && first.to != "b" {
		t.Fatalf("got %+v", first)
	}
	if want := 1 + btoi(first.to == "a"); len(first.over) != want {
		t.Errorf("the offer goes over %v", first.over)
	}
	if next(hubs, linkedTabs{}) != nil {
		t.Error("two offers at a time")
	}
	links.ended(first, now, errNoReply)
	second := next(hubs, linkedTabs{})
	if second == nil || second.to == first.to {
		t.Errorf("after %s, which does not answer, got %+v", first.to, second)
	}
	links.ended(second, now, errNoReply)
	if o := next(hubs, linkedTabs{}); o != nil {
		t.Errorf("%s is asked again at once", o.to)
	}
	now = now.Add(tabRefuse + 1)
	o := next(hubs, linkedTabs{})
	if o == nil {
		t.Fatal("nobody is tried again")
	}
	links.ended(o, now, nil)
	for _, have := range []linkedTabs{{dialed: ids("x", tabDials)}, {dialed: ids("x", 1), accepted: ids("y", tabDials+tabAccepts-1)}} {
		if o := next(hubs, have); o != nil {
			t.Errorf("with %v it wants %s as well", have, o.to)
		}
	}
	if o := next([]peer.ID{"nobody"}, linkedTabs{}); o != nil || len(links.told) > 0 {
		t.Errorf("it believes who left: %+v, %v", o, links.told)
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// What other tabs make a tab do is bounded: links, handshakes, and answers.
func TestOffersAreBounded(t *testing.T) {
	start := time.Now()
	t.Run("places", func(t *testing.T) {
		links := newTabLinks()
		for i, have := range []linkedTabs{{accepted: ids("x", tabAccepts)}, {dialed: ids("x", tabDials), accepted: ids("y", tabAccepts)}} {
			if accept, reply := links.offered(start, "from", "self", have); accept || !reply {
				t.Errorf("%d: accepted %t, replied %t", i, accept, reply)
			}
		}
		if accept, _ := links.offered(start, "y0", "self", linkedTabs{accepted: ids("y", tabAccepts)}); !accept {
			t.Error("a tab that comes back after a reload is refused until its old connection is gone")
		}
	})
	t.Run("handshakes", func(t *testing.T) {
		links := newTabLinks()
		for i := range 2 * tabShaking {
			now := start.Add(time.Duration(i) * time.Minute)
			if accept, reply := links.offered(now, peer.ID(fmt.Sprint(i)), "self", linkedTabs{}); accept != (i < tabShaking) || reply == accept {
				t.Errorf("offer %d: accepted %t, replied %t", i, accept, reply)
			}
		}
		full, back := linkedTabs{accepted: ids("y", tabAccepts)}, newTabLinks()
		for i := range 2 * tabShaking { // one that comes back needs no place, but a handshake
			now := start.Add(time.Duration(i) * time.Minute)
			if accept, _ := back.offered(now, "y0", "self", full); accept != (i < tabShaking) {
				t.Errorf("offer %d of one that comes back: accepted %t", i, accept)
			}
		}
		links.settled()
		if accept, _ := links.offered(start.Add(time.Hour), "from", "self", linkedTabs{}); !accept {
			t.Error("refused though a handshake has ended")
		}
	})
	t.Run("a flood", func(t *testing.T) {
		links, replies := newTabLinks(), 0
		for i := range 1000 {
			accept, reply := links.offered(start, peer.ID(fmt.Sprint(i)), "self", linkedTabs{accepted: ids("x", tabAccepts)})
			if replies += btoi(reply); accept {
				t.Error("accepted beyond the bound")
			}
		}
		if replies != int(offerRate.burst) {
			t.Errorf("%d of 1,000 offers were answered", replies)
		}
	})
}

// Of two tabs that offer each other a connection at the same time, one gives way.
func TestCrossedOffers(t *testing.T) {
	for _, c := range []struct {
		self, from peer.ID
		accept     bool
	}{{"a", "b", false}, {"b", "a", true}} {
		links := newTabLinks()
		links.told["hub"] = []peer.ID{c.from}
		links.next(time.Now(), []peer.ID{"hub"}, c.self, linkedTabs{})
		_, answer := links.offer(c.from)
		accept, reply := links.offered(time.Now(), c.from, c.self, linkedTabs{})
		if accept != c.accept || reply {
			t.Errorf("%s hears from %s: accepted %t, replied %t", c.self, c.from, accept, reply)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		_, err := awaitAnswer(ctx, answer)
		cancel()
		if want := map[bool]error{true: errCrossed, false: errNoReply}[accept]; !errors.Is(err, want) {
			t.Errorf("its own offer ends with %v, want %v", err, want)
		}
	}
}

// An offer takes one answer, of the tab that it was made to.
func TestAnswersAreOfTheOffer(t *testing.T) {
	links := newTabLinks()
	links.told["hub"] = []peer.ID{"to"}
	o := links.next(time.Now(), []peer.ID{"hub"}, "self", linkedTabs{})
	_, answer := links.offer("to")
	if other, _ := links.offer("another"); other != nil {
		t.Error("an offer to one tab is made to another")
	}
	good := &signal{Kind: answering, Number: o.number}
	links.answered("another", good)
	links.answered("to", &signal{Kind: answering, Number: o.number + 1})
	links.answered("to", good)
	links.answered("to", &signal{Kind: refusing, Number: o.number})
	if d, err := awaitAnswer(t.Context(), answer); err != nil || d != &good.Theirs {
		t.Errorf("got %v, %v", d, err)
	}
	if len(answer) != 0 {
		t.Error("it takes two")
	}
}

// What a hub tells of a stranger with many keys leaves room for the others.
func TestTellsOfAllBlocks(t *testing.T) {
	got := takeTurns(map[block][]peer.ID{attackers: ids("stranger", 1000), honest: ids("honest", 3)}, maxTold)
	if len(got) != maxTold {
		t.Errorf("%d are told", len(got))
	}
	for _, id := range ids("honest", 3) {
		if !slices.Contains(got, id) {
			t.Errorf("%s is not told among %v", id, got)
		}
	}
}

// tabMesh starts a mesh of the given kind. It listens over TCP, so that tests can dial tabs without a browser.
func tabMesh(t *testing.T, n byte, kind coordinator.Kind) *Mesh {
	t.Helper()
	seed := make([]byte, ed25519.SeedSize)
	seed[0] = n
	m, err := New(t.Context(), Config{Key: ed25519.NewKeyFromSeed(seed), Kind: kind, Hub: kind == coordinator.Native, Listen: []string{"/ip4/127.0.0.1/tcp/0"}})
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Enter([]byte("any bytes")); err != nil {
		t.Fatal(err)
	}
	go func() {
		for range m.Events() {
		}
	}()
	t.Cleanup(func() { m.Close() })
	return m
}

func meetAll(t *testing.T, hub *Mesh, others ...*Mesh) {
	t.Helper()
	for _, m := range others {
		if _, err := m.Dial(t.Context(), hub.Addrs()[0]); err != nil {
			t.Fatal(err)
		}
	}
	for _, m := range others {
		eventually(t, "linked", func() bool { return hub.isLinked(m.host.ID()) && m.isLinked(hub.host.ID()) })
	}
}

func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for limit := time.Now().Add(20 * time.Second); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("%s: not within 20 s", what)
		}
	}
}

// A hub tells tabs of others that asked, and carries what they sign. Malformed signals are their author's offense.
func TestTabsFindEachOtherOverAHub(t *testing.T) {
	hub := tabMesh(t, 1, coordinator.Native)
	a, b := tabMesh(t, 2, coordinator.Tab), tabMesh(t, 3, coordinator.Tab)
	offers := make(chan *signal, 10)
	b.acceptTab = func(from, via peer.ID, offer *signal) error {
		if from != a.host.ID() || via != hub.host.ID() {
			t.Errorf("an offer of %s came over %s", from, via)
		}
		offers <- offer
		return nil
	}
	meetAll(t, hub, a, b)
	told := func(m *Mesh) []peer.ID {
		m.askForTabs(hub.host.ID(), false)
		m.tabs.mu.Lock()
		defer m.tabs.mu.Unlock()
		return m.tabs.told[hub.host.ID()]
	}
	if list := told(a); len(list) != 0 {
		t.Errorf("the first tab is told of %v", list)
	}
	eventually(t, "the second is told of the first", func() bool { return slices.Equal(told(b), []peer.ID{a.host.ID()}) })
	eventually(t, "and the first of the second", func() bool { return slices.Equal(told(a), []peer.ID{b.host.ID()}) })

	want := someSignal()
	if err := a.sendSignal(b.host.ID(), []peer.ID{hub.host.ID()}, want); err != nil {
		t.Fatal(err)
	}
	select {
	case got := <-offers:
		if !bytes.Equal(got.encode(), want.encode()) {
			t.Errorf("got %+v", got)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the offer did not come")
	}

	want.Theirs.Password = "\r\n"
	for range 3 {
		if err := a.sendSignal(b.host.ID(), []peer.ID{hub.host.ID()}, want); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "who signs what is malformed is banned", func() bool { return b.bans.banned(a.host.ID()) })
	if b.bans.banned(hub.host.ID()) {
		t.Error("the hub that carried it is banned")
	}
}

// A hub cannot alter what tabs tell each other.
func TestSignalsAreSigned(t *testing.T) {
	hub := tabMesh(t, 1, coordinator.Native)
	a, b := tabMesh(t, 2, coordinator.Tab), tabMesh(t, 3, coordinator.Tab)
	b.acceptTab = func(peer.ID, peer.ID, *signal) error {
		t.Error("an altered offer is accepted")
		return nil
	}
	meetAll(t, hub, a, b)
	altered := someSignal()
	p := a.pack(b.self, altered.encode())
	altered.Theirs.Fingerprint[0]++
	p.data = altered.encode()
	if err := b.onParcel(hub.host.ID(), hub.self, p.encode()); !errors.Is(err, coordinator.ErrMessage) {
		t.Errorf("got %v", err)
	}
}

// Tabs carry parcels for each other: to their neighbors always, further where there is no hub.
func TestTabsCarryParcels(t *testing.T) {
	alone := tabMesh(t, 1, coordinator.Tab)
	neighbor := tabMesh(t, 2, coordinator.Tab)
	meetAll(t, alone, neighbor)
	stranger := seedlog.PeerOf(ed25519.NewKeyFromSeed(bytes.Repeat([]byte{9}, ed25519.SeedSize)))
	if alone.carriesTo(neighbor.self) || alone.carries(neighbor.host.ID()) {
		t.Error("a leaf that browsers connect to nobody carries parcels")
	}
	alone.acceptTab = func(peer.ID, peer.ID, *signal) error { return nil }
	if !alone.carriesTo(neighbor.self) || !alone.carriesTo(stranger) || !alone.carries(neighbor.host.ID()) {
		t.Error("tabs that have each other alone carry nothing")
	}
	hub := tabMesh(t, 3, coordinator.Native)
	meetAll(t, hub, alone)
	if !alone.carriesTo(neighbor.self) || alone.carriesTo(stranger) || alone.carries(neighbor.host.ID()) {
		t.Error("where a hub is, a tab carries what is not for its neighbors, or sends over other tabs")
	}
}

// fromTab is a connection that browsers made.
type fromTab struct{ network.Conn }

func (fromTab) RemoteMultiaddr() ma.Multiaddr { return tabAddress }

// A tab that somebody told of may call itself a hub: it is a stranger, and gets nothing that is for hubs.
func TestTabsAreNoHubs(t *testing.T) {
	m, other := tabMesh(t, 1, coordinator.Native), tabMesh(t, 2, coordinator.Native)
	if _, err := m.Dial(t.Context(), other.Addrs()[0]); err != nil {
		t.Fatal(err)
	}
	id := other.host.ID()
	eventually(t, "linked", func() bool { return m.isLinked(id) })
	c := fromTab{m.host.Network().ConnsToPeer(id)[0]}
	if !chosen(c.Conn) || chosen(c) {
		t.Error("a tab counts as chosen like a hub that was dialed")
	}
	m.mu.Lock()
	m.removeLink(id)
	m.mu.Unlock()
	if _, err := m.met(id, c, &helloMessage{Hub: true, Run: m.runID()}); err != nil {
		t.Fatal(err)
	}
	if l := m.Links(); len(l) != 1 || l[0].Hub || !l[0].Tab || m.HasHub() {
		t.Errorf("got %+v", l)
	}
}

// What a neighbor tells of tabs is bounded and is keys.
func TestReadTabs(t *testing.T) {
	key := seedlog.PeerOf(ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize)))
	if list, err := readTabs(bytes.NewReader(bytes.Repeat(key[:], maxTold))); err != nil || len(list) != maxTold {
		t.Errorf("got %d, %v", len(list), err)
	}
	for _, n := range []int{1, len(key)*maxTold + len(key), 1 << 20} {
		if _, err := readTabs(bytes.NewReader(make([]byte, n))); !errors.Is(err, errSignal) {
			t.Errorf("%d bytes: got %v", n, err)
		}
	}
}

// fakeStream notes what is written to it, by a peer.
type fakeStream struct {
	network.Stream
	conn    network.Conn
	written int
}

func (s *fakeStream) Conn() network.Conn { return s.conn }

func (s *fakeStream) Write(b []byte) (int, error) {
	s.written++
	return len(b), nil
}

// Tabs that have hubs give each other no gossip, but say what they are subscribed to; where one has none, they do.
func TestTabsGossipWhereAHubIsMissing(t *testing.T) {
	hub, m, other := tabMesh(t, 1, coordinator.Native), tabMesh(t, 2, coordinator.Tab), tabMesh(t, 3, coordinator.Tab)
	meetAll(t, m, other)
	id := other.host.ID()
	under := &fakeStream{conn: m.host.Network().ConnsToPeer(id)[0]}
	s := &tabStream{under, m}
	frame := func(rpc *pb.RPC) []byte {
		body, err := proto.Marshal(rpc)
		if err != nil {
			t.Fatal(err)
		}
		return append(binary.AppendUvarint(nil, uint64(len(body))), body...)
	}
	message := frame(&pb.RPC{Publish: []*pb.Message{{Data: make([]byte, 1000)}}})
	yes, topic := true, "control"
	subscription := frame(&pb.RPC{Subscriptions: []*pb.RPC_SubOpts{{Subscribe: &yes, Topicid: &topic}}, Publish: []*pb.Message{{Data: []byte("x")}}})
	passes := func(frame []byte) bool {
		before := under.written
		if n, err := s.Write(frame); n != len(frame) || err != nil {
			t.Errorf("got %d, %v", n, err)
		}
		return under.written > before
	}
	if !passes(message) || !passes(subscription) {
		t.Error("a tab without a hub keeps gossip to itself")
	}
	meetAll(t, hub, m)
	if passes(message) || !passes(subscription) {
		t.Error("tabs with hubs give each other what they hear from these, or say not what they hear")
	}
	m.tabsFor(id, tabAsked{time.Now(), true})
	if !passes(message) {
		t.Error("a tab that says it has no hub is told nothing")
	}
	m.tabsFor(id, tabAsked{time.Now().Add(-2 * tellAgain), true})
	if passes(message) {
		t.Error("what it said long ago still counts")
	}
}

// A tab asks at once when it lost its last hub, so that the others know.
func TestAsksWhenAlone(t *testing.T) {
	links, now := newTabLinks(), time.Now()
	links.askNow(now, linkedTabs{}, false)
	if links.askNow(now, linkedTabs{}, false) {
		t.Error("it asks all the time")
	}
	if !links.askNow(now, linkedTabs{}, true) {
		t.Error("nobody learns that it lost its last hub")
	}
}

// Somebody whose connections come and go does not have a tab use up what its hub grants it.
func TestAsksAtARate(t *testing.T) {
	links, now, asked := newTabLinks(), time.Now(), 0
	for i := range 1000 {
		asked += btoi(links.askNow(now, linkedTabs{accepted: ids("x", i%2)}, false))
		now = now.Add(keepEvery)
	}
	if most := int(askRate.burst + askRate.rate*(1000*keepEvery).Seconds()); asked > most || asked < most/2 {
		t.Errorf("it asked %d times in %v", asked, 1000*keepEvery)
	}
	if q := quotas[hellos].own; askRate.rate+1/refreshEvery.Seconds() > q.rate || askRate.burst > q.burst {
		t.Error("a tab may be taken for one that says hello all the time")
	}
}
