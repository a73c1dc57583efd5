package rollout

import "fmt"

// Limits of observations.
const (
	// MinObserved and MaxObserved bound the number of observations for frozen statistics.
	MinObserved, MaxObserved = 16, 1 << 20
	// MaxObserveEpisodes is the largest number of episodes per generation for running statistics.
	MaxObserveEpisodes = 256
	// MinClip and MaxClip bound the clip of normalized observations.
	MinClip, MaxClip = 0.1, 1e6
)

// Kinds of observation statistics.
const (
	Frozen  = "frozen"
	Running = "running"
)

// Observations says how observations are normalized before the policy sees them: (x - mean) / std, clamped to
// ±Clip. A value whose std is below 1e-7 becomes 0.
type Observations struct {
	// Kind says where mean and standard deviation come from. "frozen": episodes of a random policy before training.
	// "running": all observing episodes of the mean policy so far, to which each generation adds Episodes.
	Kind string `cbor:"kind" json:"kind"`
	// Steps is the number of observations for frozen statistics, MinObserved to MaxObserved; 0 if running.
	Steps uint64 `cbor:"steps,omitempty" json:"steps,omitempty"`
	// Episodes is the number of episodes that each generation adds to running statistics, 1 to MaxObserveEpisodes; 0 if
	// frozen.
	Episodes uint64 `cbor:"episodes,omitempty" json:"episodes,omitempty"`
	// Clip bounds the magnitude of normalized values, MinClip to MaxClip.
	Clip float64 `cbor:"clip" json:"clip"`
}

// Check returns an error that wraps ErrEpisodes unless all fields are in range.
func (o *Observations) Check() error {
	steps, episodes := [2]uint64{}, [2]uint64{}
	switch o.Kind {
	case Frozen:
		steps = [2]uint64{MinObserved, MaxObserved}
	case Running:
		episodes = [2]uint64{1, MaxObserveEpisodes}
	default:
		return fmt.Errorf("%w: observations.kind is %q, allowed %q and %q", ErrEpisodes, o.Kind, Frozen, Running)
	}
	if o.Steps < steps[0] || o.Steps > steps[1] {
		return fmt.Errorf("%w: observations.steps is %d, allowed %d to %d where they are %s", ErrEpisodes, o.Steps, steps[0], steps[1], o.Kind)
	}
	if o.Episodes < episodes[0] || o.Episodes > episodes[1] {
		return fmt.Errorf("%w: observations.episodes is %d, allowed %d to %d where they are %s", ErrEpisodes, o.Episodes, episodes[0], episodes[1], o.Kind)
	}
	return checkReal("observations.clip", o.Clip, MinClip, MaxClip)
}
