package evoswarm

import (
	"errors"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// Errors that others wrap; compare with errors.Is. The messages name what is wrong, the value and what is allowed.
var (
	// ErrWorld is wrapped for the id of a world that is not registered.
	ErrWorld = envs.ErrUnknown
	// ErrStrategy is wrapped for the name of a strategy that there is not.
	ErrStrategy = evolve.ErrMethod
	// ErrParams is wrapped for settings of a strategy that are unknown, out of range, or contradict each other.
	ErrParams = evolve.ErrParams
	// ErrOptions is wrapped for options of a run that cannot be.
	ErrOptions = errors.New("evoswarm: bad options")
	// ErrPolicy is wrapped for a policy that does not fit its world.
	ErrPolicy = policy.ErrSpec
	// ErrTell is wrapped where Tell gets other than one fitness for each candidate.
	ErrTell = errors.New("evoswarm: bad fitness")
	// ErrState is wrapped for a state that is not one of this optimizer.
	ErrState = evolve.ErrState
	// ErrRun is wrapped where a log is of another run than the one asked for.
	ErrRun = seedlog.ErrRun
	// ErrLog is wrapped for what is no seed log.
	ErrLog = seedlog.ErrNotSeedlog
	// ErrHeight is wrapped where a log ends below the height asked for.
	ErrHeight = seedlog.ErrHeight
)
