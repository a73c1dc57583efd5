//go:build !js

package store

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
)

// explain wraps an error of the file system that a person can do something about.
func explain(err error, path string) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return fmt.Errorf("%w: %s: %w: free some space or use another folder; nothing that was reported as done is lost", ErrFull, path, err)
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%w: %s: %w: use a folder that this user may write to", ErrReadOnly, path, err)
	case errors.Is(err, syscall.ENOTDIR):
		return fmt.Errorf("%w: %s: %w: a file is in the way of the folder", ErrReadOnly, path, err)
	}
	return err
}
