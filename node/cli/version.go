package cli

import (
	"context"
	"fmt"
	"runtime"

	"github.com/evoswarm/evoswarm/internal/kernel"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/node/verb"
)

func versionVerb() *verb.Verb {
	return &verb.Verb{
		Name: "version", Summary: "the build",
		Intro:   "Prints the build and the versions of what it reads and writes.",
		Usage:   []string{"version [--json]"},
		Example: "evonode version\nevonode devel (go1.26.8 linux/amd64), seed log format 1, numerics 1, kernel avx512",
		Bind: func(fs *verb.Flags) verb.Run {
			asJSON := false
			fs.JSON(&asJSON, "one JSON object: version, go, os, arch, format (of seed logs), numerics, kernel (the code that computes; see evonode bench)")
			return func(_ context.Context, s *verb.IO, args []string) error {
				if err := verb.None(args); err != nil {
					return err
				}
				return printVersion(s, asJSON)
			}
		},
	}
}

func printVersion(s *verb.IO, asJSON bool) error {
	v := verb.Version()
	if asJSON {
		return s.PrintJSON(struct {
			Version  string `json:"version"`
			Go       string `json:"go"`
			OS       string `json:"os"`
			Arch     string `json:"arch"`
			Format   int    `json:"format"`
			Numerics int    `json:"numerics"`
			Kernel   string `json:"kernel"`
		}{v, runtime.Version(), runtime.GOOS, runtime.GOARCH, seedlog.Format2, seedlog.Numerics, kernel.Active()})
	}
	_, err := fmt.Fprintf(s.Out, "evonode %s (%s %s/%s), seed log format %d, numerics %d, kernel %s\n",
		v, runtime.Version(), runtime.GOOS, runtime.GOARCH, seedlog.Format2, seedlog.Numerics, kernel.Active())
	return err
}
