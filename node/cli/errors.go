package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/internal/store"
)

// failure is an error with what the user can do about it and the exit status that goes with it.
type failure struct {
	err    error
	hint   string
	status int
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

// usage is the failure of a command that was used wrongly.
func usage(message, hint string) error {
	return &failure{errors.New(message), hint, 2}
}

// wrong makes err a failure of use.
func wrong(err error, hint string) error { return &failure{err, hint, 2} }

// failed makes err a failure of the work itself.
func failed(err error, hint string) error { return &failure{err, hint, 1} }

// report prints err and returns the exit status.
func report(s *IO, err error, asJSON bool) int {
	f := explain(err)
	message := strings.ReplaceAll(f.err.Error(), "\n", "; ") // joined errors
	fmt.Fprintf(s.Err, "evonode: %s\n", message)
	if f.hint != "" {
		fmt.Fprintf(s.Err, "hint: %s\n", f.hint)
	}
	if asJSON {
		line, _ := json.Marshal(struct {
			Error string `json:"error"`
			Hint  string `json:"hint"`
		}{message, f.hint})
		fmt.Fprintf(s.Out, "%s\n", line)
	}
	return f.status
}

// explain adds to an error what is known about errors of its kind.
func explain(err error) *failure {
	var f *failure
	if errors.As(err, &f) {
		return &failure{err, f.hint, f.status}
	}
	hint, status := hintFor(err)
	return &failure{err, hint, status}
}

// hintFor says what to do about errors that may come from anywhere below.
func hintFor(err error) (hint string, status int) {
	switch {
	case errors.Is(err, envs.ErrUnknown):
		return "evonode env list shows the worlds there are", 2
	case errors.Is(err, store.ErrLocked):
		return "only one evonode at a time works there: evonode stop ends the other one, or name another place with --data or -o", 1
	case errors.Is(err, store.ErrTruncated):
		return "evonode replay reads it as it is; to train, write to another file with -o", 1
	case errors.Is(err, seedlog.ErrRun):
		return "give the settings that the log was begun with, or another file with -o", 1
	case errors.Is(err, store.ErrFull), errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "the disk is full: free some space, or name another place with --data or -o; what was written before is kept", 1
	case errors.Is(err, store.ErrReadOnly), errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		return "that place cannot be written or read by you: name another one, or change its permissions", 1
	case errors.Is(err, fs.ErrNotExist):
		return "check the path", 1
	}
	return "", 1
}
