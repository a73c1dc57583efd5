package contribution

import (
	"errors"
	"fmt"
	"io"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// ErrContradicted is returned where the log says otherwise.
var ErrContradicted = errors.New("the log says otherwise")

// ErrBelow is returned for a log that lacks entries which the certificate counts.
var ErrBelow = errors.New("the log lacks its first entries")

// Counted is what a log holds of a key up to an entry.
type Counted struct {
	Env         string
	Evaluations uint64 // of the key
	Steps       uint64
	All         uint64 // evaluations of all keys
}

// Check compares a certificate with the log that r holds: form, links, signatures and order of all entries up
// to the one that it names, and the counts. Results are not computed again; evonode replay does that.
func Check(c *seedlog.Contribution, r io.Reader) (Counted, error) {
	scanner, err := seedlog.NewScanner(r)
	if err != nil {
		return Counted{}, err
	}
	rules := scanner.Rules()
	counted := Counted{Env: rules.Spec.Env.ID}
	if rules.Run != c.Run {
		return counted, fmt.Errorf("%w: it is of run %s, the certificate is of %s", ErrContradicted, rules.Run, c.Run)
	}
	head := rules.Run
	for height := uint64(0); height < c.Height; {
		g, err := scanner.Next()
		if errors.Is(err, io.EOF) || seedlog.Torn(err) {
			return counted, fmt.Errorf("%w: it ends at height %d, the certificate is of height %d; a newer log may have it", ErrContradicted, height, c.Height)
		}
		if err != nil {
			return counted, err
		}
		if g.Entry.Height != height+1 {
			return counted, fmt.Errorf("%w: it begins at height %d", ErrBelow, g.Entry.Height)
		}
		height, head = g.Entry.Height, g.Link
		counted.All += g.Entry.Evaluations
		for _, claim := range g.Claims {
			if claim.Peer == c.Peer {
				counted.Evaluations += claim.Evaluations()
				counted.Steps += claim.TotalSteps()
			}
		}
	}
	switch {
	case head != c.Head:
		return counted, fmt.Errorf("%w: its entry of height %d is %s, the certificate names %s, which another branch may have replaced", ErrContradicted, c.Height, head, c.Head)
	case counted.Evaluations != c.Evaluations || counted.Steps != c.Steps:
		return counted, fmt.Errorf("%w: up to height %d it holds %d evaluations in %d env-steps of the key, the certificate says %d in %d",
			ErrContradicted, c.Height, counted.Evaluations, counted.Steps, c.Evaluations, c.Steps)
	}
	return counted, nil
}
