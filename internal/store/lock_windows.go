package store

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// lock takes the file for this process until it is closed; ErrLocked if another has it.
//
// The locked byte lies far beyond any file's end, since Windows keeps others from reading what is locked.
func lock(f *os.File) error {
	at := &windows.Overlapped{OffsetHigh: 1 << 30}
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, at)
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return ErrLocked
	}
	return err
}
