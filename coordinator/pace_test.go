package coordinator

import (
	"slices"
	"testing"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// newRangeField is newNextField with chunks of one counter, of which a generation has 64 at least.
func newRangeField(t testing.TB, natives, strangers int) *field {
	spec := *newNextField(t, 4, 1, 0).rules.Spec
	spec.Generation.Chunk, spec.Generation.Evaluations, spec.Generation.Quota = 1, 64, 4096
	rules, err := seedlog.NewRules(&spec)
	if err != nil {
		t.Fatal(err)
	}
	return newFieldOf(t, rules, natives, strangers)
}

// lengths are the chunks of a peer's claims in the last entries.
func (f *field) lengths(of *member, entries int) (list []uint64) {
	canon := of.coord.chain.canon
	for _, n := range canon[max(0, len(canon)-entries):] {
		for _, link := range n.claims {
			claim, err := seedlog.DecodeClaim(of.disk.blocks[link])
			if err == nil && claim.Peer == of.peer {
				list = append(list, f.rules.Chunks(claim))
			}
		}
	}
	return list
}

// TestClaimsLastATime: whatever a peer computes in a tick, its claims take half of the least time of a generation, up
// to as many chunks as close one.
func TestClaimsLastATime(t *testing.T) {
	for _, capacity := range []int{1, 4, 16, 200} {
		f := newRangeField(t, 4, 0)
		f.capacity = capacity
		f.pass(600)
		c := f.peers[0].coord
		ticks, full := int(c.lastsAfter(c.chain.head)), int(f.rules.Spec.Generation.Evaluations) // it follows the age of results
		least, most := min(max(capacity*ticks*3/10, 1), full), min((capacity*ticks+1)/2, full)
		for _, m := range f.peers {
			list := f.lengths(m, 20)
			if len(list) < 10 {
				t.Fatalf("capacity %d: %s has %d claims in the last entries", capacity, m.name, len(list))
			}
			slices.Sort(list)
			if got := int(list[len(list)/2]); got < least || got > most {
				t.Errorf("capacity %d: the claims of %s have %d chunks, want %d to %d: %v", capacity, m.name, got, least, most, list)
			}
		}
	}
}

// TestWaitingClaimsAreOnTheNewestState: what waits behind the own claim under evaluation is on the newest state, so
// that nothing is begun that is already old, and what was given up does not count as under evaluation.
func TestWaitingClaimsAreOnTheNewestState(t *testing.T) {
	f := newRangeField(t, 4, 0)
	f.capacity = 4
	waited, older := 0, 0
	f.each = func(int) {
		for _, m := range f.peers {
			c := m.coord
			newest, first := c.chain.head, true
			if c.ahead.on != nil {
				newest = c.ahead.on
			}
			if newest.state == nil {
				continue
			}
			own := uint64(0)
			for _, id := range sortedJobs(c.work.jobs) {
				j := c.work.jobs[id]
				if j.kind == jobOwn && c.worthwhile(j.parent) {
					own += j.chunks
				}
				switch {
				case j.kind != jobOwn || j.chunk >= seedlog.FirstHeldOut:
				case first:
					first = false
					if j.parent != newest {
						older++
					}
				case j.parent != newest:
					t.Fatalf("%s has a claim on height %d that waits, the newest state is at %d", m.name, j.parent.height, newest.height)
				default:
					waited++
				}
			}
			if own != c.work.own {
				t.Fatalf("%s has %d own chunks under evaluation, and counts %d", m.name, own, c.work.own)
			}
		}
	}
	f.pass(300)
	if waited == 0 || older == 0 {
		t.Errorf("%d claims waited, %d were finished on an older state; the test checks nothing", waited, older)
	}
}

// TestNothingLeftToDo: a peer that has done all that it may on a state before a tick is over makes claims as long as
// they can be, however short the first ones are.
func TestNothingLeftToDo(t *testing.T) {
	f := newRangeField(t, 3, 0)
	f.each = func(int) {
		for _, m := range f.peers {
			for m.coord.work.own > 0 {
				f.work(m, false)
			}
		}
	}
	f.pass(100)
	for _, m := range f.peers {
		if list := f.lengths(m, 5); len(list) == 0 || slices.Min(list) < 64 {
			t.Errorf("of the last %d claims of %s some have less than 64 chunks", len(list), m.name)
		}
	}
}

// TestOneChunkInFormat1: in format 1 a claim has one chunk, and as many are under evaluation as there are slots.
func TestOneChunkInFormat1(t *testing.T) {
	f := newField(t, 3, 0)
	f.capacity = 16
	f.pass(200)
	for _, m := range f.peers {
		for _, j := range m.coord.work.jobs {
			if j.kind == jobOwn && j.chunks != 1 {
				t.Fatalf("%s evaluates %d chunks as one claim", m.name, j.chunks)
			}
		}
		if own := m.coord.work.own; own > uint64(m.coord.work.slots) {
			t.Errorf("%s has %d chunks under evaluation on %d slots", m.name, own, m.coord.work.slots)
		}
		if list := f.lengths(m, 20); len(list) == 0 || slices.Max(list) != 1 {
			t.Errorf("the claims of %s have %v chunks", m.name, list)
		}
	}
}

// TestCrowdedEntries: where an entry holds many claims the next ones take longer, up to a bound, and where it holds
// few as long as before.
func TestCrowdedEntries(t *testing.T) {
	f := newRangeField(t, 1, 0)
	c := f.peers[0].coord
	entry := func(claims int) *node { return &node{named: uint64(claims)} }
	short := c.claimTime()
	c.crowded(entry(manyClaims))
	if c.claimTime() != short {
		t.Errorf("claims take %d ticks after an entry with %d, %d before", c.claimTime(), manyClaims, short)
	}
	last := short
	for range 10 {
		c.crowded(entry(manyClaims + 1))
		if now := c.claimTime(); now < last || now > 2*last || now > maxClaimTicks || now < min(2*last, maxClaimTicks) {
			t.Fatalf("claims take %d ticks after %d, a full entry later", now, last)
		}
		last = c.claimTime()
	}
	longer := c.work.pace.longer
	c.chain.head.duration, c.work.pace.longer = 4*tickMS*uint64(c.lastsAfter(&node{})), 4
	if now := c.claimTime(); now < 4*short || now > 5*short {
		t.Errorf("claims take %d ticks where generations and crowded entries have each made them four times as long as %d", now, short)
	}
	c.chain.head.duration, c.work.pace.longer = 0, longer
	c.crowded(entry(fewClaims))
	if c.claimTime() != last {
		t.Errorf("claims take %d ticks after an entry with %d, %d before", c.claimTime(), fewClaims, last)
	}
	for range 10 {
		c.crowded(entry(fewClaims - 1))
	}
	if c.claimTime() != short {
		t.Errorf("claims take %d ticks when entries hold few again, %d at first", c.claimTime(), short)
	}
}

// TestCrowdedWaits: entries that hold claims from before a change change nothing again.
func TestCrowdedWaits(t *testing.T) {
	c := newRangeField(t, 1, 0).peers[0].coord
	const many, few = manyClaims + 1, fewClaims - 1
	time := c.claimTime()
	for height := uint64(10); height < 10+3*crowdedFor; height++ {
		c.crowded(&node{height: height, named: many})
		if want := time << (1 + (height-10)/crowdedFor); c.claimTime() != want {
			t.Fatalf("claims take %d ticks after a full entry of height %d, want %d", c.claimTime(), height, want)
		}
	}
	c.crowded(&node{height: 9 + 3*crowdedFor, named: few})
	if c.claimTime() != 8*time {
		t.Errorf("claims take %d ticks after one that is not, want %d", c.claimTime(), 8*time)
	}
	c.crowded(&node{height: 10 + 3*crowdedFor, named: few})
	if c.claimTime() != 4*time {
		t.Errorf("claims take %d ticks some entries later, want %d", c.claimTime(), 4*time)
	}
}

// TestOverlapHasOnePlace: two claims of a peer that cover the same chunk, of which either is true: one of them is
// logged.
func TestOverlapHasOnePlace(t *testing.T) {
	f := newRangeField(t, 3, 0)
	f.capacity = 4
	f.pass(200)
	twice := f.peers[2]
	covered := make(map[seedlog.Link]uint64) // by parent: chunks in the log
	f.each = func(int) {
		c := twice.coord
		if head := c.chain.head; head.state != nil {
			for _, chunks := range []uint64{2, 3} {
				results := f.evaluate(f.rules.Range(head.state, head.link, twice.peer, 0, chunks), false)
				for _, m := range f.peers[:2] {
					m.coord.offer(source{key: twice.peer}, f.rules.OwnClaim(f.rules.Claim(head.link, twice.key, 0, results)))
				}
			}
		}
	}
	f.pass(100)
	for _, n := range f.peers[0].coord.chain.canon {
		for _, link := range n.claims {
			claim, err := seedlog.DecodeClaim(f.peers[0].disk.blocks[link])
			if err != nil || claim.Peer != twice.peer {
				continue
			}
			if covered[claim.Parent] != claim.Chunk {
				t.Errorf("height %d: chunk %d of the peer follows %d others", n.height, claim.Chunk, covered[claim.Parent])
			}
			covered[claim.Parent] += f.rules.Chunks(claim)
		}
	}
	if len(covered) < 10 || len(f.peers[0].coord.faults.peers) > 0 {
		t.Errorf("claims on %d entries are logged, %d peers are banned", len(covered), len(f.peers[0].coord.faults.peers))
	}
}
