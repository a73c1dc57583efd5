package replay

import (
	"context"
	"errors"
	"fmt"

	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/node/contribution"
	"github.com/evoswarm/evoswarm/node/verb"
)

// ContributionVerb is evonode contribution.
func ContributionVerb() *verb.Verb {
	return &verb.Verb{
		Name: "contribution", Args: "CERTIFICATE LOG", Summary: "check a certificate of what somebody did for a run",
		Intro: "Checks a certificate of contribution, which the volunteer page writes, against the seed log of its run.",
		Usage: []string{"contribution CERTIFICATE LOG [--json]"},
		Details: `CERTIFICATE and LOG are files; one of them may be -, for standard input. The certificate is true if it is signed with the
key that it names, and the log holds what it says of that key: so many evaluations in so many env-steps, up to the entry
that it names. The log's form, links, order and signatures are checked up to there, and no result is computed again:
evonode replay LOG --check claims does that. Who shows a certificate has the key if he can sign with it.`,
		Example: "evonode contribution contribution.json run.seedlog",
		Bind: func(fs *verb.Flags) verb.Run {
			asJSON := false
			fs.JSON(&asJSON, "one JSON object: run, env, key, height, head, evaluations, steps (of the key), all (evaluations of everybody up to there)")
			return func(_ context.Context, s *verb.IO, args []string) error {
				if len(args) != 2 {
					return verb.Misused("a certificate and a log are needed", "for example: evonode contribution contribution.json run.seedlog")
				}
				return checkContribution(s, args[0], args[1], asJSON)
			}
		},
	}
}

// contributionLine is what contribution --json prints.
type contributionLine struct {
	Run         string `json:"run"`
	Env         string `json:"env"`
	Key         string `json:"key"`
	Height      uint64 `json:"height"`
	Head        string `json:"head"`
	Evaluations uint64 `json:"evaluations"`
	Steps       uint64 `json:"steps"`
	All         uint64 `json:"all"`
}

func checkContribution(s *verb.IO, certificate, log string, asJSON bool) error {
	in, err := s.Open(certificate)
	if err != nil {
		return err
	}
	defer in.Close()
	c, err := contribution.Read(in)
	switch {
	case errors.Is(err, seedlog.ErrSignature):
		return verb.Failed(fmt.Errorf("%s: %w", verb.Called(certificate), err), "it was changed, or somebody else made it: do not trust it")
	case err != nil:
		return verb.Failed(fmt.Errorf("%s: %w", verb.Called(certificate), err), "the volunteer page writes certificates: Download the certificate")
	}
	data, err := s.Open(log)
	if err != nil {
		return err
	}
	defer data.Close()
	counted, err := contribution.Check(c, data)
	switch {
	case errors.Is(err, contribution.ErrContradicted):
		return verb.Failed(fmt.Errorf("%s: %w", verb.Called(log), err), "if the log may be old, get it from a node of the run: api/log of its page")
	case errors.Is(err, contribution.ErrBelow):
		return verb.Failed(fmt.Errorf("%s: %w", verb.Called(log), err), "get the log from a node that keeps all of it")
	case err != nil:
		return Error(verb.Called(log), err)
	}
	l := contributionLine{Run: c.Run.String(), Env: counted.Env, Key: c.Peer.String(), Height: c.Height, Head: c.Head.String(), Evaluations: c.Evaluations, Steps: c.Steps, All: counted.All}
	if asJSON {
		return s.PrintJSON(l)
	}
	_, err = fmt.Fprintf(s.Out, "true: key %s made %d of the first %d evaluations of %s (%s), in %d env-steps, up to height %d\n",
		l.Key, l.Evaluations, l.All, l.Run, l.Env, l.Steps, l.Height)
	return err
}
