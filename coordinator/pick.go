package coordinator

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"slices"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// inEntryOrder is the order of claims in an entry: by peer, then by the height of their parent, then by chunk.
func inEntryOrder(a, b *pooled) int {
	x, y := a.claim.Value(), b.claim.Value()
	return cmp.Or(x.Peer.Compare(y.Peer), cmp.Compare(a.on.height, b.on.height), cmp.Compare(x.Chunk, y.Chunk))
}

// claimRank orders peers where not all claims find room in an entry: a lottery for each parent, so that no key is
// ahead for long.
func claimRank(parent seedlog.Link, p Peer) [sha256.Size]byte {
	return sha256.Sum256(append(append([]byte("evoswarm/claims/1\x00"), parent.Bytes()...), p[:]...))
}

// closable picks the claims of the next entry on head, in its order, or nil if the generation is not full.
// Only good claims count, and only with all lower chunks of their peer and parent.
func (p *pool) closable(rules *seedlog.Rules, head *node) []*pooled {
	var good []*pooled
	var evaluations, steps uint64
	for q := range p.all {
		if q.ready() {
			good = append(good, q)
			evaluations += q.claim.Value().Evaluations()
			steps += q.claim.Value().TotalSteps()
		}
	}
	g := rules.Spec.Generation
	if evaluations < g.Evaluations || g.Open && !rules.Full(evaluations, steps) {
		return nil // not worth sorting
	}
	most := uint64(seedlog.MaxEvaluations)
	if !g.Open {
		most = g.Evaluations
	}
	picked := upTo(most, pickFair(inTurns(rules, good, head), seedlog.MaxClaims))
	slices.SortFunc(picked, inEntryOrder)
	picked = openedWhole(picked, head)
	evaluations, steps = 0, 0
	for _, q := range picked {
		evaluations += q.claim.Value().Evaluations()
		steps += q.claim.Value().TotalSteps()
	}
	if !rules.Full(evaluations, steps) {
		return nil
	}
	return picked
}

// upTo takes the first claims with so many evaluations at most. The others have a place in one of the next entries.
func upTo(most uint64, claims []*pooled) []*pooled {
	var evaluations uint64
	for i, q := range claims {
		if evaluations += q.claim.Value().Evaluations(); evaluations > most {
			return claims[:i]
		}
	}
	return claims
}

// openedWhole leaves out of claims in an entry's order what a newcomer's would begin with although not all of that
// claim was re-run, with its claims on the same parent: the leader answers for the first one.
func openedWhole(picked []*pooled, head *node) []*pooled {
	var opened Peer
	var left poolKey
	return slices.DeleteFunc(picked, func(q *pooled) bool {
		key := q.key()
		key.chunk = 0
		if key.peer != opened && q.newcomers(head) && (key == left || !q.whole()) {
			left = key
			return true
		}
		opened = key.peer
		return false
	})
}

// inTurns orders claims so that every peer gets its share of what they are taken for: lower chunks first, of one chunk
// those on older parents, and of those by lot. It leaves out those without all lower chunks of their peer and parent,
// here or in the log.
func inTurns(rules *seedlog.Rules, claims []*pooled, head *node) []*pooled {
	slices.SortFunc(claims, func(a, b *pooled) int {
		return cmp.Or(cmp.Compare(a.claim.Value().Chunk, b.claim.Value().Chunk), cmp.Compare(a.on.height, b.on.height), bytes.Compare(a.rank[:], b.rank[:]))
	})
	next := make(map[poolKey]uint64)
	return slices.DeleteFunc(claims, func(q *pooled) bool {
		claim := q.claim.Value()
		key := poolKey{claim.Peer, claim.Parent, 0}
		if _, begun := next[key]; !begun && q.on != head {
			_, next[key], _ = below{head}.Logged(claim.Parent, claim.Peer)
		}
		if next[key] != claim.Chunk {
			return true
		}
		next[key] += rules.Chunks(claim)
		return false
	})
}

// pickFair takes the first claims up to a limit, of newcomers at most their share while those of others wait.
func pickFair(claims []*pooled, limit int) []*pooled {
	if len(claims) <= limit {
		return claims
	}
	others := 0
	for _, q := range claims {
		if !q.fresh {
			others++
		}
	}
	forNewcomers := max(limit/newcomersShare, limit-others)
	forOthers := limit - min(forNewcomers, len(claims)-others)
	return slices.DeleteFunc(claims, func(q *pooled) bool {
		room := &forOthers
		if q.fresh {
			room = &forNewcomers
		}
		*room--
		return *room < 0
	})
}
