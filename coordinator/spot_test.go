package coordinator

import (
	"bytes"
	"crypto/ed25519"
	"maps"
	"slices"
	"testing"

	"github.com/evoswarm/evoswarm/internal/fair"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// newNextField is a field whose run is of format 2: generations of at least 16 evaluations, claims of 4,
// up to so many entries old.
func newNextField(t testing.TB, stale uint64, natives, strangers int) *field {
	spec := *newRules(t, true).Spec
	spec.Generation.Evaluations, spec.Generation.Quota = 16, 64
	rules, err := seedlog.NewRules(nextFormat(t, &spec, stale))
	if err != nil {
		t.Fatal(err)
	}
	f := newFieldOf(t, rules, natives, strangers)
	f.capacity = 2
	return f
}

// newSeededField is newNextField without strangers and with a run of its own for each nonce.
func newSeededField(t testing.TB, stale uint64, natives int, nonce byte) *field {
	spec := *newNextField(t, stale, 1, 0).rules.Spec
	spec.Nonce = bytes.Repeat([]byte{nonce}, 16)
	rules, err := seedlog.NewRules(&spec)
	if err != nil {
		t.Fatal(err)
	}
	f := newFieldOf(t, rules, natives, 0)
	f.capacity = 2
	return f
}

// onChain is the lowest canonical entry of a peer that holds a claim; nil if none does.
func (f *field) onChain(m *member, claim seedlog.Link) *node {
	for _, n := range m.coord.chain.canon {
		if slices.Contains(n.claims, claim) {
			return n
		}
	}
	return nil
}

// inflate makes a peer's claims false by so much from now on, in the results that which accepts by their place in a
// task.
func (f *field) inflate(faulty *member, by int64, which func(i int) bool) {
	f.corrupt = func(m *member, j *job, results []int64) {
		for i := range results {
			if m == faulty && j.kind == jobOwn && which(i) {
				results[i] += by
			}
		}
	}
}

// TestLiesWithARecord: a peer that has done honest work starts to lie. What decides is found at once, and whatever it
// falsifies is found by somebody soon: a mandate later its claims are no longer logged. Its lies undo nothing, and cost
// no leader its place.
func TestLiesWithARecord(t *testing.T) {
	for _, test := range []struct {
		name  string
		by    int64
		which func(i int) bool
	}{
		{"what decides", 1 << 40, func(i int) bool { return i == 1 }},
		{"all a little", 1, func(int) bool { return true }},
		{"one of four a little", 1, func(i int) bool { return i%4 == 1 }},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newNextField(t, 4, 6, 0)
			f.pass(120)
			faulty := f.peers[5]
			if f.onRecord(faulty) < 10 {
				t.Fatalf("%d chunks of the peer that will lie are logged, want some", f.onRecord(faulty))
			}
			from := f.low()
			f.inflate(faulty, test.by, test.which)
			f.pass(300)
			var lies, deciding, last uint64
			for _, n := range f.peers[0].coord.chain.canon {
				for i, link := range n.claims {
					claim, err := seedlog.DecodeClaim(f.peers[0].disk.blocks[link])
					if err != nil || claim.Peer != faulty.peer || n.height <= from {
						continue
					}
					last = n.height
					for k := range claim.Steps {
						if counter := f.rules.First(claim) + uint64(k); claim.Fitness[k] != truth(f.rules.Seed(claim.Parent, claim.Peer, counter)) {
							lies++
							if slices.Contains(n.decisive, seedlog.Counter{Claim: i, Counter: counter}) {
								deciding++
							}
						}
					}
				}
			}
			t.Logf("from height %d on %d lies were logged, %d decided, the last claim of the faulty peer at height %d of %d", from, lies, deciding, last, f.peers[0].coord.chain.head.height)
			if deciding > 4 {
				t.Errorf("%d lies decided an entry", deciding)
			}
			if last > from+20 {
				t.Errorf("the claims of the faulty peer are logged up to height %d, it has lied since %d", last, from)
			}
			if height := f.peers[0].coord.chain.head.height; height < from+40 {
				t.Errorf("height %d, %d when that began: the swarm stalls", height, from)
			}
			for _, m := range f.peers[:5] {
				disqualified := maps.Clone(m.coord.faults.disqualified)
				delete(disqualified, faulty.peer) // it may have led
				if !m.coord.faults.peers[faulty.peer] || len(disqualified) > 0 || len(m.coord.faults.peers) != 1 {
					t.Errorf("%s: %d peers faulty, %d disqualified; want the one that lied alone", m.name, len(m.coord.faults.peers), len(disqualified))
				}
			}
		})
	}
}

// TestNoLieDecides: a peer with a record exaggerates, and no lot falls on its claim. Where claims have one parent, no
// honest leader signs an entry that such a result decides.
func TestNoLieDecides(t *testing.T) {
	f := newNextField(t, 0, 4, 0)
	f.pass(300)
	leader, claim := f.offerLie(1<<50, func(p *pooled) { p.drawn, p.spared = true, true })
	f.pass(40)
	author := claim.Value().Peer
	for _, m := range f.peers {
		if f.onChain(m, claim.Link()) != nil {
			t.Errorf("the chain of %s has a lie that decides", m.name)
		}
		if m.peer != author && !m.coord.faults.peers[author] || m.coord.faults.peers[leader.peer] {
			t.Errorf("for %s the author of the lie is faulty: %t, the leader: %t", m.name, m.coord.faults.peers[author], m.coord.faults.peers[leader.peer])
		}
	}
}

// offerLie waits for a leader to close an entry, and hands it a claim on that whose first result is false: of another
// native if it exaggerates, of a stranger otherwise. edit says what the leader takes it for.
func (f *field) offerLie(fitness int64, edit func(*pooled)) (leader *member, claim seedlog.CheckedClaim) {
	for leader = f.leader(); leader == nil || leader.coord.lastEntry != f.now || leader.coord.election.role != Leader; leader = f.leader() {
		f.pass(1)
	}
	c := leader.coord
	head := c.chain.head
	var key ed25519.PrivateKey
	if fitness > 0 {
		for _, m := range f.peers {
			if m != leader {
				key = m.key
			}
		}
	} else {
		key = f.strangers[0]
	}
	author := seedlog.PeerOf(key)
	results := f.evaluate(f.rules.Task(head.state, head.link, author, 0), false)
	results[0].Fitness[0] = fitness
	claim = f.rules.OwnClaim(f.rules.Claim(head.link, key, 0, results))
	c.work.pool.drop(author)
	f.step(leader, Passed{})
	c.offer(source{key: author}, claim)
	p := c.work.pool.links[claim.Link()]
	if p == nil {
		f.t.Fatal("the pool does not take the claim")
	}
	edit(p)
	return leader, claim
}

// exposeLie has a peer find the first result of a claim on head false, which by lot it does or not. It returns all that
// neither logged nor made the claim.
func (f *field) exposeLie(leader *member, head *node, claim seedlog.CheckedClaim) []*member {
	author := claim.Value().Peer
	others := slices.DeleteFunc(slices.Clone(f.peers), func(m *member) bool { return m == leader || m.peer == author })
	first := f.evaluate(f.rules.Range(head.state, head.link, author, 0, 1), false)[0]
	others[0].coord.exposeCounter(claim, 0, first.Fitness[:1], first.Steps, 0)
	f.pass(20)
	return others
}

// TestLiesThatDecideAreFound: where late claims count, an entry is sealed before what decides it was re-run. Its leader
// does so at once: one entry, or two, is what a peer's record buys. The entries stay, and their leaders, too.
func TestLiesThatDecideAreFound(t *testing.T) {
	lies, told := 0, 0
	// Where claims on one state are few, a lie among them decides nothing, and nobody has to find it.
	for nonce := byte(1); told < 6 && nonce <= 24; nonce++ {
		f := newSeededField(t, 4, 6, nonce)
		f.setAll(func(c *Config) { c.Audit = 0 }) // nobody draws what entries hold: leaders alone look
		f.pass(120)
		faulty := f.peers[5]
		f.inflate(faulty, 1<<40, func(i int) bool { return i == 1 })
		var first, all Tick
		for range 100 {
			f.pass(1)
			for _, m := range f.peers[:5] {
				if head := m.coord.chain.head; first == 0 && head.leader != faulty.peer && f.liesDecide(m, head) {
					first = f.now
				}
			}
			if all == 0 && !slices.ContainsFunc(f.peers[:5], func(m *member) bool { return !m.coord.faults.peers[faulty.peer] }) {
				all = f.now
			}
		}
		decided := 0
		for _, n := range f.peers[0].coord.chain.canon {
			if n.leader != faulty.peer && f.liesDecide(f.peers[0], n) {
				decided++
			}
		}
		if decided == 0 && first == 0 {
			continue
		}
		lies, told = lies+decided, told+1
		t.Logf("nonce %d: %d entries decided by lies; the first at tick %d, known to all at %d", nonce, decided, first, all)
		if all == 0 || first > 0 && all > first+6 || decided > 2 {
			t.Errorf("nonce %d: lies decide %d entries; the first at tick %d, known to all at %d", nonce, decided, first, all)
		}
		for _, m := range f.peers[:5] {
			delete(m.coord.faults.disqualified, faulty.peer) // it may have led
			if len(m.coord.faults.disqualified) > 0 || len(m.coord.faults.peers) != 1 {
				t.Errorf("nonce %d: for %s %d peers are faulty, %d disqualified; want the one that lied alone", nonce, m.name, len(m.coord.faults.peers), len(m.coord.faults.disqualified))
			}
		}
	}
	if lies == 0 || told < 6 {
		t.Errorf("%d lies decided anything, with %d nonces", lies, told)
	}
}

// liesDecide reports whether a lie is among the results that decide an entry.
func (f *field) liesDecide(m *member, n *node) bool {
	return slices.ContainsFunc(n.decisive, func(d seedlog.Counter) bool {
		claim, err := seedlog.DecodeClaim(m.disk.blocks[n.claims[d.Claim]])
		if err != nil {
			f.t.Fatal(err)
		}
		fitness, _ := f.rules.At(claim, d.Counter)
		return fitness[0] != truth(f.rules.Seed(claim.Parent, claim.Peer, d.Counter))
	})
}

// onRecord is how many chunks of a peer the log holds.
func (f *field) onRecord(m *member) uint64 {
	return f.peers[0].coord.chain.credits[m.peer].Evaluations / f.rules.EvaluationsPerChunk()
}

// TestDrawnFallsWithTheRecord: all results of a key are re-run until its first chunks are there, then a part that falls
// with what is there, and from some record on none before they are logged.
func TestDrawnFallsWithTheRecord(t *testing.T) {
	c := newNextField(t, 4, 1, 0).peers[0].coord
	const size, draws = 32, 1000
	spot, claim := c.rules.Spec.SpotChecks, &seedlog.Claim{Peer: Peer{9}, Steps: make([]uint64, size)}
	for ready := range spot.First {
		if got := c.drawn(claim, ready); got != size {
			t.Errorf("%d of %d results are re-run after %d chunks, want all", got, size, ready)
		}
	}
	sum := 0
	for range draws {
		sum += c.drawn(claim, 4*spot.First-1)
	}
	if want := size / 4 * draws; sum < want*9/10 || sum > want*11/10 {
		t.Errorf("%d of %d results are re-run with four times the first chunks, want a quarter", sum, size*draws)
	}
	if got := c.drawn(claim, spot.First*spot.Share); got != 0 {
		t.Errorf("%d results of a key with a long record are re-run before they are logged", got)
	}
}

// TestNewcomersAreRerun: of a key without a record nothing is logged that was not re-run as a whole.
func TestNewcomersAreRerun(t *testing.T) {
	f := newNextField(t, 4, 4, 0)
	faulty := f.peers[3]
	f.inflate(faulty, 1, func(i int) bool { return i == 3 })
	f.pass(200)
	if n := f.onRecord(faulty); n > 0 {
		t.Errorf("%d chunks of a peer that always lies are logged", n)
	}
	if height := f.peers[0].coord.chain.head.height; height < 20 {
		t.Errorf("height %d: the swarm stalls", height)
	}
}

// TestLeaderIsNotBlamed: a leader did what it should where a key with work in the last entries lies about a result that
// decides nothing: the entry stays, and it may lead again.
func TestLeaderIsNotBlamed(t *testing.T) {
	f := newNextField(t, 0, 4, 1)
	f.pass(300)
	leader, claim := f.offerLie(1, func(p *pooled) { p.good = true })
	head, author := leader.coord.chain.head, claim.Value().Peer
	f.await(40, "the lie is logged", func() bool { return f.onChain(leader, claim.Link()) != nil })
	n := f.onChain(leader, claim.Link())
	if at := slices.Index(n.claims, claim.Link()); slices.Contains(n.decisive, seedlog.Counter{Claim: at}) {
		t.Fatal("the lie decides: no test")
	}
	f.pass(3)
	for _, m := range f.exposeLie(leader, head, claim) {
		if !m.coord.faults.peers[author] {
			t.Errorf("%s does not know of the lie", m.name)
		}
		if f.onChain(m, claim.Link()) == nil {
			t.Errorf("the chain of %s lost the entry with the lie", m.name)
		}
		if !m.coord.faults.mayLead(leader.peer, m.coord.chain.head.height) {
			t.Errorf("for %s its leader may not lead", m.name)
		}
	}
}

// TestBlamedLeader: a leader that logs a false claim of a key without work in the last entries, or one that decides,
// did not do what it should have. The entry is void and it may not lead.
func TestBlamedLeader(t *testing.T) {
	for _, decides := range []bool{false, true} {
		f := newNextField(t, 0, 4, 1) // of one parent, so that the best of all decides
		f.pass(300)
		fitness := int64(0)
		if decides {
			fitness = 1 << 50
		}
		leader, claim := f.offerLie(fitness, func(p *pooled) { p.good = true }) // it does not check
		head := leader.coord.chain.head
		for range 40 {
			f.pass(1)
			if f.onChain(leader, claim.Link()) != nil {
				break
			}
		}
		n := f.onChain(leader, claim.Link())
		if n == nil {
			t.Fatal("the lie was not logged")
		}
		if at := slices.Index(n.claims, claim.Link()); decides != slices.Contains(n.decisive, seedlog.Counter{Claim: at}) {
			t.Fatalf("the lie is in claim %d, these decide: %v", at, n.decisive)
		}
		f.pass(3)
		for _, m := range f.exposeLie(leader, head, claim) {
			if f.onChain(m, claim.Link()) != nil {
				t.Errorf("decides %t: the chain of %s still holds the lie", decides, m.name)
			}
			if m.coord.faults.mayLead(leader.peer, m.coord.chain.head.height) && m.coord.chain.head.height < head.height+90 {
				t.Errorf("decides %t: for %s its leader may lead", decides, m.name)
			}
		}
	}
}

// TestFirstClaimAnswers: of what a newcomer claims in an entry the leader answers for the first claim, which it has
// re-run as a whole. A lie in another one that no lot fell on undoes nothing.
func TestFirstClaimAnswers(t *testing.T) {
	f := newNextField(t, 4, 4, 1)
	f.pass(320) // no leader hands over now
	key := f.strangers[0]
	author := seedlog.PeerOf(key)
	for was := f.leader(); f.leader() == was; { // until one has just begun: the next would not have the claims
		f.pass(1)
	}
	leader := f.leader()
	for leader.coord.lastEntry != f.now || leader.coord.election.role != Leader {
		f.pass(1)
		leader = f.leader()
	}
	c, head := leader.coord, leader.coord.chain.head
	var claims [3]seedlog.CheckedClaim // one is enough before the head; the third is on it
	for chunk := range claims {
		results := f.evaluate(f.rules.Task(head.state, head.link, author, uint64(chunk)), false)
		if chunk == 1 {
			results[0].Fitness[0]++
		}
		claims[chunk] = f.rules.OwnClaim(f.rules.Claim(head.link, key, uint64(chunk), results))
		c.offer(source{key: author}, claims[chunk])
		if p := c.work.pool.links[claims[chunk].Link()]; p == nil {
			t.Fatal("the pool does not take the claim")
		} else if chunk == 0 {
			p.good = true
		} else {
			p.spared = true // no lot falls on it
		}
	}
	f.pass(20)
	n := f.onChain(leader, claims[1].Link())
	if n == nil || f.onChain(leader, claims[0].Link()) != n {
		t.Fatalf("the claims are not logged in one entry: %v", n)
	}
	honest := f.evaluate(f.rules.Range(head.state, head.link, author, f.rules.First(claims[1].Value()), 1), false)[0]
	f.peers[0].coord.exposeCounter(claims[1], f.rules.First(claims[1].Value()), honest.Fitness[:1], honest.Steps, 0)
	f.pass(20)
	for _, m := range f.peers {
		if !m.coord.faults.peers[author] || len(m.coord.faults.peers) > 1 || len(m.coord.faults.disqualified) > 0 || f.onChain(m, claims[1].Link()) == nil {
			t.Errorf("%s: the author is faulty: %t, %d are banned, %d disqualified, the entry stays: %t", m.name, m.coord.faults.peers[author],
				len(m.coord.faults.peers), len(m.coord.faults.disqualified), f.onChain(m, claims[1].Link()) != nil)
		}
	}
}

// TestQuickPeersAreLoggedInTime: claims of one key are re-run one after the other, but more than one a tick. Otherwise
// the claims of a fast peer wait until they are almost too old.
func TestQuickPeersAreLoggedInTime(t *testing.T) {
	spec := *newNextField(t, 12, 2, 0).rules.Spec
	spec.SpotChecks = &seedlog.SpotChecks{First: 64, Share: 32} // something of each claim is re-run before it is logged
	spec.Generation.Evaluations, spec.Generation.Quota = 256, 256
	rules, err := seedlog.NewRules(&spec)
	if err != nil {
		t.Fatal(err)
	}
	f := newFieldOf(t, rules, 2, 0)
	f.capacity = 2
	f.pass(100)
	leader := f.leader()
	other := f.peers[slices.IndexFunc(f.peers, func(m *member) bool { return m != leader })]
	c := leader.coord
	head := c.chain.head
	c.work.pool.drop(other.peer)
	const claims = 3
	for chunk := range uint64(claims) {
		results := f.evaluate(f.rules.Task(head.state, head.link, other.peer, chunk), false)
		f.give(other.key, leader, f.rules.OwnClaim(f.rules.Claim(head.link, other.key, chunk, results)))
	}
	f.now++
	f.step(leader, Passed{})
	for range claims {
		f.work(leader, false) // within that tick
	}
	ready := 0
	for p := range c.work.pool.all {
		if p.claim.Value().Peer == other.peer && p.claim.Value().Parent == head.link && p.ready() {
			ready++
		}
	}
	if ready < claims {
		t.Errorf("%d of %d claims of a key are ready, whose re-runs take no time", ready, claims)
	}
}

// TestLargePoolsAreWalkedOnce: a leader walks a large pool once a tick, however many re-runs end in that tick. It walks
// a small one again after each, up to mostSpots times.
func TestLargePoolsAreWalkedOnce(t *testing.T) {
	rules := newRules(t, true)
	for _, tt := range []struct{ claims, want int }{{0, mostSpots}, {walkedClaims / mostSpots, mostSpots}, {walkedClaims / 2, 2}, {walkedClaims, 1}, {2 * walkedClaims, 1}} {
		p := newPool(rules)
		p.known = fair.NewTable[poolKey, source, *pooled](2 * walkedClaims)
		for i := range tt.claims {
			p.known.Put(poolKey{chunk: uint64(i)}, source{}, 1, new(pooled))
		}
		if got := p.mostWalks(); got != tt.want {
			t.Errorf("%d claims are walked up to %d times a tick, want %d", tt.claims, got, tt.want)
		}
	}
	f := newNextField(t, 4, 2, 0)
	f.pass(100)
	c := f.leader().coord
	spots := func() int {
		c.tenure.spotted = 0
		for range 2 * mostSpots {
			c.tenure.ended = true
			c.spotPool()
		}
		return c.tenure.spots
	}
	if got := spots(); got != mostSpots {
		t.Errorf("a small pool was walked %d times in a tick, want %d", got, mostSpots)
	}
	c.work.pool.known = fair.NewTable[poolKey, source, *pooled](2 * walkedClaims)
	claim := f.junkClaim(keyOf("junk"), c.chain.head.link, 0)
	for i := range walkedClaims {
		c.work.pool.known.Put(poolKey{chunk: uint64(i)}, source{}, 1, &pooled{claim: claim, on: c.chain.head, good: true})
	}
	if got := spots(); got != 1 {
		t.Errorf("a pool of %d claims was walked %d times in a tick, want once", walkedClaims, got)
	}
}
