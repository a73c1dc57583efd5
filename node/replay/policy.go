package replay

import (
	"bufio"
	"context"
	"errors"
	"fmt"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/node/catalog"
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

// Adjust gives the environment parameters in place of those that the policy was trained with. texts has them as a user
// writes them.
func (p *Policy) Adjust(texts map[string]string) error {
	to, err := catalog.Adjust(p.Plan.Env, texts)
	if err != nil {
		return err
	}
	return p.Move(to)
}

// Move puts the policy into another environment, whose observations and actions have to be of the same form.
func (p *Policy) Move(to *envs.Spec) (err error) {
	from := p.Plan.Env
	if from.ObsDim != to.ObsDim || from.ID == to.ID && !from.SameObs(to) || !sameActions(from, to) {
		return verb.Misused(fmt.Sprintf("a policy of %s (%s) does not fit %s (%s)", label(from), spaces(from), label(to), spaces(to)),
			"evonode env list shows the observations and actions of all, and env show ID which parameters change them")
	}
	p.Plan.Env = to
	p.Plan.Policy, err = policy.New(p.Model.Policy, to)
	return err
}

func sameActions(a, b *envs.Spec) bool {
	return a.Action.Discrete == b.Action.Discrete && a.Action.N == b.Action.N && a.Action.Dim == b.Action.Dim
}

func label(env *envs.Spec) string { return envs.Label(env.ID, env.Given()) }

// spaces describes what a policy has to fit.
func spaces(env *envs.Spec) string {
	return fmt.Sprintf("%d observations, actions %s", env.ObsDim, catalog.Actions(env.Action))
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
