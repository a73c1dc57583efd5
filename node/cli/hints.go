package cli

import (
	"errors"
	"io/fs"
	"syscall"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/internal/store"
	"github.com/evoswarm/evoswarm/node/sweep"
)

// hintFor says what to do about errors that may come from anywhere below.
func hintFor(err error) (hint string, status int) {
	switch {
	case errors.Is(err, envs.ErrUnknown):
		return "evonode env list shows all environments", 2
	case errors.Is(err, sweep.ErrTable):
		return "a table is what evonode sweep -o wrote, or CSV with the columns seed, solved, steps and seconds", 1
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
