package coordinator

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// Checked is a message whose blocks were read and checked: form, links and signatures. Only [Check] makes one.
type Checked struct {
	message     Message
	claims      []seedlog.CheckedClaim // of Claims, Push
	generations []generation           // of Segment, the first Push; of Announce, Base and the first Part of a state, one without claims
	evidence    []evidence             // of Segment and FraudProof
	double      *double                // of Equivocation and DoubleVote
	carried     *carried               // of Advance
	sum         [sha256.Size]byte      // of the bytes in a Part
}

// generation is an entry with its seal, and the claims that it names.
type generation struct {
	entry  seedlog.CheckedEntry
	claims []seedlog.CheckedClaim
}

// evidence is a claim and a proof that it is false.
type evidence struct {
	claim seedlog.CheckedClaim
	proof seedlog.CheckedProof
}

func (e *evidence) message() *FraudProof {
	return &FraudProof{Claim: e.claim.Bytes(), Proof: e.proof.Bytes()}
}

// Slow reports whether checking m takes long: a signature for each of up to thousands of claims. Such messages are
// checked outside the loop that calls Step.
func Slow(m Message) bool {
	switch m.(type) {
	case *Claims, *Announce, *Segment, *FraudProof, *Vouch, *Mandate, *Equivocation, *DoubleVote, *Recheck, *Rechecked, *Part, *Advance, *Base, *Push:
		return true
	}
	return false
}

// Check reads and checks the blocks in m. What it refuses its sender is banned for: see [Invalid]. It calls
// pause, which may be nil, after each signature of a claim, so that where there is one thread others get
// their turn.
func Check(checker *seedlog.Checker, m Message, pause func()) (Checked, error) {
	c := Checked{message: m}
	var err error
	switch m := m.(type) {
	case *Claims:
		c.claims, err = checkClaims(checker, m.Blocks, pause)
	case *Announce:
		c.generations, err = checkSealed(checker, m.Entry, m.Seal)
	case *Part:
		c.sum = sha256.Sum256(m.Data)
		if m.Offset == 0 {
			c.generations, err = checkSealed(checker, m.Entry, m.Seal)
		}
	case *Base:
		c.generations, err = checkSealed(checker, m.Entry, m.Seal)
	case *Advance:
		c.carried, err = m.read()
	case *Push:
		if m.First > 0 {
			c.claims, err = checkClaims(checker, m.Claims, pause)
			break
		}
		c.generations = make([]generation, 1)
		c.generations[0], err = checkGeneration(checker, &Generation{Entry: m.Entry, Seal: m.Seal, Claims: slices.Concat(m.Batches, m.Claims)}, pause)
		if err == nil && c.generations[0].entry.Link() != m.Link {
			err = fmt.Errorf("%w: the first part of an entry is that of another", ErrMessage)
		}
	case *Segment:
		c.generations = make([]generation, len(m.Generations))
		for i := range m.Generations {
			if c.generations[i], err = checkGeneration(checker, &m.Generations[i], pause); err != nil {
				return Checked{}, err
			}
		}
		c.evidence = make([]evidence, len(m.Proofs))
		for i := range m.Proofs {
			if c.evidence[i], err = checkEvidence(checker, &m.Proofs[i]); err != nil {
				return Checked{}, err
			}
		}
	case *Vouch:
		err = checker.Vouch(m.Height, m.Entry, m.Peer, m.Signature)
	case *Mandate:
		err = checkMandate(checker, m, pause)
	case *Equivocation:
		c.double, err = checkEquivocation(checker, m)
	case *DoubleVote:
		c.double, err = checkDoubleVote(checker, m)
	case *Recheck:
		c.claims, err = checkClaims(checker, [][]byte{m.Claim}, pause)
	case *Rechecked:
		if len(m.Signature) > 0 {
			err = seedlog.CheckAttest(checker.Run(), m.Claim, m.Peer, m.Signature)
		}
	case *FraudProof:
		c.evidence = make([]evidence, 1)
		c.evidence[0], err = checkEvidence(checker, m)
	}
	if err != nil {
		return Checked{}, err
	}
	return c, nil
}

// checkSealed checks an entry that comes without its claims.
func checkSealed(checker *seedlog.Checker, entry, seal []byte) ([]generation, error) {
	checked, err := checker.Entry(entry, seal)
	if err != nil {
		return nil, fmt.Errorf("invalid entry: %w", err)
	}
	return []generation{{entry: checked}}, nil
}

func checkClaims(checker *seedlog.Checker, blocks [][]byte, pause func()) ([]seedlog.CheckedClaim, error) {
	claims := make([]seedlog.CheckedClaim, len(blocks))
	for i, data := range blocks {
		var err error
		if claims[i], err = checker.Claim(data); err != nil {
			return nil, fmt.Errorf("invalid claim: %w", err)
		}
		if pause != nil {
			pause()
		}
	}
	return claims, nil
}

func checkMandate(checker *seedlog.Checker, m *Mandate, pause func()) error {
	for i := range m.Votes {
		if err := m.Votes[i].Check(checker.Run(), m.Term, m.Leader); err != nil {
			return fmt.Errorf("invalid mandate: %w", err)
		}
		if pause != nil {
			pause()
		}
	}
	return nil
}

func checkGeneration(checker *seedlog.Checker, g *Generation, pause func()) (generation, error) {
	entry, err := checker.Entry(g.Entry, g.Seal)
	if err != nil {
		return generation{}, fmt.Errorf("invalid entry: %w", err)
	}
	batches := min(len(entry.Value().Batches), len(g.Claims))
	if entry, err = checker.Join(entry, g.Claims[:batches]); err != nil {
		return generation{}, fmt.Errorf("invalid entry: %w", err)
	}
	claims, err := checkClaims(checker, g.Claims[batches:], pause)
	if err != nil {
		return generation{}, err
	}
	return generation{entry, claims}, nil
}

func checkEvidence(checker *seedlog.Checker, a *FraudProof) (evidence, error) {
	claim, err := checker.Claim(a.Claim)
	if err != nil {
		return evidence{}, fmt.Errorf("invalid claim: %w", err)
	}
	proof, err := checker.Proof(a.Proof, claim)
	if err != nil {
		return evidence{}, fmt.Errorf("invalid proof: %w", err)
	}
	return evidence{claim, proof}, nil
}

// Answers is how many segments of a peer are worth checking at a time: one for each question that it was asked. Who
// began at a base asks the same peer for what lies above it and for the past.
func (c *Coordinator) Answers(from Peer) (n int) {
	q := c.members.pulls[from]
	for _, asked := range []bool{
		c.awaitsCheck(from) || c.trusting() && c.trusts(from) || q != nil && (q.asked || q.late),
		c.ahead.checks.asked && c.ahead.checks.of == from,
		c.based.expects(from),
	} {
		if asked {
			n++
		}
	}
	return n
}

// Expects reports whether a message is worth checking: nobody reads a segment that was not asked for, votes that are no
// majority, nor evidence that changes nothing.
func (c *Coordinator) Expects(from Peer, m Message) bool {
	if from == c.self || c.faults.peers[from] || c.trusting() && !c.hears(from, m) {
		return false
	}
	switch m := m.(type) {
	case *Segment:
		return c.Answers(from) > 0
	case *Part:
		return c.ahead.load != nil && c.ahead.load.from == from || c.seeking.asked(from)
	case *Base:
		return c.seeking.offerOf(from) != nil
	case *Advance:
		return from == c.election.leader && c.chain.maxStale > 0 && !c.light.on
	case *Push:
		return c.pushes(from, m)
	case *Vouch:
		return c.weighsIn(m.Peer)
	case *Mandate:
		return c.expectsMandate(from, m)
	case *DoubleVote:
		return c.expectsDouble(doubleVote(m))
	case *Recheck:
		return from == c.election.leader
	case *Rechecked:
		p := c.work.pool.links[m.Claim]
		return p != nil && p.asked.peer == from && m.Peer == from
	}
	return true
}
