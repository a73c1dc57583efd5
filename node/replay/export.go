package replay

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/evoswarm/evoswarm/node/model"
	"github.com/evoswarm/evoswarm/node/verb"
)

// ExportVerb is evonode export.
func ExportVerb() *verb.Verb {
	return &verb.Verb{
		Name: "export", Args: "LOG -o FILE", Summary: "write the model as safetensors, npz or JSON",
		Intro: "Writes the model of a seed log to a file for other programs, and for evonode eval.",
		Usage: []string{"export LOG -o FILE [--at HEIGHT|best|solved] [--workers N] [--json]"},
		Details: `LOG is a file, or - for standard input. The name of FILE says its format:
    .safetensors   one float32 tensor per layer and bias, and its metadata
    .npz           the same as arrays of NumPy; the metadata is the array __metadata__, a string with a JSON object
    .json          one object with the layout and the values
All name the run, the entry, the environment and the policy, and hold what else the policy needs, such as the
statistics of observations (obs/...). docs/spec/model.md says how to compute an action from it.`,
		Notes:   AtNotes,
		Example: "evonode export run.seedlog --at best -o policy.npz",
		Bind: func(fs *verb.Flags) verb.Run {
			var source Source
			out := ""
			fs.String(&out, "o", "FILE", "where to write; an existing file is replaced")
			source.Bind(fs)
			fs.JSON(&source.Quiet, "one JSON object: run, env, height, head, theta (digest), parameters, file, format, return (of the entry that "+
				"best or solved found, or null)")
			return func(ctx context.Context, s *verb.IO, args []string) error {
				log, err := verb.Argument(args, "LOG", "evonode export run.seedlog -o policy.safetensors")
				if err != nil {
					return err
				}
				return export(ctx, s, &source, log, out)
			}
		},
	}
}

func export(ctx context.Context, s *verb.IO, source *Source, log, out string) error {
	format, err := exportFormat(out)
	if err != nil {
		return err
	}
	r, found, err := source.Log(ctx, s, log)
	if err != nil {
		return err
	}
	m := model.Of(r)
	if err := writeModel(out, m, format); err != nil {
		return err
	}
	NoteTruncated(s, log, r)
	if !source.Quiet {
		_, err := fmt.Fprintf(s.Out, "%s: %d parameters of height %d of %s (%s)\n", out, len(m.Theta), m.Height, m.Run, m.Env)
		return err
	}
	line := exportLine{Run: m.Run, Env: m.Env.ID, Height: m.Height, Head: m.Head, Theta: m.Digest(), Parameters: len(m.Theta), File: out, Format: format}
	if found != nil {
		line.Return = &found.Return
	}
	return s.PrintJSON(line)
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
		return "", verb.Misused("missing -o FILE", hint)
	}
	format, ok := model.FormatOf(name)
	if !ok {
		return "", verb.Misused(fmt.Sprintf("-o %q: no format of that name", name), hint)
	}
	return format, nil
}

// writeModel writes a model to the named file.
func writeModel(name string, m *model.Model, format model.Format) error {
	err := verb.WriteWhole(name, func(w io.Writer) error { return m.Write(w, format) })
	switch {
	case errors.Is(err, model.ErrNotFinite):
		return verb.Failed(fmt.Errorf("writing the model: %w", err), "the training diverged; .safetensors and .npz can hold it as it is")
	case err != nil:
		return fmt.Errorf("writing the model: %w", err)
	}
	return nil
}
