package sim

import (
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// lieBook knows which results of a run that learns are lies, and follows what becomes of them.
type lieBook struct {
	author map[uint64]coordinator.Peer        // by seed: whose candidate it is
	lies   map[uint64]rollout.CandidateResult // by seed: what was claimed in place of the truth
	seen   []rollout.CandidateResult          // all true results
	keys   map[coordinator.Peer]*lyingKey     // of faulty peers
	chain  []seedlog.Link                     // of the honest native whose chain is longest, without the genesis
	logged []*falseClaim                      // false claims that were ever in chain

	computed uint64 // evaluations of faulty peers that were not found yet
	again    uint64 // re-runs by honest peers of what faulty peers claimed
}

// lyingKey is what became of a key that a faulty peer has or had.
type lyingKey struct {
	results int          // that it evaluated of its own
	banned  map[int]bool // honest natives that have found it
	found   moment       // when more than half of them had; zero: they have not
}

// moment is a time, and how long the chain was.
type moment struct {
	tick   coordinator.Tick
	height uint64
}

// falseClaim is a claim with lies that came into the log.
type falseClaim struct {
	author coordinator.Peer
	entry  seedlog.Link
	lies   int
	since  moment
	gone   moment // when another entry replaced that; zero: it is there
}

func newLieBook() *lieBook {
	return &lieBook{author: make(map[uint64]coordinator.Peer), lies: make(map[uint64]rollout.CandidateResult), keys: make(map[coordinator.Peer]*lyingKey)}
}

// found reports whether more than half of the honest natives have found a faulty peer's key.
func (b *lieBook) found(p coordinator.Peer) bool {
	return b.keys[p] != nil && b.keys[p].found != (moment{})
}

// claims is how many results a key has evaluated of its own.
func (b *lieBook) claims(p coordinator.Peer) int { return b.keys[p].results }

// key has a faulty peer begin with a key.
func (b *lieBook) key(p coordinator.Peer) {
	b.keys[p] = &lyingKey{banned: make(map[int]bool)}
}

// evaluates notes who evaluates what. The first to evaluate a candidate is its author.
func (b *lieBook) evaluates(n *node, t rollout.Task, results []rollout.CandidateResult) {
	for i, seed := range t.Seeds {
		author, again := b.author[seed]
		if !again {
			b.author[seed], author = n.peer, n.peer
			b.seen = append(b.seen, results[i])
		}
		k := b.keys[author]
		switch {
		case k == nil:
		case author == n.peer:
			if k.results++; k.found == (moment{}) {
				b.computed++
			}
		case n.honest():
			b.again++
		}
	}
}

// ban notes that an honest native has found somebody.
func (s *Swarm) noteFound(by *node, p coordinator.Peer) {
	if s.lies == nil || s.lies.keys[p] == nil || !by.honest() {
		return
	}
	k := s.lies.keys[p]
	k.banned[by.index] = true
	if k.found == (moment{}) && 2*len(k.banned) > len(s.honest()) {
		k.found = moment{s.now, uint64(len(s.lies.chain))}
		s.trace("%s is found to lie", s.name(p))
	}
}

// followLies looks for false claims in what came to the longest chain, and for entries of it that others replaced.
func (s *Swarm) followLies(best coordinator.Snapshot) {
	b := s.lies
	if uint64(len(b.chain)) == best.Height && (best.Height == 0 || b.chain[best.Height-1] == best.Head) {
		return
	}
	var come []seedlog.Link
	link, height := best.Head, best.Height
	for ; height > 0 && (height > uint64(len(b.chain)) || b.chain[height-1] != link); height-- {
		come = append(come, link)
		e, err := seedlog.DecodeEntry(s.library.blocks[link])
		if err != nil {
			s.fail("an entry of the longest chain: %w", err)
			return
		}
		link = e.Parent
	}
	for _, lost := range b.chain[height:] {
		for _, f := range b.logged {
			if f.entry == lost && f.gone == (moment{}) {
				f.gone = moment{s.now, uint64(len(b.chain))}
			}
		}
	}
	b.chain = b.chain[:height]
	for _, link := range slices.Backward(come) {
		b.chain = append(b.chain, link)
		s.findLies(link)
	}
}

// findLies lists the false claims of an entry.
func (s *Swarm) findLies(link seedlog.Link) {
	b := s.lies
	e, err := seedlog.ReadEntry(s.library.blocks[link], s.library.block)
	for i := 0; err == nil && i < len(e.Claims); i++ {
		var c *seedlog.Claim
		if c, err = seedlog.DecodeClaim(s.library.blocks[e.Claims[i]]); err != nil {
			break
		}
		lies := 0
		for k := range c.Steps {
			if _, ok := b.lies[s.rules.Seed(c.Parent, c.Peer, s.rules.First(c)+uint64(k))]; ok {
				lies++
			}
		}
		if lies > 0 {
			b.logged = append(b.logged, &falseClaim{author: c.Peer, entry: link, lies: lies, since: moment{s.now, uint64(len(b.chain))}})
		}
	}
	if err != nil {
		s.fail("an entry of the longest chain: %w", err)
	}
}

// Lied says what lies did to a run. A false claim lives until more than half of the honest natives have found its
// author, or until another entry replaced the one that holds it.
type Lied struct {
	Lies     int        // results that faulty peers claimed falsely
	Logged   int        // of those that are in the log
	Share    float64    // part of the logged results
	Keys     int        // that faulty peers had
	Found    int        // of those
	Claims   int        // false ones that came into the log
	Alive    int        // of those when the run was over
	Within   float64    // part of those that had a mandate's time which lived no longer
	Entries  [3]float64 // that false claims lived, those that still do included: 0.5, 0.99 and 0.999 of them no longer
	Seconds  [3]float64
	Computed uint64  // evaluations of faulty peers until they were found
	Again    uint64  // re-runs by honest peers of what faulty peers claimed
	Replaced uint64  // evaluations of honest peers that were logged, and then replaced
	Cost     float64 // Again and Replaced, for each of Computed
}

// mandate is how many entries one leader makes.
const mandate = 20

// lied sums up.
func (s *Swarm) lied() Lied {
	b := s.lies
	l := Lied{Lies: len(b.lies), Keys: len(b.keys), Claims: len(b.logged), Computed: b.computed, Again: b.again}
	for _, k := range b.keys { //lint:sorted only counted
		if k.found != (moment{}) {
			l.Found++
		}
	}
	var entries, seconds []float64
	old, short := 0, 0
	now := moment{s.now, uint64(len(b.chain))}
	for _, f := range b.logged {
		until, dead := now, false
		for _, end := range []moment{f.gone, b.keys[f.author].found} {
			if end != (moment{}) && end.tick <= until.tick {
				until, dead = end, true
			}
		}
		if f.gone == (moment{}) {
			l.Logged += f.lies
		}
		if !dead {
			l.Alive++
		}
		lived := max(until.height, f.since.height) - f.since.height
		entries = append(entries, float64(lived))
		seconds = append(seconds, float64(max(until.tick, f.since.tick)-f.since.tick)*tickNS/1e9)
		if now.height-f.since.height >= mandate || dead {
			if old++; dead && lived <= mandate {
				short++
			}
		}
	}
	if l.Within = 1; old > 0 {
		l.Within = float64(short) / float64(old)
	}
	for i, q := range []float64{0.5, 0.99, 0.999} {
		l.Entries[i], l.Seconds[i] = quantile(entries, q), quantile(seconds, q)
	}
	for _, n := range s.honest() {
		if n.coord != nil {
			l.Replaced += n.coord.Snapshot().Own.Replaced
		}
	}
	l.Share = float64(l.Logged) / float64(max(s.highest().Evaluations, 1))
	l.Cost = float64(l.Again+l.Replaced) / float64(max(l.Computed, 1))
	return l
}

// quantile is the least of the values that a share of them is not above.
func quantile(values []float64, share float64) float64 {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return values[min(int(float64(len(values))*share), len(values)-1)]
}

// rename has a node begin again with a new key, and with the chain that it has.
func (s *Swarm) rename(n *node) {
	s.powerDown(n)
	seed := sha256.Sum256(fmt.Appendf(nil, "evoswarm/sim/renamed %d %d %d", s.opts.Seed, n.index, n.lives))
	n.key = ed25519.NewKeyFromSeed(seed[:])
	n.peer = seedlog.PeerOf(n.key)
	s.byPeer[n.peer] = n
	if s.lies != nil {
		s.lies.key(n.peer)
	}
	n.disk.state = nil
	if err := s.powerUp(n); err != nil {
		s.fail("node %d with a new key: %w", n.index, err)
	}
}
