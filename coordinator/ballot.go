package coordinator

import (
	"fmt"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// ballotKey names what a voter may give once.
type ballotKey struct {
	term  uint64
	voter Peer
}

// seenVote is the vote of a term that was seen first of a voter.
type seenVote struct {
	candidate Peer
	signature []byte
}

// noteVotes compares verified votes with those that this peer saw before: of mandates, of seals, and those given to
// itself. Votes of keys without weight count nowhere, and those of terms long past or far ahead bar nobody.
func (c *Coordinator) noteVotes(term uint64, candidate Peer, votes []seedlog.Vote) {
	if len(votes) == 0 || term > c.chain.head.term+doubleTerms || !c.inForce(&double{votes: true, place: term}) {
		return
	}
	weights := c.chain.weights()
	for _, v := range votes {
		if weights[v.Voter] == 0 || v.Voter == c.self {
			continue
		}
		key := ballotKey{term, v.Voter}
		seen, ok := c.faults.ballots.Get(key)
		switch {
		case !ok:
			c.faults.ballots.Put(key, v.Voter, 1, seenVote{candidate, v.Signature})
		case seen.candidate != candidate:
			c.found(doubleVote(newDoubleVote(key, seen, seenVote{candidate, v.Signature})))
		}
	}
}

// newDoubleVote is the evidence that two votes are.
func newDoubleVote(key ballotKey, a, b seenVote) *DoubleVote {
	if a.candidate.Compare(b.candidate) > 0 {
		a, b = b, a
	}
	return &DoubleVote{Term: key.term, Voter: key.voter, First: a.candidate, FirstSignature: a.signature, Second: b.candidate, SecondSignature: b.signature}
}

// doubleVote is what a message says.
func doubleVote(m *DoubleVote) *double {
	return &double{peer: m.Voter, votes: true, place: m.Term, message: m}
}

// checkDoubleVote verifies that the voter signed both votes. That they are for two candidates is part of the form.
func checkDoubleVote(checker *seedlog.Checker, m *DoubleVote) (*double, error) {
	for _, v := range [2]struct {
		candidate Peer
		signature []byte
	}{{m.First, m.FirstSignature}, {m.Second, m.SecondSignature}} {
		vote := seedlog.Vote{Voter: m.Voter, Signature: v.signature}
		if err := vote.Check(checker.Run(), m.Term, v.candidate); err != nil {
			return nil, fmt.Errorf("invalid evidence: %w", err)
		}
	}
	return doubleVote(m), nil
}
