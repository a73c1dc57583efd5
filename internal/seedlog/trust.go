package seedlog

import (
	"errors"
	"fmt"
	"slices"
)

// ErrUntrusted is returned for a claim or an entry of a key that its run does not trust.
var ErrUntrusted = errors.New("seedlog: key is not trusted by the run")

// MaxTrusted bounds the trusted keys of a run.
const MaxTrusted = 1024

// maxTrustingBytes bounds the block of a spec with trusted keys, each of which takes 34 bytes.
const maxTrustingBytes = MaxSpecBytes + 34*MaxTrusted + 16

// Trusting reports whether the run has a list of trusted keys: it belongs to their owner, nobody votes, and nobody
// re-runs what they claim before it counts.
func (r *Rules) Trusting() bool { return len(r.Spec.Trust) > 0 }

// Trusts reports whether claims and entries of a key are valid: in a run without a list those of all keys are.
func (r *Rules) Trusts(p Peer) bool {
	if !r.Trusting() {
		return true
	}
	_, found := slices.BinarySearchFunc(r.Spec.Trust, p, Peer.Compare)
	return found
}

// checkTrust checks a spec's trusted keys.
func (s *Spec) checkTrust() error {
	switch n := len(s.Trust); {
	case n == 0:
		return nil
	case s.Format == Format1:
		return fmt.Errorf("%w: trust is a field of format %d", ErrSpec, Format2)
	case s.Solo():
		return fmt.Errorf("%w: trust is for swarms; a run on one machine has one key", ErrSpec)
	case s.SpotChecks != nil:
		return fmt.Errorf("%w: spot_checks together with trust; of trusted keys nothing is re-run", ErrSpec)
	case n > MaxTrusted:
		return fmt.Errorf("%w: trust has %d keys, allowed 1 to %d", ErrSpec, n, MaxTrusted)
	}
	for i := 1; i < len(s.Trust); i++ {
		if s.Trust[i-1].Compare(s.Trust[i]) >= 0 {
			return fmt.Errorf("%w: trust is out of order, or has %s twice", ErrSpec, s.Trust[i].Short())
		}
	}
	if _, found := slices.BinarySearchFunc(s.Trust, Peer(s.Origin), Peer.Compare); !found {
		return fmt.Errorf("%w: trust lacks the origin %s, which leads first", ErrSpec, Peer(s.Origin).Short())
	}
	return nil
}

// checkTrusted verifies that the leader of an entry is trusted and needed no votes, where the run has a list.
func (r *Rules) checkTrusted(e *Entry, seal *Seal) error {
	switch {
	case !r.Trusting():
		return nil
	case !r.Trusts(e.Leader):
		return fmt.Errorf("%w: entry of %s", ErrUntrusted, e.Leader.Short())
	case len(seal.Votes) > 0:
		return fmt.Errorf("%w: %d votes in a seal, in a run of trusted keys", ErrMalformed, len(seal.Votes))
	}
	return nil
}
