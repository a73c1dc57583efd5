package rollout

import (
	"errors"
	"fmt"

	"github.com/evoswarm/evoswarm/envs"
)

// ErrEpisodes is wrapped by every error about how episodes are run. The message names the setting, the value
// and what is allowed.
var ErrEpisodes = errors.New("rollout: bad episodes")

// Limits of episodes.
const (
	// MaxActionNoise is the largest standard deviation of action noise.
	MaxActionNoise = 1000
	// MaxBonus is the largest Bonus and the largest Penalty.
	MaxBonus = 1e6
	// MaxSkip is the largest number of env-steps for which an action is repeated.
	MaxSkip = 64
	// MinCap and MaxCap bound the cap as a multiple of the mean length. Below 1.1 short episodes could hardly
	// grow again.
	MinCap, MaxCap = 1.1, 1000
	// MaxHorizon is the largest Horizon.
	MaxHorizon = 1 << 20
)

// Conditions change the episodes of an environment. The zero value changes nothing.
type Conditions struct {
	// ActionNoise is the standard deviation, in the environment's units, of the Gaussian noise added to every
	// value of a continuous action before it is clamped to its bounds, 0 to MaxActionNoise. In training only.
	ActionNoise float64 `cbor:"action_noise,omitempty" json:"action_noise,omitempty"`
	// Bonus is subtracted from the reward of each env-step, to remove an environment's reward for being
	// alive, 0 to MaxBonus. In training only.
	Bonus float64 `cbor:"bonus,omitempty" json:"bonus,omitempty"`
	// Penalty bounds the cost of an env-step: a reward below -Penalty counts as -Penalty, before Bonus is
	// subtracted. 0 to MaxBonus; 0 means no bound. In training only. If a fall costs much, candidates that
	// try to walk score worse than those that do not move.
	Penalty float64 `cbor:"penalty,omitempty" json:"penalty,omitempty"`
	// Skip is the number of env-steps for which each action is repeated, 2 to MaxSkip, or 0 for one. It is
	// part of how the policy acts, so it applies outside of training too.
	Skip uint64 `cbor:"skip,omitempty" json:"skip,omitempty"`
	// Cap ends an episode after this multiple of the running mean episode length, if the environment's limit
	// does not end it earlier: MinCap to MaxCap, or 0 for no cap. In training only.
	Cap float64 `cbor:"cap,omitempty" json:"cap,omitempty"`
	// Horizon ends an episode after so many env-steps, if nothing else ends it earlier: 1 to MaxHorizon, or 0 for no
	// horizon. In training only. Where a gait repeats, a part of an episode says as much about it as all of it.
	Horizon uint64 `cbor:"horizon,omitempty" json:"horizon,omitempty"`
	// Growth is by how many env-steps the horizon grows in each generation, 0 to MaxHorizon, so that the end of long
	// episodes comes to count too. Without a Horizon it changes nothing.
	Growth float64 `cbor:"growth,omitempty" json:"growth,omitempty"`
}

// Check returns an error that wraps ErrEpisodes unless all fields are in range.
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
	if c.Horizon > MaxHorizon {
		return fmt.Errorf("%w: horizon is %d, allowed 0 for none, or 1 to %d env-steps", ErrEpisodes, c.Horizon, MaxHorizon)
	}
	if err := checkReal("growth", c.Growth, 0, MaxHorizon); err != nil {
		return err
	}
	if c.Cap != 0 || 1/c.Cap < 0 {
		return checkReal("cap", c.Cap, MinCap, MaxCap)
	}
	return nil
}

// checkReal rejects values out of range, NaN, and -0, which would be a second encoding of 0.
func checkReal(name string, x, low, high float64) error {
	if !(x >= low && x <= high) || x == 0 && 1/x < 0 {
		return fmt.Errorf("%w: %s is %v, allowed %v to %v", ErrEpisodes, name, x, low, high)
	}
	return nil
}

// Episodes says how candidates are evaluated.
type Episodes struct {
	// Count is the number of episodes per candidate; 0 counts as 1.
	Count uint64 `json:"count,omitempty"`
	Conditions
	// Observations is nil if the policy sees observations unchanged.
	Observations *Observations `json:"observations,omitempty"`
}

// check returns an error that wraps ErrEpisodes unless such episodes are possible in env.
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

// Hold returns the number of env-steps for which an action is repeated, at least 1.
func (e *Episodes) Hold() int { return int(max(e.Skip, 1)) }
