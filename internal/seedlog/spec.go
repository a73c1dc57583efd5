package seedlog

import (
	"crypto/ed25519"
	"errors"
	"fmt"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/fxamacker/cbor/v2"
)

// Versions that this build writes and reads.
const (
	Format1  = 1 // of the blocks: a claim lies on the entry below and is re-run before it is logged
	Format2  = 2 // of the blocks: claims on earlier entries count, and results are re-run by lot
	Numerics = 1 // of floor 0: noise, kernels, functions
)

var (
	// ErrVersion is returned for a run of a format or numerics version that this build does not know.
	ErrVersion = errors.New("seedlog: unknown version")
	// ErrSpec is returned for a spec whose fields are out of range or contradict each other.
	ErrSpec = errors.New("seedlog: bad spec")
)

// Spec is the genesis block: everything that a run depends on, with every default written out.
// Its link is the run id. The rules of a run never change.
type Spec struct {
	Format     uint64      `cbor:"format" json:"format"`         // of the blocks, 1 or 2
	Numerics   uint64      `cbor:"numerics" json:"numerics"`     // of floor 0; this build knows 1
	Env        EnvRef      `cbor:"env" json:"env"`               // the environment
	Policy     policy.Spec `cbor:"policy" json:"policy"`         // what the parameters mean
	Strategy   StrategyRef `cbor:"strategy" json:"strategy"`     // how claims move the parameters
	Episodes   Episodes    `cbor:"episodes" json:"episodes"`     // how a candidate is evaluated
	Generation Generation  `cbor:"generation" json:"generation"` // what closes a generation
	Checks     Checks      `cbor:"checks" json:"checks"`         // held-out evaluation
	Seed       uint64      `cbor:"seed" json:"seed"`             // of the initial parameters
	Origin     []byte      `cbor:"origin" json:"origin"`         // Ed25519 key (32 bytes) that leads while nobody has contributed
	Nonce      []byte      `cbor:"nonce" json:"nonce"`           // 16 bytes; zero when solo
	Successor  *Successor  `cbor:"successor,omitempty" json:"successor,omitempty"`

	// Observations says how observations are normalized; nil: not at all.
	Observations *rollout.Observations `cbor:"observations,omitempty" json:"observations,omitempty"`

	// SpotChecks says how much of what peers claim is run again, in format 2; nil in format 1, where leaders re-run
	// all.
	SpotChecks *SpotChecks `cbor:"spot_checks,omitempty" json:"spot_checks,omitempty"`
	// Until says when the run ends, in format 2; nil: never.
	Until *Until `cbor:"until,omitempty" json:"until,omitempty"`
	// Trust lists the only keys whose claims and entries are valid, in their order, in format 2; nil: all are, and
	// SpotChecks says what is re-run.
	Trust []Peer `cbor:"trust,omitempty" json:"trust,omitempty"`
	// Best says which states are evaluated on held-out episodes, in format 2; nil: none.
	Best *BestState `cbor:"best,omitempty" json:"best,omitempty"`
}

// SpotChecks says how much of what peers claim is run again.
type SpotChecks struct {
	First uint64 `cbor:"first" json:"first"` // chunks of a key in the log, up to which a leader re-runs all of its claims
	Share uint64 `cbor:"share" json:"share"` // one of so many results of known keys is drawn and re-run, 1 to MaxSpotShare
}

// EnvRef names an environment; a fix of its dynamics gets a new revision.
type EnvRef struct {
	ID       string `cbor:"id" json:"id"`
	Revision uint64 `cbor:"revision" json:"revision"`
	// Params are parameters of the environment, in format 2: those that are no defaults, nil for none.
	Params envs.Params `cbor:"params,omitempty" json:"params,omitempty"`
}

// String names the environment for people.
func (e EnvRef) String() string { return envs.Label(e.ID, e.Params) }

// StrategyRef names a strategy and holds all of its settings.
type StrategyRef struct {
	Name     string        `cbor:"name" json:"name"`
	Revision uint64        `cbor:"revision" json:"revision"`
	Params   evolve.Params `cbor:"params" json:"params"`
}

// Episodes says how a candidate is evaluated. Zero conditions are left out.
type Episodes struct {
	Count  uint64 `cbor:"count" json:"count"`   // episodes per candidate, 1 to 1024; fitness is their mean return
	Shared bool   `cbor:"shared" json:"shared"` // true: all candidates of a generation get the same episodes; false: each seed (pair) its own
	rollout.Conditions
}

// Generation says what closes a generation and how work is cut.
type Generation struct {
	Evaluations uint64 `cbor:"evaluations" json:"evaluations"`   // exactly this many when closed, at least when open
	Steps       uint64 `cbor:"steps" json:"steps"`               // at least this many env-steps; 0 when closed
	Open        bool   `cbor:"open" json:"open"`                 // whether more evaluations than the population may enter
	Chunk       uint64 `cbor:"chunk" json:"chunk"`               // counters per chunk, 1 to MaxChunk; a claim is one chunk, in format 2 one or more
	Quota       uint64 `cbor:"quota" json:"quota"`               // chunks per peer and parent: what one peer may add to a generation; 1 to MaxClaims, in format 2 to MaxEvaluations
	MaxStale    uint64 `cbor:"max_stale" json:"max_stale"`       // how many entries back a claim's parent may lie; format 1: 0
	WeightSteps uint64 `cbor:"weight_steps" json:"weight_steps"` // an entry weighs its env-steps, at most this many

	// Growth is by what factor the step of the mean grows at most, with the square root of how many times Evaluations
	// an entry holds; 0: not at all, as in format 1.
	Growth uint64 `cbor:"growth,omitempty" json:"growth,omitempty"`

	// Pooled says that results of all states in an entry are ranked together, and not those of each state by
	// themselves. Only with MaxStale.
	Pooled bool `cbor:"pooled,omitempty" json:"pooled,omitempty"`

	// CapGrowth says that episodes.cap grows with an entry's results as steps do: it counts as many times as an entry
	// is worth generations of Evaluations, at most Growth times. Only with both.
	CapGrowth bool `cbor:"cap_growth,omitempty" json:"cap_growth,omitempty"`

	// Duration is how long a generation lasts at least, in milliseconds, in format 2; in format 1, where it is 0,
	// leaders decide.
	Duration uint64 `cbor:"duration,omitempty" json:"duration,omitempty"`

	// Batch is how many claims a batch names, in format 2: entries name batches. 0: they name claims.
	Batch uint64 `cbor:"batch,omitempty" json:"batch,omitempty"`
}

// Checks says when and on how many fresh episodes the mean policy is evaluated.
type Checks struct {
	Every    uint64 `cbor:"every" json:"every"`       // evaluation interval in generations, at least 1
	Validate uint64 `cbor:"validate" json:"validate"` // episodes of a held-out evaluation
	Test     uint64 `cbor:"test" json:"test"`         // episodes of the test that decides "solved"
}

// Successor says where a run starts from.
type Successor struct {
	Run   Link   `cbor:"run" json:"run"`
	Head  Link   `cbor:"head" json:"head"`
	State []byte `cbor:"state" json:"state"` // digest of the state there, 32 bytes
}

// Limits of a run.
const (
	MaxChunk       = 256     // counters per chunk, and per claim
	MaxClaims      = 1024    // claims per entry that names them itself
	MaxEvaluations = 1 << 17 // evaluations per entry
	MaxEpisodes    = 1024    // episodes per candidate
	MaxTermStep    = 1 << 20 // from the term of an entry to that of the next

	MaxStale     = 16      // entries that a claim's parent may lie back
	MaxGrowth    = 16      // factor of a step
	MaxSpotFirst = 1 << 16 // chunks of a key that are re-run as a whole
	MaxSpotShare = 1 << 10 // one of so many results is re-run

	MaxEvalEvery    = 1 << 20 // generations between held-out evaluations
	MaxEvalEpisodes = 10_000  // episodes of one
)

// Link returns the run id.
func (s *Spec) Link() Link { return LinkOf(Encode(s)) }

// Setup returns the part of s that evaluations depend on.
func (s *Spec) Setup() rollout.Setup {
	return rollout.Setup{
		EnvID: s.Env.ID, EnvRevision: s.Env.Revision, EnvParams: s.Env.Params, Policy: s.Policy,
		Strategy: s.Strategy.Name, StrategyRevision: s.Strategy.Revision, Params: s.Strategy.Params,
		Population: s.Generation.Evaluations, Growth: s.Generation.Growth, Pooled: s.Generation.Pooled, CapGrowth: s.Generation.CapGrowth,
		Episodes: rollout.Episodes{Count: s.Episodes.Count, Conditions: s.Episodes.Conditions, Observations: s.Observations},
	}
}

// Solo reports whether the run belongs to one machine: its nonce is zero and its key is no secret.
func (s *Spec) Solo() bool {
	for _, b := range s.Nonce {
		if b != 0 {
			return false
		}
	}
	return true
}

// DecodeSpec reads a genesis block. It checks the form and the ranges; [NewRules] checks whether the
// environment, the policy and the strategy exist.
func DecodeSpec(data []byte) (*Spec, error) {
	var v struct {
		Format   uint64 `cbor:"format"`
		Numerics uint64 `cbor:"numerics"`
		Draft    uint64 `cbor:"draft"`
	}
	if len(data) > maxTrustingBytes {
		return nil, fmt.Errorf("%w: spec of %d bytes, at most %d", ErrTooLarge, len(data), maxTrustingBytes)
	}
	// A newer format may have fields that this build does not know: say so rather than call it malformed.
	if looseMode.Unmarshal(data, &v) == nil {
		switch {
		case v.Format > Format2 || v.Numerics > Numerics:
			return nil, fmt.Errorf("%w: format %d, numerics %d; this build knows format %d, numerics %d: use a newer evonode", ErrVersion, v.Format, v.Numerics, Format2, Numerics)
		case v.Draft != 0: // before format 2 was finished, its runs were trials
			return nil, fmt.Errorf("%w: draft %d of format %d, which was for trials: begin a new run (--new), or use the evonode that began this one", ErrVersion, v.Draft, v.Format)
		}
	}
	s := new(Spec)
	if err := decode(data, maxTrustingBytes, s); err != nil {
		if unknown := new(cbor.UnknownFieldError); errors.As(err, &unknown) {
			return nil, fmt.Errorf("%w: the spec has a field that this build does not know: use a newer evonode (%w)", ErrVersion, err)
		}
		return nil, fmt.Errorf("spec: %w", err)
	}
	if len(s.Trust) == 0 && len(data) > MaxSpecBytes {
		return nil, fmt.Errorf("%w: spec of %d bytes, at most %d", ErrTooLarge, len(data), MaxSpecBytes)
	}
	return s, s.check()
}

func (s *Spec) check() error {
	if s.Format != Format1 && s.Format != Format2 || s.Numerics != Numerics {
		return fmt.Errorf("%w: format %d, numerics %d", ErrVersion, s.Format, s.Numerics)
	}
	if err := s.checkFormat(); err != nil {
		return err
	}
	if err := s.checkUntil(); err != nil {
		return err
	}
	g := s.Generation
	for _, f := range []struct {
		name            string
		value, min, max uint64
	}{
		{"episodes.count", s.Episodes.Count, 1, MaxEpisodes},
		{"generation.evaluations", g.Evaluations, 1, MaxEvaluations},
		{"generation.steps", g.Steps, 0, 1 << 40},
		{"generation.chunk", g.Chunk, 1, MaxChunk},
		{"generation.quota", g.Quota, 1, s.maxQuota()},
		{"generation.max_stale", g.MaxStale, 0, MaxStale},
		{"generation.growth", g.Growth, 0, MaxGrowth},
		{"generation.batch", g.Batch, 0, MaxBatch},
		{"generation.weight_steps", g.WeightSteps, 1, 1 << 40},
		{"checks.every", s.Checks.Every, 1, MaxEvalEvery},
		{"checks.validate", s.Checks.Validate, 1, MaxEvalEpisodes},
		{"checks.test", s.Checks.Test, 1, MaxEvalEpisodes},
		{"origin (bytes)", uint64(len(s.Origin)), ed25519.PublicKeySize, ed25519.PublicKeySize},
		{"nonce (bytes)", uint64(len(s.Nonce)), 16, 16},
		{"strategy.params (number)", uint64(len(s.Strategy.Params)), 0, 48},
		{"env.params (number)", uint64(len(s.Env.Params)), 0, envs.MaxParams},
	} {
		if f.value < f.min || f.value > f.max {
			return fmt.Errorf("%w: %s is %d, allowed %d to %d", ErrSpec, f.name, f.value, f.min, f.max)
		}
	}
	if g.Batch > 0 && s.Solo() {
		return fmt.Errorf("%w: generation.batch is %d in a run on one machine, whose entries name claims", ErrSpec, g.Batch)
	}
	if g.Pooled && g.MaxStale == 0 {
		return fmt.Errorf("%w: generation.pooled is true, but with generation.max_stale 0 an entry has results of one state", ErrSpec)
	}
	if g.CapGrowth && (g.Growth < 2 || s.Episodes.Cap == 0) {
		return fmt.Errorf("%w: generation.cap_growth is true, but generation.growth is %d and episodes.cap %v: it takes a growth of 2 at least, and a cap", ErrSpec, g.Growth, s.Episodes.Cap)
	}
	if !g.Open && g.Steps != 0 {
		return fmt.Errorf("%w: generation.steps is %d, but a closed generation is closed by its evaluations alone", ErrSpec, g.Steps)
	}
	if err := s.checkTrust(); err != nil {
		return err
	}
	if err := s.checkBest(); err != nil {
		return err
	}
	if s.Successor != nil && len(s.Successor.State) != 32 {
		return fmt.Errorf("%w: successor.state has %d bytes, allowed 32", ErrSpec, len(s.Successor.State))
	}
	if err := s.Episodes.Check(); err != nil {
		return fmt.Errorf("%w: episodes: %w", ErrSpec, err)
	}
	if s.Observations != nil {
		if err := s.Observations.Check(); err != nil {
			return fmt.Errorf("%w: %w", ErrSpec, err)
		}
	}
	for name, x := range s.Env.Params { //lint:sorted any failure refuses the whole
		if x-x != 0 || x == 0 && 1/x < 0 {
			return fmt.Errorf("%w: env.params.%s is %v", ErrSpec, name, x)
		}
	}
	return checkReals(s.Strategy.Params)
}

// maxQuota is how many chunks a spec may allow one peer on one state.
func (s *Spec) maxQuota() uint64 {
	if s.Format == Format1 {
		return MaxClaims // a claim each
	}
	return MaxEvaluations
}

// checkFormat refuses fields of another format.
func (s *Spec) checkFormat() error {
	switch spot := s.SpotChecks; {
	case s.Format == Format1 && (spot != nil || s.Generation.MaxStale != 0 || s.Generation.Growth != 0 || s.Generation.Duration != 0 || s.Generation.Batch != 0):
		return fmt.Errorf("%w: spot_checks, generation.max_stale, generation.growth, generation.duration and generation.batch are fields of format %d", ErrSpec, Format2)
	case s.Format == Format1 && s.Env.Params != nil:
		return fmt.Errorf("%w: env.params is a field of format %d", ErrSpec, Format2)
	case s.Format == Format1:
	case s.Generation.Duration < MinDuration || s.Generation.Duration > MaxDuration:
		return fmt.Errorf("%w: generation.duration is %d, allowed %d to %d (milliseconds)", ErrSpec, s.Generation.Duration, MinDuration, MaxDuration)
	case len(s.Trust) > 0: // checkTrust
	case spot == nil:
		return fmt.Errorf("%w: spot_checks is missing", ErrSpec)
	case spot.First < 1 || spot.First > MaxSpotFirst:
		return fmt.Errorf("%w: spot_checks.first is %d, allowed 1 to %d", ErrSpec, spot.First, MaxSpotFirst)
	case spot.Share < 1 || spot.Share > MaxSpotShare:
		return fmt.Errorf("%w: spot_checks.share is %d, allowed 1 to %d", ErrSpec, spot.Share, MaxSpotShare)
	}
	return nil
}

// checkReals refuses values with more than one encoding or none: NaN, infinities and -0.
func checkReals(p evolve.Params) error {
	for name, v := range p { //lint:sorted any failure refuses the whole
		switch x := v.(type) {
		case string:
		case float64:
			if x-x != 0 || (x == 0 && 1/x < 0) {
				return fmt.Errorf("%w: strategy.params.%s is %v; reals are finite and not -0", ErrSpec, name, x)
			}
		default:
			return fmt.Errorf("%w: strategy.params.%s is a %T; write a real (1.0) or a string", ErrSpec, name, v)
		}
	}
	return nil
}
