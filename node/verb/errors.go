package verb

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// failure is an error with what the user can do about it and the exit status that goes with it.
type failure struct {
	err    error
	hint   string
	status int
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// Misused is the failure of a command that was used wrongly.
func Misused(message, hint string) error { return &failure{errors.New(message), hint, 2} }

// Wrong makes err a failure of use.
func Wrong(err error, hint string) error { return &failure{err, hint, 2} }

// Failed makes err a failure of the work itself.
func Failed(err error, hint string) error { return &failure{err, hint, 1} }

// report prints err and returns the exit status.
func (p *Program) report(s *IO, err error, asJSON bool) int {
	hint, status := p.explain(err)
	message := plainly(err.Error())
	fmt.Fprintf(s.Err, "%s: %s\n", p.Name, message)
	if hint != "" {
		fmt.Fprintf(s.Err, "hint: %s\n", hint)
	}
	if asJSON {
		line, _ := json.Marshal(struct {
			Error string `json:"error"`
			Hint  string `json:"hint"`
		}{message, hint})
		fmt.Fprintf(s.Out, "%s\n", line)
	}
	return status
}

// explain says what to do about an error, and the exit status.
func (p *Program) explain(err error) (hint string, status int) {
	var f *failure
	if errors.As(err, &f) {
		return f.hint, f.status
	}
	if p.Hint == nil {
		return "", 1
	}
	return p.Hint(err)
}

// packagePrefix is what errors of this module begin with, for programmers: envs: unknown world.
var packagePrefix = regexp.MustCompile(`(^|: |; |\()(?:chart|coordinator|cost|daemon|envs|evolve|evoswarm|film|gpu|kernel|mesh|model|peer|policy|rollout|runspec|seedlog|solo|store|sweep|tensorboard|web): `)

// plainly is a message without packages, on one line.
func plainly(message string) string {
	message = strings.ReplaceAll(message, "\n", "; ") // joined errors
	for {
		shorter := packagePrefix.ReplaceAllString(message, "$1")
		if shorter == message {
			return message
		}
		message = shorter
	}
}
