package replay

import (
	"bufio"
	"context"
	"errors"
	"fmt"

	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/node/model"
	"github.com/evoswarm/evoswarm/node/verb"
)

// Policy is a trained policy from a file.
type Policy struct {
	Plan  rollout.Plan // what plays it
	Model *model.Model
	Log   *seedlog.Replayed // nil: the file is a model
}

// Policy reads the named file: the policy of a seed log that f chooses, or a model.
func (f *Source) Policy(ctx context.Context, s *verb.IO, name string) (*Policy, error) {
	if err := f.Misused(); err != nil {
		return nil, err
	}
	in, err := s.Open(name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	b := bufio.NewReader(in)
	start, _ := b.Peek(16) // its error comes again when the file is read
	if _, ok := model.Sniff(start); ok {
		return f.model(name, b)
	}
	r, _, err := f.log(ctx, s, name, b)
	if errors.Is(err, seedlog.ErrNotSeedlog) {
		return nil, verb.Failed(fmt.Errorf("%s: neither a seed log nor a model: %w", verb.Called(name), seedlog.ErrNotSeedlog),
			"is this the right file? evonode train writes logs, evonode export models")
	}
	if err != nil {
		return nil, err
	}
	NoteTruncated(s, name, r)
	return &Policy{r.Rules.Plan, model.Of(r), r}, nil
}

// model reads a model, which is of one entry.
func (f *Source) model(name string, in *bufio.Reader) (*Policy, error) {
	if f.At != "" {
		return nil, verb.Misused("--at with a model", "a model is that of one entry: name the log, or leave out --at")
	}
	m, err := model.Read(in)
	if err != nil {
		return nil, modelError(verb.Called(name), err)
	}
	plan, err := m.Plan()
	if err != nil {
		return nil, modelError(verb.Called(name), err)
	}
	return &Policy{plan, m, nil}, nil
}

// modelError says which model an error is about, and what to do.
func modelError(name string, err error) error {
	err = fmt.Errorf("%s: %w", name, err)
	switch {
	case errors.Is(err, model.ErrForeign):
		return verb.Failed(err, "evonode takes models that evonode export wrote, for environments of this build; docs/spec/model.md says what must be in them")
	case errors.Is(err, model.ErrDamaged), errors.Is(err, model.ErrTooLarge):
		return verb.Failed(err, "the file is damaged or not a model of evonode: export it again from its log")
	case errors.Is(err, model.ErrFormat):
		return verb.Failed(err, "is this the right file? evonode export writes models")
	}
	return err
}
