package seedlog

import (
	"encoding/binary"
)

// Seed names the perturbation of one counter of peer on parent. No peer can choose it, and no two peers share one.
func (r *Rules) Seed(parent Link, peer Peer, counter uint64) uint64 {
	return firstWord(hashTagged(tagPerturb, parent.Bytes(), peer[:], binary.LittleEndian.AppendUint64(nil, counter)))
}

// EpisodeSeeds names the training episodes of one counter of peer on parent; both signs of a pair get the same.
func (r *Rules) EpisodeSeeds(parent Link, peer Peer, counter uint64) []uint64 {
	prefix := append(r.Run.Bytes(), parent.Bytes()...)
	if !r.Spec.Episodes.Shared {
		prefix = binary.LittleEndian.AppendUint64(append(prefix, peer[:]...), counter)
	}
	return episodeSeeds(tagTrain, prefix, r.Spec.Episodes.Count)
}

// ValidateSeeds names the fresh episodes of a held-out evaluation of the mean policy of head.
func (r *Rules) ValidateSeeds(head Link) []uint64 {
	return episodeSeeds(tagValidate, append(r.Run.Bytes(), head.Bytes()...), r.Spec.Checks.Validate)
}

// TestSeeds names n episodes of the test stream for the mean policy of head.
func (r *Rules) TestSeeds(head Link, n uint64) []uint64 {
	return episodeSeeds(tagTest, append(r.Run.Bytes(), head.Bytes()...), n)
}

// ObserveSeeds names the episodes of the mean policy of parent from which the generation on parent adds to running
// observation statistics; none if there are no such statistics.
func (r *Rules) ObserveSeeds(parent Link) []uint64 {
	return episodeSeeds(tagObserve, append(r.Run.Bytes(), parent.Bytes()...), r.ObserveEpisodes())
}

func episodeSeeds(tag string, prefix []byte, n uint64) []uint64 {
	seeds := make([]uint64, n)
	for i := range seeds {
		seeds[i] = firstWord(hashTagged(tag, prefix, binary.LittleEndian.AppendUint64(nil, uint64(i))))
	}
	return seeds
}

func firstWord(sum [32]byte) uint64 { return binary.LittleEndian.Uint64(sum[:8]) }
