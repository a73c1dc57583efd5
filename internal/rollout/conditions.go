package rollout

import (
	"errors"
	"fmt"

	"github.com/evoswarm/evoswarm/envs"
)

// ErrEpisodes is wrapped by every error about how episodes are run. The message names
// the setting, the value and what is allowed.
var ErrEpisodes = errors.New("rollout: bad episodes")

// Limits of episodes.
const (
	// MaxActionNoise is the largest standard deviation of action noise.
	MaxActionNoise = 1000
	// MaxBonus is the largest alive bonus taken off a reward, and the largest penalty.
	MaxBonus = 1e6
	// MaxSkip is the largest number of env-steps that an action is held for.
	MaxSkip = 64
	// MinCap and MaxCap bound the cap in units of the mean length. Below 1.1 short
	// episodes could hardly grow again.
	MinCap, MaxCap = 1.1, 1000
	// MinObserved and MaxObserved bound the observations of frozen statistics.
	MinObserved, MaxObserved = 16, 1 << 20
	// MaxObserveEpisodes is the largest number of episodes that running statistics take
	// from each generation.
	MaxObserveEpisodes = 256
	// MinClip and MaxClip bound what normalised observations are held to.
	MinClip, MaxClip = 0.1, 1e6
)

// Conditions say how an episode goes, beside what world and policy do. The zero value
// changes nothing.
type Conditions struct {
	// ActionNoise is the standard deviation, in the world's units, of the Gaussian noise
	// that is added to every value of a real action before it is held to its bounds: 0 to
	// MaxActionNoise. In training only.
	ActionNoise float64 `cbor:"action_noise,omitempty" json:"action_noise,omitempty"`
	// Bonus is taken off the reward of each env-step, such as a world's reward for
	// being alive: 0 to MaxBonus. In training only.
	Bonus float64 `cbor:"bonus,omitempty" json:"bonus,omitempty"`
	// Penalty bounds what one env-step can cost: a reward below -Penalty counts as
	// -Penalty, before the bonus is taken off. 0 to MaxBonus, 0 for no bound. In training
	// only. Where a fall costs much, those who dare to walk do worse than those who stand.
	Penalty float64 `cbor:"penalty,omitempty" json:"penalty,omitempty"`
	// Skip is the number of env-steps that each action is held for: 2 to MaxSkip, or 0
	// for one. It is part of how the policy acts, so it holds outside of training too.
	Skip uint64 `cbor:"skip,omitempty" json:"skip,omitempty"`
	// Cap ends an episode after this many times the running mean of their lengths, beside
	// the world's own limit: MinCap to MaxCap, or 0 for no cap. In training only.
	Cap float64 `cbor:"cap,omitempty" json:"cap,omitempty"`
}

// Check returns an error that wraps ErrEpisodes unless all is in range.
func (c *Conditions) Check() error {
	if err := checkReal("action_noise", c.ActionNoise, 0, MaxActionNoise); err != nil {
		return err
	}
	if err := checkReal("bonus", c.Bonus, 0, MaxBonus); err != nil {
		return err
	}
	if err := checkReal("penalty", c.Penalty, 0, MaxBonus); err != nil {
		return err
	}
	if c.Skip == 1 || c.Skip > MaxSkip {
		return fmt.Errorf("%w: skip is %d, allowed 0 for none, or 2 to %d env-steps for each action", ErrEpisodes, c.Skip, MaxSkip)
	}
	if c.Cap != 0 || 1/c.Cap < 0 {
		return checkReal("cap", c.Cap, MinCap, MaxCap)
	}
	return nil
}

// checkReal refuses what is out of range, NaN and -0, which would have a second encoding.
func checkReal(name string, x, low, high float64) error {
	if !(x >= low && x <= high) || x == 0 && 1/x < 0 {
		return fmt.Errorf("%w: %s is %v, allowed %v to %v", ErrEpisodes, name, x, low, high)
	}
	return nil
}

// Kinds of observation statistics.
const (
	Frozen  = "frozen"
	Running = "running"
)

// Observations says that observations are normalised before the policy sees them:
// (x - mean) / std, held to ±Clip. A value whose std is below 1e-7 becomes 0.
type Observations struct {
	// Kind is where mean and standard deviation come from: "frozen", a random policy's
	// episodes before training; "running", all observations of the mean policy's
	// episodes so far, to which each generation adds Episodes.
	Kind string `cbor:"kind" json:"kind"`
	// Steps is the number of observations that frozen statistics are taken from,
	// MinObserved to MaxObserved; 0 if running.
	Steps uint64 `cbor:"steps,omitempty" json:"steps,omitempty"`
	// Episodes is the number of episodes that each generation adds to running
	// statistics, 1 to MaxObserveEpisodes; 0 if frozen.
	Episodes uint64 `cbor:"episodes,omitempty" json:"episodes,omitempty"`
	// Clip is what normalised values are held to, MinClip to MaxClip.
	Clip float64 `cbor:"clip" json:"clip"`
}

// Check returns an error that wraps ErrEpisodes unless all is in range.
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

// Episodes is how candidates are evaluated.
type Episodes struct {
	// Count is the number of episodes of one candidate; 0 counts as 1.
	Count uint64 `json:"count,omitempty"`
	Conditions
	// Observations is nil where the policy sees them as the world gives them.
	Observations *Observations `json:"observations,omitempty"`
}

// check returns an error that wraps ErrEpisodes unless such episodes can be had
// in env.
func (e *Episodes) check(env *envs.Spec) error {
	if err := e.Conditions.Check(); err != nil {
		return err
	}
	if e.ActionNoise != 0 && env.Action.Discrete {
		return fmt.Errorf("%w: action_noise is %v, allowed 0 for the discrete actions of %s", ErrEpisodes, e.ActionNoise, env.ID)
	}
	if e.Count > MaxEpisodes {
		return fmt.Errorf("%w: count is %d, at most %d", ErrEpisodes, e.Count, MaxEpisodes)
	}
	if e.Observations == nil {
		return nil
	}
	return e.Observations.Check()
}

// Hold returns the number of env-steps that an action is held for.
func (e *Episodes) Hold() int { return int(max(e.Skip, 1)) }
