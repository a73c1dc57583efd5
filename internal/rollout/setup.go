package rollout

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/policy"
)

// ErrSetup is wrapped by every error about a setup.
var ErrSetup = errors.New("rollout: bad setup")

// MaxSetup is the largest encoded setup [bytes].
const MaxSetup = 1 << 16

// Setup is the part of a run's spec that evaluations depend on. A worker receives it once, as JSON.
type Setup struct {
	// EnvID is the environment's ID as registered.
	EnvID string `json:"env"`
	// EnvRevision must be the revision in the worker's build; 0 accepts any.
	EnvRevision uint64 `json:"env_revision"`
	// Policy is the policy for that environment.
	Policy policy.Spec `json:"policy"`
	// Strategy is the strategy's name.
	Strategy string `json:"strategy"`
	// StrategyRevision is the revision of the strategy; 0 means the newest.
	StrategyRevision uint64 `json:"strategy_revision"`
	// Params are the strategy's settings, complete.
	Params evolve.Params `json:"params"`
	// Population is the number of evaluations of a generation, both signs counted.
	Population uint64 `json:"population"`
	// Episodes says how candidates are evaluated.
	Episodes Episodes `json:"episodes"`
}

// MarshalSetup returns s as JSON. Errors wrap ErrSetup.
func MarshalSetup(s Setup) ([]byte, error) {
	b, err := json.Marshal(s)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSetup, err)
	}
	return b, nil
}

// UnmarshalSetup returns the setup in b. It rejects unknown fields, data after the object and more than
// MaxSetup bytes with an error that wraps ErrSetup.
func UnmarshalSetup(b []byte) (Setup, error) {
	if len(b) > MaxSetup {
		return Setup{}, fmt.Errorf("%w: %d bytes, at most %d", ErrSetup, len(b), MaxSetup)
	}
	var s Setup
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return Setup{}, fmt.Errorf("%w: %w", ErrSetup, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return Setup{}, fmt.Errorf("%w: data after the object", ErrSetup)
	}
	return s, nil
}
