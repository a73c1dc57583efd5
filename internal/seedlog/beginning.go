package seedlog

import (
	"errors"
	"fmt"
	"io"

	"github.com/evoswarm/evoswarm/internal/evolve"
)

// ErrWeights is returned for a run that starts from weights if they are missing or not those that its spec names.
var ErrWeights = errors.New("seedlog: not the weights that the run starts from")

// weightsBlock is how many bytes of weights a block holds; the last one holds the rest.
const weightsBlock = 48 << 10

// NewSuccessor resolves the spec of a run that starts from weights, whose digest spec.Successor names:
// parameters, and the statistics that its policy needs (rollout.Plan.Weights says which). It keeps weights,
// which must not change afterwards. Errors are those of NewRules, or wrap ErrWeights.
func NewSuccessor(spec *Spec, weights *evolve.State) (*Rules, error) {
	r, err := resolve(spec)
	if err != nil {
		return nil, err
	}
	if spec.Successor == nil {
		return nil, fmt.Errorf("%w: the spec names no run to start from", ErrWeights)
	}
	if err := r.Plan.Weights().Check(weights); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrWeights, err)
	}
	if got := weights.Digest(); weights.Gen != 0 || string(got[:]) != string(spec.Successor.State) {
		return nil, fmt.Errorf("%w: their digest is %x, the spec names %x", ErrWeights, got, spec.Successor.State)
	}
	r.weights = weights
	return r, nil
}

// AppendBeginning appends the beginning of the run's log to b: the header, the genesis block and, if the run
// starts from weights, their blocks.
func (r *Rules) AppendBeginning(b []byte) []byte {
	genesis := Encode(r.Spec)
	b, _ = AppendSection(AppendHeader(b, LinkOf(genesis)), genesis)
	if r.weights == nil {
		return b
	}
	data, err := r.weights.MarshalBinary()
	if err != nil {
		panic("seedlog: " + err.Error()) // NewSuccessor has checked it
	}
	for len(data) > 0 {
		n := min(len(data), weightsBlock)
		b, _ = AppendSection(b, Encode(data[:n]))
		data = data[n:]
	}
	return b
}

// beginning resolves the spec of a log, with the weights that follow it if the run starts from some.
func beginning(spec *Spec, sections *Sections) (*Rules, error) {
	if spec.Successor == nil {
		return NewRules(spec)
	}
	r, err := resolve(spec)
	if err != nil {
		return nil, err
	}
	weights, err := readWeights(sections, r.Plan.Weights())
	if err != nil {
		return nil, err
	}
	return NewSuccessor(spec, weights)
}

// readWeights reads the blocks of the weights that follow the genesis block.
func readWeights(sections *Sections, shape evolve.Shape) (*evolve.State, error) {
	size := shape.State(make([]float32, shape.Dim)).EncodedLen()
	data := make([]byte, 0, min(size, weightsBlock))
	for len(data) < size {
		block, _, err := sections.Next()
		if err == io.EOF {
			err = fmt.Errorf("%w: %d of %d bytes of weights", ErrTorn, len(data), size)
		}
		if err != nil {
			return nil, err
		}
		var piece []byte
		if err := decode(block, MaxBlockBytes, &piece); err != nil {
			return nil, fmt.Errorf("weights: %w", err)
		}
		if want := min(size-len(data), weightsBlock); len(piece) != want {
			return nil, fmt.Errorf("%w: a block of %d bytes of weights, want %d", ErrWeights, len(piece), want)
		}
		data = append(data, piece...)
	}
	weights := new(evolve.State)
	if err := weights.UnmarshalBinary(data); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrWeights, err)
	}
	return weights, nil
}
