package coordinator

import (
	"slices"
	"testing"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// reruns counts what the peers of a field evaluate: own results, and those of others that they run again, by the kind
// of job.
type reruns struct {
	own, again int
	of         map[jobKind]int
}

// count has a field count from now on, and corrupt results as before.
func (f *field) count() *reruns {
	r, before := &reruns{of: make(map[jobKind]int)}, f.corrupt
	f.corrupt = func(m *member, j *job, results []int64) {
		if before != nil {
			before(m, j, results)
		}
		if j.kind == jobOwn {
			r.own += len(results)
			return
		}
		r.again += len(results)
		r.of[j.kind] += len(results)
	}
	return r
}

// TestChecksCostATwentieth: once all have a record, an honest swarm runs one of twenty results again at most, however
// few results an entry has.
func TestChecksCostATwentieth(t *testing.T) {
	for _, size := range [][2]int{{2, 1}, {6, 2}} { // natives, and what each does in a tick
		natives := size[0]
		f := newNextField(t, 4, natives, 0)
		f.capacity = size[1]
		f.pass(400)
		r, from := f.count(), f.peers[0].coord.chain.head
		f.pass(400)
		to := f.peers[0].coord.chain.head
		results := float64(to.evaluations-from.evaluations) / float64(to.height-from.height)
		t.Logf("%d natives, %.0f results in an entry: %d own, %d run again: %v", natives, results, r.own, r.again, r.of)
		if r.again*20 > r.own || r.again*60 < r.own {
			t.Errorf("%d natives run %d results again for %d of their own, want one of 20 to 60", natives, r.again, r.own)
		}
	}
}

// TestWhatMovesTheModelIsRerun: natives re-run by how much results move the model. The best tenth of an entry, which
// has a third of all weight, gets more than twice its share.
func TestWhatMovesTheModelIsRerun(t *testing.T) {
	f := newNextField(t, 4, 6, 0)
	f.pass(200)
	drawn := make(map[seedlog.Link][]uint64) // counters, by claim
	f.corrupt = func(m *member, j *job, _ []int64) {
		if j.kind == jobSpot && j.pooled == nil {
			drawn[j.claim.Link()] = append(drawn[j.claim.Link()], j.counter)
		}
	}
	from := f.low()
	f.pass(400)
	m := f.peers[0]
	var high, all, best, results int
	for _, n := range m.coord.chain.canon {
		if n.height <= from {
			continue
		}
		var claims []*seedlog.Claim
		for _, link := range n.claims {
			claim, err := seedlog.DecodeClaim(m.disk.blocks[link])
			if err != nil {
				t.Fatal(err)
			}
			claims = append(claims, claim)
		}
		weights := f.rules.Influence(n.parent.link, claims)
		sorted := slices.Sorted(slices.Values(weights))
		least, i := sorted[len(sorted)*9/10], 0
		for k, claim := range claims {
			for at := range claim.Steps {
				heavy := weights[i] >= least
				if i, results = i+1, results+1; heavy {
					best++
				}
				for _, counter := range drawn[n.claims[k]] {
					if counter == f.rules.First(claim)+uint64(at) {
						if all++; heavy {
							high++
						}
					}
				}
			}
		}
	}
	share, fair := float64(high)/float64(all), float64(best)/float64(results)
	t.Logf("of %d re-runs %d are of the heaviest results: %.2f, which are %.2f of all", all, high, share, fair)
	if all < 100 || share < 2*fair {
		t.Errorf("of %d re-runs %.2f are of the heaviest results, which are %.2f of all", all, share, fair)
	}
}

// TestChecksRiseWhileLiesAreFound: when a peer with a record is found to lie, the others run more again for a while,
// all together as much as the log has of it, and then as little as before. Proofs of its other claims are not run
// again.
func TestChecksRiseWhileLiesAreFound(t *testing.T) {
	f := newNextField(t, 4, 6, 0)
	f.pass(400)
	faulty := f.peers[5]
	proofs := 0
	f.corrupt = func(m *member, j *job, results []int64) {
		if m == faulty && j.kind == jobOwn {
			for i := range results {
				results[i] += 1 << 40
			}
		}
		if j.kind == jobProof {
			proofs++
		}
	}
	for range 200 {
		if f.pass(1); f.peers[0].coord.faults.peers[faulty.peer] {
			break
		}
	}
	c := f.peers[0].coord
	if !c.faults.peers[faulty.peer] {
		t.Fatal("nobody has found the faulty peer")
	}
	logged := uint64(0)
	for n := c.chain.head; n.parent != nil && c.chain.head.height-n.height < proofDepth; n = n.parent {
		if credit := n.creditOf(faulty.peer); credit != nil {
			logged += credit.Evaluations
		}
	}
	r := f.count()
	f.pass(200)
	risen, spots := *r, r.of[jobSpot]
	f.pass(200) // until all is paid
	later := f.count()
	f.pass(300)
	t.Logf("the log has %d of it in 50 entries; then %d run again for %d own; later %d for %d; %d re-runs of proofs", logged, risen.again, risen.own, later.again, later.own, proofs)
	if extra := float64(risen.again) - float64(risen.own)/25; extra < float64(logged)/3 || extra > 2.5*float64(logged) {
		t.Errorf("%.0f more results than usual are run again, the log had %d of the faulty peer", extra, logged)
	}
	if spots*20 < risen.own {
		t.Errorf("%d results of entries are drawn for %d own, want more than usual", spots, risen.own)
	}
	if later.again*20 > later.own {
		t.Errorf("later %d results are run again for %d own", later.again, later.own)
	}
	if most := 2 * len(f.peers); proofs > most {
		t.Errorf("%d re-runs of proofs against one faulty peer, want %d at most", proofs, most)
	}
}

// TestNewcomersLiesAreNotPublished: keys are free, and a claim of one without a record that a leader finds false costs
// the leader that re-run alone: the others hear nothing of it.
func TestNewcomersLiesAreNotPublished(t *testing.T) {
	f := newNextField(t, 4, 4, 60)
	f.pass(300)
	r, published, given := f.count(), 0, 0
	f.spy = func(_ *member, e Envelope) {
		if _, ok := e.Message.(*FraudProof); ok {
			published++
		}
	}
	for tick := range 60 {
		if leader := f.leader(); leader != nil {
			f.give(f.strangers[tick], leader, f.junkClaim(f.strangers[tick], leader.coord.chain.head.link, 0))
			given++
		}
		f.pass(5)
	}
	if given < 30 || published > 0 || r.of[jobProof] > 0 {
		t.Errorf("%d proofs are published, and %d re-run, of %d claims that nobody logged", published, r.of[jobProof], given)
	}
}

// TestCoverCostsTheKey: a leader logs a newcomer's lie that nobody re-ran. Found while the entry is fresh, that undoes
// the entry; found later, it undoes nothing. It costs the leader its key in either case.
func TestCoverCostsTheKey(t *testing.T) {
	for _, deep := range []bool{false, true} {
		f := newNextField(t, 4, 4, 1)
		f.setAll(func(c *Config) { c.Audit = 0 })                         // no lot falls on it
		f.pass(320)                                                       // no leader hands over now
		leader, claim := f.offerLie(0, func(p *pooled) { p.good = true }) // it does not check
		on, author := leader.coord.chain.head, claim.Value().Peer
		for range 40 {
			if f.pass(1); f.onChain(leader, claim.Link()) != nil {
				break
			}
		}
		n := f.onChain(leader, claim.Link())
		if n == nil {
			t.Fatal("the lie was not logged")
		}
		for f.pass(3); deep && leader.coord.chain.head.height < n.height+freshDepth+2; {
			f.pass(1)
		}
		others := slices.DeleteFunc(slices.Clone(f.peers), func(m *member) bool { return m == leader })
		honest := f.evaluate(f.rules.Range(on.state, on.link, author, 0, 1), false)[0]
		others[0].coord.exposeCounter(claim, 0, honest.Fitness[:1], honest.Steps, 0)
		f.pass(30)
		for _, m := range others {
			if stays := f.onChain(m, claim.Link()) != nil; stays != deep {
				t.Errorf("found late %t: the lie is on the chain of %s: %t", deep, m.name, stays)
			}
			if !m.coord.faults.peers[n.leader] || !m.coord.faults.peers[author] || len(m.coord.faults.peers) > 2 {
				t.Errorf("found late %t: for %s the leader is faulty: %t, and the author: %t; %d are", deep, m.name, m.coord.faults.peers[n.leader], m.coord.faults.peers[author], len(m.coord.faults.peers))
			}
		}
	}
}

// TestOutstandingResultsOfNewKeysAreRerun: a key that has little in the log claims more than the newest entry has. No
// lot falls on that, and it is re-run before it is logged all the same; of a key with a long record it is not.
func TestOutstandingResultsOfNewKeysAreRerun(t *testing.T) {
	for _, young := range []bool{false, true} {
		f := newNextField(t, 4, 4, 0)
		f.setAll(func(c *Config) { c.Audit = 0 }) // nobody draws what entries hold
		f.pass(320)
		leader, claim := f.offerLie(1<<50, func(p *pooled) { p.drawn = true })
		c, author := leader.coord, claim.Value().Peer
		if young {
			c.chain.credits[author] = Credit{Evaluations: 4}
		}
		f.pass(20)
		if found := c.faults.peers[author] && f.onChain(leader, claim.Link()) == nil; found != young {
			t.Errorf("short record %t: found before it was logged: %t", young, found)
		}
	}
}
