package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/node/model"
)

const exportHelp = `Writes the model of a seed log to a file for other programs, and for evonode eval.

Usage:
    evonode export LOG -o FILE [--at H|best|solved] [--workers N] [--json]

LOG is a file, or - for standard input. What the file is, its name says:
    .safetensors   one float32 tensor per layer and bias, and its metadata
    .npz           the same as arrays of NumPy; the metadata is the array __metadata__, a string with a JSON object
    .json          one object with the layout and the values
All name the run, the entry, the world and the policy, and hold what else the policy needs, such as the statistics of
observations (obs/...). docs/spec/model.md says how to compute an action from it.
    -o FILE            where to write; an existing file is replaced
    --at H             the model after the entry of height H (default: the last one); 0 is the untrained model
` + placeHelp + `    --workers N        cores to use (default: all)
    --json             one JSON object: run, env, height, head, theta (digest), parameters, file, format, return (of the
                       look that best or solved found, or null)

Example:
    $ evonode export run.seedlog --at best -o policy.npz
`

func exportCommand() *command {
	return &command{name: "export", summary: "write the model for other programs", help: exportHelp, bind: func(fs *flag.FlagSet) runner {
		f := replayFlags{check: string(seedlog.CheckDigests)}
		fs.StringVar(&f.at, "at", "", "")
		fs.StringVar(&f.out, "o", "", "")
		fs.IntVar(&f.workers, "workers", 0, "")
		fs.BoolVar(&f.json, "json", false, "")
		return func(ctx context.Context, s *IO, args []string) error {
			log, err := argument(args, "LOG", "evonode export run.seedlog -o policy.safetensors")
			if err != nil {
				return err
			}
			return f.export(ctx, s, log)
		}
	}}
}

func (f *replayFlags) export(ctx context.Context, s *IO, log string) error {
	format, err := exportFormat(f.out)
	if err != nil {
		return err
	}
	opts, at, err := f.options()
	if err != nil {
		return err
	}
	r, found, err := s.replay(ctx, log, opts, at, f.workers)
	if err != nil {
		return err
	}
	m := model.Of(r)
	if err := writeModel(f.out, m, format); err != nil {
		return err
	}
	if r.Truncated {
		fmt.Fprintf(s.Err, "evonode: %s is truncated (%v); what is before that was replayed\n", called(log), r.Tail)
	}
	if !f.json {
		_, err := fmt.Fprintf(s.Out, "%s: %d parameters of height %d of %s (%s)\n", f.out, len(m.Theta), m.Height, m.Run, m.Env.ID)
		return err
	}
	line := exportLine{Run: m.Run, Env: m.Env.ID, Height: m.Height, Head: m.Head, Theta: m.Digest(), Parameters: len(m.Theta), File: f.out, Format: format}
	if found != nil {
		line.Return = &found.mean
	}
	return s.printJSON(line)
}

// exportLine is what export --json prints.
type exportLine struct {
	Run        string       `json:"run"`
	Env        string       `json:"env"`
	Height     uint64       `json:"height"`
	Head       string       `json:"head"`
	Theta      string       `json:"theta"`
	Parameters int          `json:"parameters"`
	File       string       `json:"file"`
	Format     model.Format `json:"format"`
	Return     *float64     `json:"return"`
}

// exportFormat tells the format by the name of the file to write.
func exportFormat(name string) (model.Format, error) {
	const hint = "the name says the format: FILE.safetensors, FILE.npz or FILE.json"
	if name == "" {
		return "", usage("missing -o FILE", hint)
	}
	format, ok := model.FormatOf(name)
	if !ok {
		return "", usage(fmt.Sprintf("-o %q: no format of that name", name), hint)
	}
	return format, nil
}

// writeModel writes a model to the named file.
func writeModel(name string, m *model.Model, format model.Format) error {
	err := writeWhole(name, func(w io.Writer) error { return m.Write(w, format) })
	switch {
	case errors.Is(err, model.ErrNotFinite):
		return failed(fmt.Errorf("writing the model: %w", err), "the training diverged; .safetensors and .npz can hold it as it is")
	case err != nil:
		return fmt.Errorf("writing the model: %w", err)
	}
	return nil
}

// writeWhole writes the named file, all of it or nothing.
func writeWhole(name string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails once it is renamed
	err = write(f)
	if err = errors.Join(err, f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}
