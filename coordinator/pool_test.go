package coordinator

import (
	"crypto/ed25519"
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/evoswarm/evoswarm/internal/fair"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// junkClaim is a claim of a key that ran nothing. Its signature is right and not checked again: what floods cost
// before a Step is not the coordinator's matter.
func (f *field) junkClaim(author ed25519.PrivateKey, parent seedlog.Link, chunk uint64) seedlog.CheckedClaim {
	return f.rules.OwnClaim(seedlog.NewClaim(f.rules.Run, parent, author, chunk, []int64{1, 2, 3, 4}, []uint64{9, 9, 9, 9}))
}

// someJunk is the keys of a flood: fewer in short tests, which sign that many claims for every entry.
func someJunk() []ed25519.PrivateKey {
	if testing.Short() {
		return junkKeys[:256]
	}
	return junkKeys
}

// give has a stranger hand claims to a native.
func (f *field) give(from ed25519.PrivateKey, to *member, claims ...seedlog.CheckedClaim) {
	peer := seedlog.PeerOf(from)
	f.step(to, Received{From: peer, Via: peer, Message: Checked{message: &Claims{}, claims: claims}})
}

// eachHead calls act once for every leader and head of its.
func (f *field) eachHead(act func(leader *member, head seedlog.Link)) func(int) {
	var last seedlog.Link
	return func(int) {
		if m := f.leader(); m != nil && m.coord.chain.head.link != last {
			last = m.coord.chain.head.link
			act(m, last)
		}
	}
}

// floodOwn has strangers give false claims of their own, as leaves do.
func floodOwn(f *field) func(int) {
	return f.eachHead(func(m *member, head seedlog.Link) {
		for _, key := range f.strangers {
			f.give(key, m, f.junkClaim(key, head, 0), f.junkClaim(key, head, 1))
		}
	})
}

// floodAsked has strangers announce false claims of thousands of keys, and deliver those that they are asked for.
func floodAsked(f *field) func(int) {
	claims := make(map[seedlog.Link]seedlog.CheckedClaim)
	type answer struct {
		key    ed25519.PrivateKey
		to     *member
		claims []seedlog.CheckedClaim
	}
	var answers []answer
	names := make(map[Peer]ed25519.PrivateKey)
	for _, key := range f.strangers {
		names[seedlog.PeerOf(key)] = key
	}
	f.spy = func(from *member, e Envelope) {
		w, ok := e.Message.(*Want)
		key := names[e.To]
		if !ok || key == nil {
			return
		}
		a := answer{key: key, to: from}
		for _, link := range w.Claims {
			a.claims = append(a.claims, claims[link])
		}
		answers = append(answers, a)
	}
	announce := f.eachHead(func(m *member, head seedlog.Link) {
		clear(claims)
		junk := someJunk()
		speakers := f.strangers[:min(len(f.strangers), 16)]
		for i, key := range speakers {
			inventory := &Inventory{Parent: head}
			for j := i; j < len(junk) && len(inventory.Items) < maxWant; j += len(speakers) {
				claim := f.junkClaim(junk[j], head, 0)
				claims[claim.Link()] = claim
				inventory.Items = append(inventory.Items, InventoryItem{Claim: claim.Link()})
			}
			f.tell(key, m, inventory)
		}
	})
	return func(tick int) {
		announce(tick)
		todo := answers
		answers = nil
		for _, a := range todo {
			f.give(a.key, a.to, a.claims...)
		}
	}
}

// stealWants has strangers repeat what the natives announce, so that the leader asks them, who say nothing.
func stealWants(f *field) func(int) {
	var heard []*Inventory
	f.spy = func(_ *member, e Envelope) {
		if m, ok := e.Message.(*Inventory); ok {
			heard = append(heard, m)
		}
	}
	return func(tick int) {
		for _, m := range heard {
			f.turn(tick, 4, func(_ int, key ed25519.PrivateKey) { f.say(key, m) })
		}
		heard = heard[max(0, len(heard)-8):]
	}
}

// TestOwnClaimsHaveRoom: however many claims of others a peer holds, its own are among them.
func TestOwnClaimsHaveRoom(t *testing.T) {
	f := newField(t, 1, 0)
	f.pass(30)
	m := f.peers[0]
	c := m.coord
	for _, key := range junkKeys {
		claim := f.junkClaim(key, c.chain.head.link, 0)
		c.work.pool.wanted.Put(claim.Link(), c.self, 1, want{})
		f.give(f.strangerKey(1), m, claim)
	}
	if n := c.work.pool.fresh.Len(); n != maxNewClaims {
		t.Fatalf("%d claims of newcomers in the pool, want it full with %d", n, maxNewClaims)
	}
	c.work.pool.checkFresh(t)
	before := c.chain.head.height
	f.pass(100)
	if grown := c.chain.head.height - before; grown < 15 {
		t.Errorf("%d entries in 100 ticks", grown)
	}
}

func (f *field) strangerKey(i int) ed25519.PrivateKey { return keyOf(fmt.Sprint("stranger ", i)) }

// TestNewcomersShareByDeliverer: one peer that hands over any number of newcomers' claims leaves room for those that
// others hand over.
func TestNewcomersShareByDeliverer(t *testing.T) {
	f := newField(t, 1, 0)
	f.pass(30)
	m := f.peers[0]
	c := m.coord
	give := func(from int, key ed25519.PrivateKey) seedlog.Link {
		claim := f.junkClaim(key, c.chain.head.link, 0)
		c.work.pool.wanted.Put(claim.Link(), c.self, 1, want{})
		f.give(f.strangerKey(from), m, claim)
		return claim.Link()
	}
	for _, key := range junkKeys[:2000] {
		give(1, key)
	}
	var modest []seedlog.Link
	for _, key := range junkKeys[2000:] {
		modest = append(modest, give(2, key))
	}
	for i, link := range modest {
		if c.work.pool.links[link] == nil {
			t.Fatalf("claim %d of a peer that gave %d was dropped for those of one that gave 2000", i, len(modest))
		}
	}
	if len(c.work.pool.links) != c.work.pool.own.Len()+c.work.pool.fresh.Len() {
		t.Errorf("%d links for %d claims", len(c.work.pool.links), c.work.pool.own.Len()+c.work.pool.fresh.Len())
	}
	c.work.pool.checkFresh(t)
	c.work.pool.drop(seedlog.PeerOf(junkKeys[len(junkKeys)-1]))
	c.work.pool.checkFresh(t)
}

// TestClaimsTurnedAwayWaitForRoom: a leader asks again for a newcomer's claim that it turned away once the share of who
// announces it has room, and for a later chunk once the chunks before it are there. New claims it asks for at once.
func TestClaimsTurnedAwayWaitForRoom(t *testing.T) {
	f := newNextField(t, 4, 1, 0)
	f.pass(30)
	m := f.peers[0]
	c := m.coord
	asked := 0
	f.spy = func(_ *member, e Envelope) {
		if w, ok := e.Message.(*Want); ok {
			asked += len(w.Claims)
		}
	}
	announce := func(from int, claims ...seedlog.CheckedClaim) int {
		asked = 0
		inventory := &Inventory{Parent: c.chain.head.link}
		for _, claim := range claims {
			c.work.pool.wanted.Delete(claim.Link())
			inventory.Items = append(inventory.Items, InventoryItem{Claim: claim.Link()})
		}
		f.tell(f.strangerKey(from), m, inventory)
		return asked
	}
	hand := func(claim seedlog.CheckedClaim) {
		c.work.pool.wanted.Put(claim.Link(), c.self, 1, want{})
		f.give(f.strangerKey(1), m, claim)
	}
	var refused []seedlog.CheckedClaim
	for _, key := range junkKeys {
		claim := f.junkClaim(key, c.chain.head.link, 0)
		if hand(claim); c.work.pool.links[claim.Link()] == nil {
			refused = append(refused, claim)
		}
	}
	next := f.junkClaim(junkKeys[0], c.chain.head.link, 2)
	hand(next)
	if len(refused) == 0 || c.work.pool.links[next.Link()] != nil {
		t.Fatalf("%d claims had no room", len(refused))
	}
	refused = refused[:3]
	if n := announce(1, append(refused, f.junkClaim(junkKeys[0], c.chain.head.link, 4))...); n != 1 {
		t.Errorf("asked for %d claims of one whose share is full, want the one that is new", n)
	}
	if n := announce(2, append(refused, next)...); n != len(refused) {
		t.Errorf("asked another for %d claims of %d that had no room and one before its turn", n, len(refused))
	}
	c.work.pool.drop(refused[0].Value().Peer)
	for i := range 2 {
		c.work.pool.drop(seedlog.PeerOf(junkKeys[i]))
	}
	if n := announce(1, refused...); n != 2 {
		t.Errorf("asked for %d claims with room for 2", n)
	}
}

// TestKnownClaimsWaitForRoom: the same for claims of keys with a record, by the share of their author.
func TestKnownClaimsWaitForRoom(t *testing.T) {
	f := newNextField(t, 4, 2, 0)
	f.pass(60)
	m := f.leader()
	author := f.peers[0]
	if author == m {
		author = f.peers[1]
	}
	c, key := m.coord, author.coord.cfg.Key
	if !c.known(author.peer) {
		t.Fatal("the other native has no record")
	}
	c.work.pool.known = fair.NewTable[poolKey, source, *pooled](1).KeepOldest()
	first, second := f.junkClaim(key, c.chain.head.link, 0), f.junkClaim(key, c.chain.head.link, 1)
	f.give(key, m, first)
	f.give(key, m, second)
	if c.work.pool.links[first.Link()] == nil || c.work.pool.links[second.Link()] != nil {
		t.Fatal("there is room for other than the first claim")
	}
	asked := 0
	f.spy = func(_ *member, e Envelope) {
		if w, ok := e.Message.(*Want); ok {
			asked += len(w.Claims)
		}
	}
	inventory := &Inventory{Parent: c.chain.head.link, Items: []InventoryItem{{Claim: second.Link()}}}
	if f.tell(key, m, inventory); asked != 0 {
		t.Error("asked for a claim that there is no room for")
	}
	c.work.pool.known.Delete(poolKeyOf(first.Value()))
	if f.tell(key, m, inventory); asked != 1 {
		t.Errorf("asked %d times for a claim that there is room for", asked)
	}
}

// checkFresh checks that each newcomer's list has what the pool holds of it, in the same order.
func (p *pool) checkFresh(t *testing.T) {
	t.Helper()
	want := make(map[Peer][]*pooled)
	for key, q := range p.fresh.All() {
		want[key.peer] = append(want[key.peer], q)
	}
	if !maps.EqualFunc(p.freshOf, want, slices.Equal[[]*pooled]) {
		t.Errorf("there are lists of %d newcomers; the pool holds %d claims of %d", len(p.freshOf), p.fresh.Len(), len(want))
	}
}

// TestNewcomersGetIn: peers without a record have theirs soon, next to any number of keys that send junk.
func TestNewcomersGetIn(t *testing.T) {
	f := newField(t, 3, 300)
	f.capacity = 8
	f.pass(100)
	f.each = floodOwn(f)
	f.pass(40)
	joiner := f.add("joiner", production())
	f.start(joiner)
	f.pass(600)
	c := f.peers[0].coord
	if c.chain.credits[joiner.peer].Evaluations == 0 {
		t.Errorf("after 600 ticks at height %d the chain holds nothing of the joiner, who is at height %d", c.chain.head.height, joiner.coord.chain.head.height)
	}
}

// TestNoKeyIsAhead: where not all claims find room in an entry, lot decides whose do, and each key has as much as any
// other in the long run.
func TestNoKeyIsAhead(t *testing.T) {
	const peers, limit, parents = 60, 30, 200
	f := newField(t, 1, 0)
	had := make(map[Peer]int)
	for at := range parents {
		parent := seedlog.LinkOf([]byte(fmt.Sprint("parent ", at)))
		on := &node{link: parent}
		var good []*pooled
		for _, key := range junkKeys[:peers] {
			good = append(good, &pooled{claim: f.junkClaim(key, parent, 0), on: on, good: true, rank: claimRank(parent, seedlog.PeerOf(key))})
		}
		picked := pickFair(inTurns(f.rules, good, on), limit)
		if len(picked) != limit {
			t.Fatalf("%d claims picked, want %d", len(picked), limit)
		}
		for _, q := range picked {
			had[q.claim.Value().Peer]++
		}
	}
	for i, key := range junkKeys[:peers] {
		if n := had[seedlog.PeerOf(key)]; n < parents*limit/peers*7/10 || n > parents*limit/peers*13/10 {
			t.Errorf("key %d was picked %d times of %d, want about %d", i, n, parents, parents*limit/peers)
		}
	}
}

// TestNewcomersShareOfAnEntry: newcomers get a quarter of an entry that is full, and all that others leave.
func TestNewcomersShareOfAnEntry(t *testing.T) {
	for _, c := range []struct{ fresh, others, limit, want int }{
		{100, 100, 40, 10}, {100, 35, 40, 10}, {100, 20, 40, 20}, {5, 100, 40, 5}, {10, 20, 40, 10}, {100, 0, 40, 40}, {0, 100, 40, 0}, {100, 100, 2, 0},
	} {
		var list []*pooled
		for i := range c.fresh + c.others {
			list = append(list, &pooled{fresh: i < c.fresh})
		}
		all, fresh := pickFair(list, c.limit), 0
		for _, p := range all {
			if p.fresh {
				fresh++
			}
		}
		if fresh != c.want || len(all) != min(c.limit, c.fresh+c.others) {
			t.Errorf("%+v: %d newcomers of %d", c, fresh, len(all))
		}
	}
}

// TestEntriesFitIntoMessages: a leader logs as many claims as go into one message with their entry, but at least what
// closes it.
func TestEntriesFitIntoMessages(t *testing.T) {
	unbatched := *newRangeField(t, 1, 0).rules.Spec
	unbatched.Generation.Batch = 0
	for _, spec := range []*seedlog.Spec{&unbatched, newRangeField(t, 1, 0).rules.Spec} {
		entriesFit(t, *spec)
	}
}

// entriesFit holds entries of a run to the size of a message.
func entriesFit(t *testing.T, spec seedlog.Spec) {
	t.Helper()
	rules, err := seedlog.NewRules(&spec)
	if err != nil {
		t.Fatal(err)
	}
	most, key := mostClaimed, keyOf("a")
	if spec.Generation.Batch > 0 {
		most = mostBatched
	}
	results := make([]int64, 256)
	for i := range results {
		results[i] = 1 << 40
	}
	steps := make([]uint64, len(results))
	for i := range steps {
		steps[i] = 1000
	}
	long := rules.OwnClaim(seedlog.NewClaim(rules.Run, rules.Run, key, 0, results, steps))
	for _, n := range []int{1, 10, 1000} {
		claims := make([]*pooled, n)
		for i := range claims {
			claims[i] = &pooled{claim: long}
		}
		picked := sendable(rules, claims)
		list := make([]seedlog.CheckedClaim, len(picked))
		for i, q := range picked {
			list[i] = q.claim
		}
		e := rules.EntryOf(seedlog.Parent{Link: rules.Run}, 1, rules.Origin, list, [32]byte{}, [32]byte{})
		g := &generation{rules.OwnEntry(e, key, nil), list}
		_, size := g.blocks()
		if spec.Generation.Batch == 0 {
			size = len(picked) * len(long.Bytes())
		}
		if n > len(picked) && size+2*len(long.Bytes()) <= most || size > most || size > MaxDirectBytes-segmentRoom {
			t.Errorf("%d of %d claims picked: %d bytes, at most %d", len(picked), n, size, most)
		}
	}
	closes := 200
	if spec.Generation.Batch > 0 {
		closes = 400
	}
	spec.Generation.Evaluations, spec.Generation.Quota = uint64(closes*len(results)), seedlog.MaxEvaluations
	large, err := seedlog.NewRules(&spec)
	if err != nil {
		t.Fatal(err)
	}
	claims := slices.Repeat([]*pooled{{claim: long}}, 1000)
	if n := len(sendable(large, claims)); n != closes {
		t.Errorf("%d claims picked, %d close an entry", n, closes)
	}
}

// TestOpenedWhole: what a newcomer's claims in an entry begin with was re-run as a whole; else those on that parent
// wait.
func TestOpenedWhole(t *testing.T) {
	f := newNextField(t, 4, 1, 0)
	head := &node{height: 7}
	low, high := keyOf("a"), keyOf("b")
	if seedlog.PeerOf(high).Compare(seedlog.PeerOf(low)) < 0 {
		low, high = high, low
	}
	claim := func(key ed25519.PrivateKey, height, chunk uint64, what string) *pooled {
		on := &node{height: height, link: seedlog.LinkOf([]byte{byte(height)})}
		p := &pooled{claim: f.rules.OwnClaim(seedlog.NewClaim(f.rules.Run, on.link, key, chunk, []int64{1, 2, 3, 4}, []uint64{9, 9, 9, 9})), on: on, fresh: true}
		switch what {
		case "good":
			p.good = true
		case "attested":
			p.attested = new(seedlog.Attestation)
		case "spared":
			p.spared = true
		case "known":
			p.spared, p.fresh = true, false
		}
		return p
	}
	for _, test := range []struct {
		name   string
		claims []*pooled
		stay   []int
	}{
		{"all good", []*pooled{claim(low, 5, 0, "good"), claim(high, 5, 0, "attested")}, []int{0, 1}},
		{"the first good", []*pooled{claim(low, 5, 0, "good"), claim(low, 5, 1, "spared"), claim(low, 6, 0, "spared")}, []int{0, 1, 2}},
		{"the first spared", []*pooled{claim(low, 5, 0, "spared"), claim(low, 5, 1, "good"), claim(low, 6, 0, "attested"), claim(low, 6, 1, "spared")}, []int{2, 3}},
		{"nothing good", []*pooled{claim(low, 5, 0, "spared"), claim(low, 6, 0, "spared"), claim(high, 5, 0, "good")}, []int{2}},
		{"another's is good", []*pooled{claim(low, 5, 0, "good"), claim(high, 5, 0, "spared"), claim(high, 5, 1, "spared")}, []int{0}},
		{"a record", []*pooled{claim(low, 5, 0, "known"), claim(high, 5, 0, "known")}, []int{0, 1}},
	} {
		var want []*pooled
		for _, i := range test.stay {
			want = append(want, test.claims[i])
		}
		if got := openedWhole(slices.Clone(test.claims), head, seedlog.MaxAttestations); !slices.Equal(got, want) {
			t.Errorf("%s: %d of %d stay, want %v", test.name, len(got), len(test.claims), test.stay)
		}
	}
	var many []*pooled
	for i := range seedlog.MaxAttestations + 20 {
		many = append(many, claim(keyOf(fmt.Sprint("newcomer ", i)), 5, 0, "attested"))
	}
	slices.SortFunc(many, inEntryOrder)
	if got := openedWhole(many, head, seedlog.MaxAttestations); len(got) != seedlog.MaxAttestations {
		t.Errorf("an entry names %d attestations, at most %d", len(got), seedlog.MaxAttestations)
	}
	if got := openedWhole([]*pooled{claim(low, 0, 0, "known")}, &node{}, seedlog.MaxAttestations); len(got) > 0 {
		t.Error("on the genesis a claim stays of which nobody re-ran all")
	}
}

// TestLongClaimsOfNewcomers: a newcomer's claims are as long as those of others at most. One that is longer would cost
// who re-runs all of it more than several newcomers' are worth.
func TestLongClaimsOfNewcomers(t *testing.T) {
	f := newRangeField(t, 3, 2)
	f.capacity = 4
	f.pass(200)
	leader := f.leader()
	head := leader.coord.chain.head.link
	for i, test := range []struct {
		chunks int
		takes  bool
	}{{128, true}, {129, false}} { // a generation has 64
		key := f.strangers[i]
		fitness, steps := make([]int64, test.chunks), make([]uint64, test.chunks)
		for k := range steps {
			steps[k] = 9
		}
		claim := f.rules.OwnClaim(seedlog.NewClaim(f.rules.Run, head, key, 0, fitness, steps))
		leader.coord.offer(source{key: seedlog.PeerOf(key)}, claim)
		if got := leader.coord.work.pool.links[claim.Link()] != nil; got != test.takes {
			t.Errorf("the pool takes a newcomer's claim of %d chunks: %t", test.chunks, got)
		}
	}
}

// TestAnnouncementsBackOff: a claim that is not fetched is announced less and less often, and a hub without a record
// announces few at a time: where many join at once their leader's uplink is full, and repetition fills it more.
func TestAnnouncementsBackOff(t *testing.T) {
	f := newNextField(t, 4, 4, 0)
	fresh := f.peers[3]
	at, most := make(map[seedlog.Link][]Tick), make(map[bool]int)
	f.swap = func(from, _ *member, m Message) Message {
		if x, ok := m.(*Inventory); ok {
			for _, item := range x.Items {
				at[item.Claim] = append(at[item.Claim], from.coord.now)
			}
			without := from.coord.chain.weights()[from.peer] == 0 && from.coord.chain.head.height > 0
			most[without] = max(most[without], len(x.Items))
			return nil
		}
		return m
	}
	f.held = func(m *member, j *job) bool { return m == f.peers[2] && j.kind == jobOwn } // the other three fill entries
	f.pass(300)
	if n := most[true]; n == 0 || n > firstAnnounced {
		t.Errorf("a hub without a record announced %d claims at once, at most %d", n, firstAnnounced)
	}
	again := 0
	for _, ticks := range at {
		if len(ticks) < 3 {
			continue
		}
		if again++; ticks[2]-ticks[1] < 2*(ticks[1]-ticks[0]) {
			t.Fatalf("a claim was announced in ticks %d", ticks)
		}
	}
	if again == 0 {
		t.Error("no claim was announced three times: no test")
	}
	if fresh.coord.chain.weights()[fresh.peer] > 0 {
		t.Error("something of a hub was logged that nobody heard of")
	}
	if few, many := fresh.coord.mostAnnounced(), f.peers[0].coord.mostAnnounced(); few != firstAnnounced || many != maxInventory {
		t.Errorf("a hub without a record announces %d claims at most, one with a record %d", few, many)
	}
}

// TestMoreClaimsThanAnInventory: of more claims than a message names a hub announces each once, the rest with the next
// steps of the same tick, and again after a while. What was dropped meanwhile it does not name.
func TestMoreClaimsThanAnInventory(t *testing.T) {
	const claims = 2*maxInventory + 100
	f := newNextField(t, 3, 3, 0)
	f.held = func(*member, *job) bool { return true } // on the genesis all keys count as known
	f.pass(60)
	hub := f.peers[0]
	if hub == f.leader() {
		hub = f.peers[1]
	}
	c := hub.coord
	told := make(map[seedlog.Link]int)
	f.spy = func(from *member, e Envelope) {
		if m, ok := e.Message.(*Inventory); ok && from == hub {
			for _, item := range m.Items {
				told[item.Claim]++
			}
		}
	}
	var links []seedlog.Link
	for i := range claims {
		key := keyOf(fmt.Sprint("leaf ", i))
		claim := f.rules.OwnClaim(seedlog.NewClaim(f.rules.Run, f.rules.Run, key, 0, []int64{1}, []uint64{9}))
		c.offer(source{key: seedlog.PeerOf(key)}, claim)
		links = append(links, claim.Link())
	}
	gone, last := links[claims-1], seedlog.PeerOf(keyOf(fmt.Sprint("leaf ", claims-1)))
	for _, want := range []int{maxInventory, 2 * maxInventory, claims - 1, claims - 1} {
		if f.step(hub, Passed{}); len(told) != want {
			t.Fatalf("after another step in a tick %d claims of %d are announced, want %d", len(told), claims, want)
		}
		c.work.pool.drop(last)
	}
	f.pass(int(2*c.cfg.Timing.Heartbeat) + 1)
	for _, link := range links {
		if want := map[bool]int{false: 2, true: 0}[link == gone]; told[link] != want {
			t.Fatalf("a claim was announced %d times, want %d", told[link], want)
		}
	}
}
