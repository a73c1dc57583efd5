package film

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/node/verb"
)

// target is the file or folder that a film is written to.
type target struct {
	name   string
	format Format // "": a folder
}

// target reads -o.
func (f *flags) target() (*target, error) {
	const hint = "FILE.gif, FILE.png (animated too), or FOLDER/ for a picture of each frame"
	name := f.out
	if name == "" {
		return nil, verb.Misused("missing -o FILE", hint)
	}
	info, err := os.Stat(name)
	folder := err == nil && info.IsDir()
	if !folder && !os.IsPathSeparator(name[len(name)-1]) {
		format, err := FormatOf(name)
		if err != nil {
			return nil, verb.Misused(fmt.Sprintf("-o %q: no format of that name", name), hint)
		}
		return &target{name, format}, nil
	}
	if folder {
		inside, err := os.ReadDir(name)
		if err != nil {
			return nil, err
		}
		if len(inside) > 0 {
			return nil, verb.Failed(fmt.Errorf("%s is not empty", name), "frames go to a folder of their own: name another one, or empty that one")
		}
	}
	return &target{name: filepath.Clean(name)}, nil
}

// write writes all of a film or nothing. first is what it begins with.
func (t *target) write(record func(Writer) error, frames int, theme *Theme, first *envs.Scene) error {
	if t.format == "" {
		return writeFolder(t.name, func(dir string) error { return record(NewFolder(dir)) })
	}
	return verb.WriteWhole(t.name, func(file io.Writer) error {
		w := bufio.NewWriter(file)
		var frame Writer
		switch {
		case t.format == APNG:
			frame = NewAPNG(w, frames)
		case first.InSpace():
			frame = NewSpaceGIF(w, theme, first)
		default:
			frame = NewGIF(w, theme)
		}
		return cmp.Or(record(frame), w.Flush())
	})
}

// writeFolder fills the named folder, which is new or empty, with all that fill writes or nothing.
func writeFolder(name string, fill func(dir string) error) error {
	dir, err := os.MkdirTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) // finds nothing once it is renamed
	if err := errors.Join(fill(dir), os.Chmod(dir, 0o755)); err != nil {
		return err
	}
	if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return os.Rename(dir, name)
}

// bytes returns how much was written.
func (t *target) bytes() (n int64, err error) {
	err = filepath.WalkDir(t.name, func(_ string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	})
	return n, err
}
