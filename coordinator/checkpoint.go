package coordinator

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// Checkpoints. Peers with voting weight sign entries far enough below their heads. An entry that enough of them signed
// is final: no branch that leaves the chain below it, after finality began, is followed any more, however much it
// weighs. docs/spec/protocol.md, section 6, says what that promises.

const (
	// vouchEvery is the distance of the entries that are signed.
	vouchEvery = 32
	// vouchDepth is how far below the head they lie at least: deeper than a proof voids entries.
	vouchDepth = 64
	// vouchAgain is after how many heartbeats a signature that made nothing final yet is sent again.
	vouchAgain = 10
	// maxVouchers bounds the peers that are asked: those with most voting weight.
	maxVouchers = 64
	// leastVouchers is how many have to sign, whatever they weigh: one alone makes nothing final.
	leastVouchers = 2
	// staleFinal is after how many entries without a final one it is begun again, by those who work now.
	staleFinal = 4096
)

// Vouch is a peer's signature for an entry of its chain.
type Vouch struct {
	_         struct{} `cbor:",toarray"`
	Peer      Peer
	Height    uint64
	Entry     seedlog.Link
	Signature []byte
}

// finality is what this peer knows to be final.
type finality struct {
	_     struct{} `cbor:",toarray"`
	First uint64   // height of the head when it began
	// Height and Entry are those of the newest final entry; Vouchers weigh there, and Vouches made it final.
	Height   uint64
	Entry    seedlog.Link
	Vouchers []voucher
	Vouches  []Vouch
}

type voucher struct {
	_      struct{} `cbor:",toarray"`
	Peer   Peer
	Weight uint64
}

// checkpoints are the signatures that this peer heard.
type checkpoints struct {
	final   *finality // nil: nothing is
	vouches map[Peer]Vouch
	news    bool   // whether something came since they were counted
	at      uint64 // height of the head then, in steps of vouchEvery
	again   Tick   // when the own one is sent next
	alone   Tick   // 1 + the last tick in which this peer heard too few to sign; 0: none

	fork        *node // where a branch left the chain last, and the voting weights there
	forkWeights map[Peer]uint64
}

// vouchersAt lists the peers with most voting weight on the chain up to n, in the order of their keys.
func vouchersAt(n *node) []voucher {
	var list []voucher
	weights := recentWeights(n)
	for _, p := range slices.SortedFunc(maps.Keys(weights), Peer.Compare) {
		list = append(list, voucher{Peer: p, Weight: weights[p]})
	}
	slices.SortStableFunc(list, func(a, b voucher) int { return cmp.Compare(b.Weight, a.Weight) })
	list = list[:min(len(list), maxVouchers)]
	slices.SortFunc(list, func(a, b voucher) int { return a.Peer.Compare(b.Peer) })
	return list
}

// isFinal reports whether a branch from fork would undo a final entry. One that left the chain before anything was
// final here competes by its work: it may be that of others who took no part in the beginning.
func (c *Coordinator) isFinal(fork *node) bool {
	f := c.checkpoints.final
	return f != nil && fork.height >= f.First && fork.height < f.Height
}

const (
	// partedShare is which part of the voting weight at a fork the authors of a branch must have had there, for it to
	// be that of a part of the swarm: one in so many.
	partedShare = 8
	// partedEntries is in how many entries above the fork they have to show themselves.
	partedEntries = votingEntries
)

// parted reports whether the branch up to n is that of peers who were cut off: keys with weight at the fork made claims
// for its first entries. Such a branch competes by its work even with what is final here, or the two parts would never
// meet; for one of new keys no work is enough. Claims on the fork itself were made before anybody parted, and votes
// name a term and a leader, but no branch.
func (c *Coordinator) parted(n, fork *node) bool {
	var path []*node
	for ; n.height > fork.height+1 && n.judged != fork; n = n.parent {
		path = append(path, n)
	}
	shown := n.judged == fork && n.parted
	for _, m := range slices.Backward(path) {
		shown = shown || m.height <= fork.height+partedEntries && c.showsPart(m, fork)
		m.judged, m.parted = fork, shown
	}
	return shown
}

// showsPart reports whether the authors of the entries from n down to the second one above the fork had enough weight
// there.
func (c *Coordinator) showsPart(n, fork *node) bool {
	p := &c.checkpoints
	if p.fork != fork {
		p.fork, p.forkWeights = fork, recentWeights(fork)
	}
	var worked, total uint64
	for _, w := range p.forkWeights { //lint:sorted a sum
		total += w
	}
	seen := make(map[Peer]bool)
	for ; n.height > fork.height+1; n = n.parent {
		for _, credit := range n.credits {
			if !seen[credit.peer] {
				seen[credit.peer] = true
				worked += p.forkWeights[credit.peer]
			}
		}
	}
	return worked > 0 && partedShare*worked >= total
}

// weighsIn reports whether a peer's signature can make something final.
func (c *Coordinator) weighsIn(p Peer) bool {
	f := c.checkpoints.final
	if f == nil || f.Height+staleFinal < c.chain.head.height {
		return c.chain.weights()[p] > 0
	}
	return slices.ContainsFunc(f.Vouchers, func(v voucher) bool { return v.Peer == p })
}

// inCompany reports whether this peer hears more than half of the voting weight on its chain. It walks all who have
// any, and it is asked at each message, so a no holds for the tick.
func (c *Coordinator) inCompany() bool {
	if c.checkpoints.alone == c.now+1 {
		return false
	}
	weights := c.chain.weights()
	var all uint64
	for _, w := range weights { //lint:sorted a sum
		all += w
	}
	heard := weights[c.self]
	for _, h := range c.members.heard {
		if c.lately(h) {
			heard += weights[h.peer]
		}
	}
	if 2*heard <= all {
		c.checkpoints.alone = c.now + 1
		return false
	}
	return true
}

// onVouch keeps the newest signature of a peer that weighs.
func (c *Coordinator) onVouch(m *Vouch) {
	k := &c.checkpoints
	if old, ok := k.vouches[m.Peer]; ok && old.Height >= m.Height || !c.weighsIn(m.Peer) {
		return
	}
	if len(k.vouches) >= 4*maxVouchers {
		for p := range k.vouches { //lint:sorted each on its own
			if !c.weighsIn(p) {
				delete(k.vouches, p)
			}
		}
		if len(k.vouches) >= 4*maxVouchers {
			return
		}
	}
	k.vouches[m.Peer], k.news = *m, true
}

// vouch signs the newest entry that is due, and says so again as long as it is not final. A peer signs ever higher
// entries only, of chains that it has checked, and while it hears most of those who work on them.
func (c *Coordinator) vouch() {
	k := &c.checkpoints
	head := c.chain.head.height
	if c.retired || c.trusting() || !c.based.vouches() || head < vouchDepth+vouchEvery || c.catchingUp() || c.folds.far != nil || !c.weighsIn(c.self) {
		return
	}
	n := c.chain.canonAt((head - vouchDepth) / vouchEvery * vouchEvery)
	if n == nil {
		return
	}
	switch own, ok := k.vouches[c.self]; {
	case n.height > c.hard.Vouched && c.inCompany():
		m := Vouch{Peer: c.self, Height: n.height, Entry: n.link, Signature: seedlog.NewVouch(c.rules.Run, n.height, n.link, c.cfg.Key)}
		c.hard.Vouched, c.hardChanged = n.height, true
		k.vouches[c.self], k.news = m, true
		c.sendVouch(m)
	case ok && c.now >= k.again && (k.final == nil || k.final.Height < own.Height):
		c.sendVouch(own)
	}
}

func (c *Coordinator) sendVouch(m Vouch) {
	c.checkpoints.again = c.now + vouchAgain*c.cfg.Timing.Heartbeat
	c.out.send(Gossip, Peer{}, &m)
}

// finalize counts signatures. One for an entry counts for all below it.
func (c *Coordinator) finalize() {
	if c.based != nil {
		return // what lies below its chain it has not checked yet
	}
	k := &c.checkpoints
	if f := k.final; f != nil {
		if n := c.chain.canonAt(f.Height); n != nil && n.link != f.Entry || c.chain.head.height < f.Height {
			k.final, c.hard.Final, c.hardChanged = nil, nil, true // the chain is another one from below the first
		}
	}
	if at := c.chain.head.height / vouchEvery; c.catchingUp() || !k.news && at == k.at {
		return
	} else {
		k.news, k.at = false, at
	}
	var signed []Vouch
	for _, p := range slices.SortedFunc(maps.Keys(k.vouches), Peer.Compare) {
		m := k.vouches[p]
		if n := c.chain.canonAt(m.Height); n != nil && n.link == m.Entry {
			signed = append(signed, m)
		}
	}
	slices.SortStableFunc(signed, func(a, b Vouch) int { return cmp.Compare(b.Height, a.Height) })
	for i, m := range signed {
		if i+1 < len(signed) && signed[i+1].Height == m.Height {
			continue
		}
		if k.final != nil && m.Height <= k.final.Height {
			return
		}
		if n := c.chain.canonAt(m.Height); c.enough(n, signed[:i+1]) {
			c.makeFinal(n, signed[:i+1])
			return
		}
	}
}

// enough reports whether those who signed weigh two thirds: at the last final entry, or at this one where finality
// begins.
func (c *Coordinator) enough(n *node, signed []Vouch) bool {
	vouchers := vouchersAt(n)
	if f := c.checkpoints.final; f != nil && f.Height+staleFinal >= n.height {
		vouchers = f.Vouchers
	}
	var all, sum uint64
	count := 0
	for _, v := range vouchers {
		all += v.Weight
		if slices.ContainsFunc(signed, func(m Vouch) bool { return m.Peer == v.Peer }) {
			sum += v.Weight
			count++
		}
	}
	return count >= leastVouchers && 3*sum >= 2*all
}

func (c *Coordinator) makeFinal(n *node, signed []Vouch) {
	k := &c.checkpoints
	f := &finality{First: c.chain.head.height, Height: n.height, Entry: n.link, Vouchers: vouchersAt(n), Vouches: slices.Clone(signed[:min(len(signed), maxVouchers)])}
	if k.final != nil && k.final.Height+staleFinal >= n.height {
		f.First = k.final.First
	}
	k.final, c.hard.Final, c.hardChanged = f, seedlog.Encode(f), true
}

// restoreFinal reads what was final from the hard state.
func (c *Coordinator) restoreFinal() error {
	if len(c.hard.Final) == 0 {
		return nil
	}
	f := new(finality)
	if err := messageMode.Unmarshal(c.hard.Final, f); err != nil {
		return fmt.Errorf("%w: hard state: %v", ErrRestore, err)
	}
	c.checkpoints.final = f
	return nil
}
