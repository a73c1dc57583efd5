package coordinator

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"slices"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

const (
	// mostClaimed is how many bytes of claims an entry holds that names them itself, if that is enough to close it: who
	// asks for it gets it as a whole, next to others.
	mostClaimed = 384 << 10
	// mostBatched is how many bytes an entry takes with its batches and claims: it fills a message.
	mostBatched = MaxDirectBytes - segmentRoom - 64<<10
	// linkBytes and attestationBytes are what a link and an attestation take in a batch.
	linkBytes, attestationBytes = 41, 105
	// maxAttested bounds the attestations that a leader has under way for an entry that names batches: each is a
	// signature that everybody verifies, and bytes as long as those of half a claim.
	maxAttested = 512
)

// mostAttested is how many attestations a leader puts into an entry.
func mostAttested(rules *seedlog.Rules) uint64 { return min(rules.MostAttestations(), maxAttested) }

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
			if !q.claim.Value().HeldOut() {
				evaluations += q.claim.Value().Evaluations()
				steps += q.claim.Value().TotalSteps()
			}
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
	picked := sendable(rules, upTo(most, pickFair(inTurns(rules, good, head), int(rules.MostClaims()))))
	slices.SortFunc(picked, inEntryOrder)
	picked = openedWhole(picked, head, mostAttested(rules))
	evaluations, steps = 0, 0
	for _, q := range picked {
		if !q.claim.Value().HeldOut() {
			evaluations += q.claim.Value().Evaluations()
			steps += q.claim.Value().TotalSteps()
		}
	}
	if !rules.Full(evaluations, steps) {
		return nil
	}
	return picked
}

// upTo takes the first claims with so many evaluations of candidates at most, and with held-out ones an entry of them.
// The others have a place in one of the next entries.
func upTo(most uint64, claims []*pooled) []*pooled {
	var evaluations, all uint64
	for i, q := range claims {
		n := q.claim.Value().Evaluations()
		if all += n; !q.claim.Value().HeldOut() {
			evaluations += n
		}
		if evaluations > most || all > seedlog.MaxEvaluations {
			return claims[:i]
		}
	}
	return claims
}

// sendable takes the first claims that go into one message with their entry, unless that needs more. The others have a
// place in one of the next entries.
func sendable(rules *seedlog.Rules, claims []*pooled) []*pooled {
	var evaluations, steps uint64
	bytes, most := 0, mostBytes(rules)
	for i, q := range claims {
		if rules.Spec.Generation.Batch > 0 && q.attested != nil {
			bytes += attestationBytes
		}
		if bytes += entryBytes(rules, q); bytes > most && rules.Full(evaluations, steps) {
			return claims[:i]
		}
		evaluations += q.claim.Value().Evaluations()
		steps += q.claim.Value().TotalSteps()
	}
	return claims
}

// mostBytes is how many bytes of claims an entry holds, if that is enough to close it.
func mostBytes(rules *seedlog.Rules) int {
	if rules.Spec.Generation.Batch > 0 {
		return mostBatched
	}
	return mostClaimed
}

// entryBytes is how many of them a claim takes, without an attestation.
func entryBytes(rules *seedlog.Rules, q *pooled) int {
	if rules.Spec.Generation.Batch > 0 {
		return len(q.claim.Bytes()) + linkBytes + blockHeader
	}
	return len(q.claim.Bytes())
}

// openedWhole leaves out of claims in an entry's order what a newcomer's would begin with although not all of that
// claim was re-run, with its claims on the same parent: the leader answers for the first one. It leaves out, too, what
// others attested beyond what an entry holds.
func openedWhole(picked []*pooled, head *node, most uint64) []*pooled {
	var opened Peer
	var left poolKey
	attested := uint64(0)
	return slices.DeleteFunc(picked, func(q *pooled) bool {
		key := q.key()
		key.chunk = 0
		named := q.newcomers(head) && q.attested != nil && !q.good
		if q.newcomers(head) && (key == left || key.peer != opened && !q.whole() || named && attested == most) {
			left = key
			return true
		}
		if named {
			attested++
		}
		opened = key.peer
		return false
	})
}

// inTurns orders claims so that every peer gets its share of what they are taken for: lower chunks first (held-out
// ones next to those of candidates), of one chunk those on older parents, and of those by lot. It leaves out those
// without all lower chunks of their kind, peer and parent, here or in the log.
func inTurns(rules *seedlog.Rules, claims []*pooled, head *node) []*pooled {
	slices.SortFunc(claims, func(a, b *pooled) int {
		return cmp.Or(cmp.Compare(a.claim.Value().Chunk%seedlog.FirstHeldOut, b.claim.Value().Chunk%seedlog.FirstHeldOut), cmp.Compare(a.on.height, b.on.height), bytes.Compare(a.rank[:], b.rank[:]))
	})
	next := make(map[poolKey]uint64)
	return slices.DeleteFunc(claims, func(q *pooled) bool {
		claim := q.claim.Value()
		key := poolKey{claim.Peer, claim.Parent, 0}
		switch _, begun := next[key.of(claim)]; {
		case begun:
		case claim.HeldOut():
			logged, _, _ := below{head}.HeldOut(claim.Parent, claim.Peer)
			next[key.of(claim)] = seedlog.FirstHeldOut + logged
		case q.on != head:
			_, next[key], _ = below{head}.Logged(claim.Parent, claim.Peer)
		}
		key = key.of(claim)
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
