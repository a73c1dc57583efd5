package coordinator

import (
	"crypto/ed25519"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/noise"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// forger grows a branch of its own and answers pulls with it.
type forger struct {
	f      *field
	key    ed25519.PrivateKey
	parent seedlog.Parent
	state  *evolve.State
	weight uint64 // that the branch claims
	worked uint64 // env-steps of the results that it computed

	chain []Generation
	links []seedlog.Link
	asked []pullQuestion
}

// pullQuestion is a pull of a member, and the first entry that it lacks.
type pullQuestion struct {
	by   *member
	from int
}

// newForger begins a branch on the genesis, and listens for pulls.
func newForger(f *field) *forger {
	v := &forger{f: f, key: keyOf("forger"), parent: seedlog.Parent{Link: f.rules.Run}, state: f.rules.Initial()}
	peer := seedlog.PeerOf(v.key)
	f.spy = func(from *member, e Envelope) {
		m, ok := e.Message.(*Pull)
		if !ok || e.Scope != Direct || e.To != peer {
			return
		}
		q := pullQuestion{by: from}
		for _, link := range m.Locator {
			if i := slices.Index(v.links, link); i >= 0 {
				q.from = i + 1
				break
			}
		}
		v.asked = append(v.asked, q)
	}
	return v
}

// forged says whether a forger invents a result of an entry.
type forged func(result int) bool

// lie invents every result but the first, which is the best and decides.
func lie(result int) bool { return result > 0 }

func honest(int) bool { return false }

// lieSometimes invents one result in eight, none of which decides. They claim about a quarter of all steps.
func lieSometimes(result int) bool { return result%8 == 7 }

// grow adds an entry with two claims of each of some keys. Invented results claim the most steps that there are.
func (v *forger) grow(keys []string, invented forged) {
	result := 0
	var claims []*seedlog.Claim
	for _, name := range keys {
		key := keyOf(name)
		for chunk := range uint64(2) {
			c := v.f.rules.Claim(v.parent.Link, key, chunk, v.f.evaluate(v.f.rules.Task(v.state, v.parent.Link, seedlog.PeerOf(key), chunk), false))
			fitness, steps := slices.Clone(c.Fitness), slices.Clone(c.Steps)
			for i := range steps {
				if invented(result) {
					fitness[i], steps[i] = -1, 500
				} else {
					v.worked += steps[i]
				}
				result++
			}
			claims = append(claims, seedlog.NewClaim(v.f.rules.Run, c.Parent, key, chunk, fitness, steps))
		}
	}
	slices.SortStableFunc(claims, func(a, b *seedlog.Claim) int { return a.Peer.Compare(b.Peer) })
	e, next := v.f.rules.NewEntry(v.state, v.parent, max(1, v.parent.Term), seedlog.PeerOf(v.key), claims)
	g := Generation{}
	var link seedlog.Link
	g.Entry, link = e.Encode()
	g.Seal, _ = seedlog.NewSeal(e, v.key, nil).Encode()
	g.Claims = blocksOf(e, claims)
	v.chain, v.links = append(v.chain, g), append(v.links, link)
	v.weight += e.Steps
	v.state, v.parent = next, seedlog.Parent{Link: link, Height: e.Height, Term: e.Term}
}

// act says that the branch is there and answers those who asked.
func (v *forger) act(tick int) {
	if tick%4 == 0 {
		v.f.say(v.key, &Status{Hub: true, Term: 1, Head: v.parent.Link, Height: v.parent.Height, Weight: v.weight})
	}
	asked := v.asked
	v.asked = nil
	for _, q := range asked {
		end := min(q.from+64, len(v.chain))
		v.f.tell(v.key, q.by, &Segment{Generations: v.chain[q.from:end], Proofs: []FraudProof{}, Height: v.parent.Height})
	}
}

// adopted counts the members whose chain begins as the forger's.
func (v *forger) adopted() (n int) {
	for _, m := range v.f.peers {
		if x := m.coord.chain.canonAt(1); x != nil && x.link == v.links[0] {
			n++
		}
	}
	return n
}

// crowd names keys that never come twice.
func crowd(n int, height uint64) (names []string) {
	for i := range n {
		names = append(names, fmt.Sprint("sybil ", i, " ", height))
	}
	return names
}

// TestForgedChainIsNotFollowed has a stranger offer a branch from the genesis that claims more work than the swarm
// did, with one true result in an entry: for the rest it computed nothing. Also with true entries on top, more than
// proofs reach down, and with keys that are on every entry, as theirs are who work.
func TestForgedChainIsNotFollowed(t *testing.T) {
	for _, test := range []struct {
		name  string
		keys  func(height uint64) []string
		times uint64 // the swarm's weight is claimed: work on probation counts an eighth
		lies  forged
		top   int
		next  bool // in format 2
	}{
		{"new keys", func(h uint64) []string { return crowd(8, h) }, 2 * probationShare, lie, 0, false},
		{"old keys", func(uint64) []string { return crowd(8, 0) }, 2, lie, 0, false},
		{"one old key", func(uint64) []string { return crowd(1, 0) }, 2, lie, 0, false}, // found once, it weighs nothing
		{"two old keys, true entries on top", func(uint64) []string { return crowd(2, 0) }, 2, lie, 10, false},
		{"format 2: old keys", func(uint64) []string { return crowd(8, 0) }, 4, lie, 0, true},
		{"format 2: two old keys, true entries on top", func(uint64) []string { return crowd(2, 0) }, 4, lie, 10, true},
		{"true entries on top", func(uint64) []string { return crowd(4, 0) }, 2, lie, proofDepth + 5, false},
		{"few lies, true entries on top", func(uint64) []string { return crowd(4, 0) }, 1, lieSometimes, proofDepth + 5, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			f := newField(t, 3, 0)
			if test.next {
				f = newNextField(t, 4, 3, 0)
			}
			f.pass(120)
			v := newForger(f)
			target := test.times * f.peers[0].coord.chain.head.weight
			for claimed := uint64(0); claimed < target; claimed = v.weight {
				v.grow(test.keys(v.parent.Height), test.lies)
			}
			for range test.top {
				v.grow(crowd(1, 1<<40), honest)
			}
			before := f.low()
			f.each = func(tick int) {
				v.act(tick)
				if n := v.adopted(); n > 0 {
					t.Fatalf("tick %d: %d of 3 follow a branch of %d entries with %d true steps of %d", tick, n, v.parent.Height, v.worked, v.weight)
				}
			}
			f.pass(150)
			f.friendly()
			if got := f.low() - before; got < 20 {
				t.Errorf("%d entries in 150 ticks with a forged branch at hand", got)
			}
			for _, m := range f.peers {
				if m.coord.chain.sides.refused.Len() == 0 && len(m.coord.faults.peers) == 0 {
					t.Errorf("%s neither refused the branch nor found who made it up", m.name)
				}
			}
		})
	}
}

// TestJoinerLeavesForgedChain: one who has nothing yet, and hears of the forged branch first, ends on the true one.
func TestJoinerLeavesForgedChain(t *testing.T) {
	f := newField(t, 3, 0)
	f.pass(100)
	v := newForger(f)
	for v.weight < 2*f.peers[0].coord.chain.head.weight {
		v.grow(crowd(8, 0), lie)
	}
	for range proofDepth + 5 {
		v.grow(crowd(1, 1<<40), honest)
	}
	joiner := f.add("joiner", production())
	until := f.now + 100
	f.reach = func(a, b *member) bool { return f.now > until || a != joiner && b != joiner }
	f.start(joiner)
	f.each = v.act
	f.pass(250)
	if n := v.adopted(); n > 0 || joiner.coord.chain.head.height+5 < f.peers[0].coord.chain.head.height {
		t.Errorf("%d follow the forged branch; the joiner has height %d of %d", n, joiner.coord.chain.head.height, f.peers[0].coord.chain.head.height)
	}
}

// TestJoinerSamplesTheWholeChain: one who catches up has as many results re-run of all that it lacks as an audit asks,
// or a few times as many where it does not know yet how long the chain is.
func TestJoinerSamplesTheWholeChain(t *testing.T) {
	f := newField(t, 0, 0)
	v := newForger(f)
	for range 64 {
		v.grow(crowd(2, 0), honest)
	}
	joiner := f.add("joiner", production())
	f.start(joiner)
	f.each = v.act
	f.pass(60)
	if v.adopted() != 1 {
		t.Fatal("the joiner does not follow an honest chain")
	}
	low, high := joiner.coord.chain.canonAt(8).sample, joiner.coord.chain.canonAt(56).sample
	if got, want := high.draws-low.draws, uint32(auditResults*48/64); 10*got < 9*want || got > 3*want {
		t.Errorf("%d results of 48 entries were re-run, want %d to three times as many", got, want)
	}
}

// TestTooManyFalseResults: two false results of a sample are borne, wherever on a branch; the third ends the branch
// where it is, and leaves what is below.
func TestTooManyFalseResults(t *testing.T) {
	f := newField(t, 1, 0)
	f.pass(100)
	c := f.peers[0].coord
	v := newForger(f)
	var branch []*node
	for range 12 {
		v.grow(crowd(1, 0), honest)
		checked, err := Check(seedlog.NewChecker(f.rules), &Segment{Generations: v.chain[len(v.chain)-1:]}, nil)
		if err != nil {
			t.Fatal(err)
		}
		n, err := c.insert(checked.generations[0], source{})
		if err != nil {
			t.Fatal(err)
		}
		n.stage = folded
		branch = append(branch, n)
	}
	c.foundFalse(branch[7], 1)
	c.foundFalse(branch[2], 1)
	c.foundFalse(branch[9], 0)
	for i, n := range branch {
		if n.stage == refused {
			t.Fatalf("entry %d is refused after two false results", i)
		}
	}
	c.foundFalse(branch[4], 1)
	for i, n := range branch {
		if got, want := n.stage == refused, i >= 7; got != want {
			t.Errorf("entry %d: refused %t, want %t", i, got, want)
		}
	}
}

// TestKnownLiesWeighNothing: a leader logs an entry of its own lies. One peer follows it, hears of a lie, and the run
// continues on top; another hears of the lie first. It takes the entry, too, since what it doubts no longer weighs.
func TestKnownLiesWeighNothing(t *testing.T) {
	f := newNextField(t, 4, 1, 0)
	f.pass(20)
	leader, first, late := f.peers[0], f.add("first", production()), f.add("late", production())
	f.start(first)
	f.start(late)
	f.await(60, "both newcomers have work in the log", func() bool { return f.onRecord(first) > 0 && f.onRecord(late) > 0 })
	if f.leader() != leader {
		t.Fatalf("%s leads, want the one that began, which they did not elect", f.leader().name)
	}
	f.inflate(leader, 1, func(int) bool { return true })
	f.held = func(m *member, j *job) bool { return m == first && j.kind == jobSpot } // it is not found at once
	f.reach = func(a, b *member) bool { return a != late && b != late }
	lied := first.coord.chain.head.height + 1
	f.await(60, "entries with lies of their leader and with work of the first", func() bool {
		head := first.coord.chain.head
		return head.height >= lied && head.leader == leader.peer && f.logs(head, first) && f.logs(head, leader)
	})
	n := first.coord.chain.head
	f.held = nil
	f.await(60, "a lie is found", func() bool { return first.coord.faults.peers[leader.peer] })
	late.coord.markFaulty(leader.peer, "made a false claim")
	f.reach = func(a, b *member) bool { return a != leader && b != leader }
	drawn := 0
	f.held = func(m *member, j *job) bool {
		if m == late && j.kind == jobDecisive && j.peer == leader.peer {
			drawn++
		}
		return false
	}
	f.await(500, "the other takes what the first logged, and comes up to it", func() bool {
		x, head := late.coord.chain.canonAt(n.height), late.coord.chain.head
		return x != nil && x.link == n.link && head.height+3 > first.coord.chain.head.height
	})
	if got := late.coord.chain.sides.refused.Len(); got > 0 {
		t.Errorf("%d branches refused, want none", got)
	}
	if drawn > 0 {
		t.Errorf("%d results of the faulty peer were drawn", drawn)
	}
}

// TestOldTrustIsNoAudit: a branch whose entries were trusted when little was at stake, so that nothing was drawn from
// them, is drawn from when it would replace much. It is followed only if what it states is true.
func TestOldTrustIsNoAudit(t *testing.T) {
	for _, test := range []struct {
		name  string
		lies  forged
		wants bool
	}{{"true", honest, true}, {"made up", lie, false}} {
		t.Run(test.name, func(t *testing.T) {
			f := newField(t, 1, 0)
			f.pass(100)
			c := f.peers[0].coord
			v := newForger(f)
			for v.weight < 2*c.chain.head.weight {
				v.grow(crowd(4, 0), test.lies)
				checked, err := Check(seedlog.NewChecker(f.rules), &Segment{Generations: v.chain[len(v.chain)-1:]}, nil)
				if err != nil {
					t.Fatal(err)
				}
				n, err := c.insert(checked.generations[0], source{})
				if err != nil {
					t.Fatal(err)
				}
				n.stage = trusted
				c.chain.states.keep(n, v.state, c.chain.head)
			}
			followed := false
			for range 200 {
				f.pass(1)
				followed = followed || v.adopted() > 0
			}
			if refused := c.chain.sides.refused.Len() > 0; followed != test.wants || refused == test.wants {
				t.Errorf("followed %t, want %t; refused %t", followed, test.wants, refused)
			}
		})
	}
}

// TestHonestBranchIsFollowed: the audit lets a heavier branch pass that is true, and this peer follows it all the way.
func TestHonestBranchIsFollowed(t *testing.T) {
	f := newField(t, 1, 0)
	f.pass(200)
	v := newForger(f)
	for v.weight < f.peers[0].coord.chain.head.weight*5/4 {
		v.grow(crowd(3, 0), honest)
	}
	f.each = func(tick int) {
		v.act(tick)
	}
	f.pass(200)
	if v.adopted() != 1 {
		t.Errorf("an honest branch of weight %d is not followed by one of weight %d", v.weight, f.peers[0].coord.chain.head.weight)
	}
}

// TestAuditBound computes the chance that an audit lets a branch pass: exactly, from how many results each entry gives
// and how many of its steps are invented. A branch of which 5 % are invented passes less than once in a million times,
// wherever they are. So what a forger must compute in the mean, before one of its branches passes, is at least nine
// tenths of the honest work that the branch replaces, whatever part it invents.
func TestAuditBound(t *testing.T) {
	for _, entries := range []int{50, 200, 1000, 10000} {
		for _, place := range []struct {
			name string
			// invented part of an entry's steps, if a part of all is
			part func(entry int, all float64) float64
		}{
			{"everywhere", func(_ int, all float64) float64 { return all }},
			{"in whole entries", func(i int, all float64) float64 { return when(math.Mod(float64(i)*0.6180339887, 1) < all, 1) }},
			{"in the first half", func(i int, all float64) float64 { return when(i < entries/2, min(1, 2*all)) }},
			{"in the last tenth", func(i int, all float64) float64 { return when(i >= entries-entries/10, min(1, 10*all)) }},
		} {
			steps := make([]uint64, entries)
			var weight uint64
			for i := range steps {
				steps[i] = 1000 + uint64(i*i*7919)%9000 // of entries of very different size
				weight += steps[i]
			}
			cheapest := math.Inf(1)
			for invented := 0.0; invented <= 1; invented += 0.002 {
				var invents, all float64
				pass := []float64{1, 0, 0} // chance of 0, 1, 2 false results so far
				for i, n := range steps {
					p := place.part(i, invented)
					all += float64(n)
					invents += p * float64(n)
					exact := float64(auditResults) * float64(n) / float64(weight)
					least := math.Floor(exact)
					if got := part(n, weight, 0); float64(got) != least {
						t.Fatalf("an entry of %d of %d steps gives %d results, want at least %g", n, weight, got, least)
					}
					for range int(least) {
						step(pass, p)
					}
					step(pass, p*(exact-least))
				}
				chance := pass[0] + pass[1] + pass[2]
				if share := invents / all; share >= 0.05 && chance >= 1e-6 {
					t.Fatalf("%d entries, %s: with %.3f invented, an audit passes with chance %.2g", entries, place.name, share, chance)
				}
				if chance > 0 {
					cheapest = min(cheapest, (1-invents/all)/chance)
				}
			}
			t.Logf("%d entries, invented %s: a forger computes %.4f of what it replaces", entries, place.name, cheapest)
			if cheapest < 0.9 {
				t.Errorf("%d entries, invented %s: a forger computes %.3f of what it replaces, at least 0.9 is promised", entries, place.name, cheapest)
			}
		}
	}
}

// step adds a result that is false with chance p to the chances of 0, 1 and 2 false ones.
func step(chances []float64, p float64) {
	for i := len(chances) - 1; i >= 0; i-- {
		chances[i] *= 1 - p
		if i > 0 {
			chances[i] += chances[i-1] * p
		}
	}
}

func when(is bool, value float64) float64 {
	if is {
		return value
	}
	return 0
}

// TestDrawnByClaimedSteps: of many drawn results each gets its part by the steps that it claims, whatever its place.
func TestDrawnByClaimedSteps(t *testing.T) {
	rules := newRules(t, true)
	steps := [][]uint64{{1, 500, 30, 7}, {100, 100, 2, 1}, {9, 9, 9, 400}}
	var claims []seedlog.CheckedClaim
	var all uint64
	for i := range steps {
		claims = append(claims, rules.OwnClaim(&seedlog.Claim{Parent: rules.Run, Chunk: uint64(i), Fitness: make([]int64, 4), Steps: steps[i]}))
		for _, n := range steps[i] {
			all += n
		}
	}
	rng := noise.NewStream(1, 2)
	const draws = 200_000
	times := make([][4]int, len(steps))
	total := 0
	for range draws / 1000 {
		for _, d := range drawResults(claims, 1000, func() uint64 { return rng.Uint64() % all }) {
			times[d.claim][d.result] += d.times
			total += d.times
		}
	}
	for i := range steps {
		for k, n := range steps[i] {
			want := float64(draws) * float64(n) / float64(all)
			if got := float64(times[i][k]); math.Abs(got-want) > 6*math.Sqrt(want)+1 {
				t.Errorf("result %d of claim %d was drawn %g times of %d, want about %g", k, i, got, total, want)
			}
		}
	}
	if total != draws {
		t.Errorf("%d drawn, want %d", total, draws)
	}
}

// TestFailedAuditsBeginAgain: next to own work few re-runs for audits are with the driver; those that fail there have
// their turn again, and keep no place meanwhile.
func TestFailedAuditsBeginAgain(t *testing.T) {
	f := newNextField(t, 4, 4, 0)
	f.pass(60)
	c := f.peers[1].coord
	head := c.chain.head
	c.ahead.on = head // it computes on the state of the swarm
	const audits = 400
	for range audits {
		c.issue(&job{kind: jobDecisive, parent: head, node: head, drawn: true}, false)
	}
	begin := func() []Work {
		c.out = Actions{}
		c.beginDrawn()
		return c.out.Work
	}
	first := begin()
	if len(first) == 0 || len(first) == audits {
		t.Fatalf("%d of %d were begun", len(first), audits)
	}
	for _, w := range first {
		c.evaluated(Evaluated{ID: w.ID, Failed: true})
	}
	if again := begin(); len(again) != len(first) {
		t.Errorf("%d begin after %d failed", len(again), len(first))
	}
	c.out = Actions{}
	c.holdDrawn()
	if len(c.out.Cancel) != len(first) || len(c.work.drawn) != audits {
		t.Errorf("%d of %d were taken back, %d wait", len(c.out.Cancel), len(first), len(c.work.drawn))
	}
}
