package cli

import (
	"context"
	"flag"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/evoswarm/evoswarm/internal/kernel"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

const versionHelp = `Prints the build and the versions of what it reads and writes.

Usage:
    evonode version [--json]

With --json: version, go, os, arch, format (of seed logs), numerics, kernel (the code that computes; see evonode bench).

Example:
    $ evonode version
    evonode devel (go1.26.8 linux/amd64), seed log format 1, numerics 1, kernel avx512
`

func versionCommand() *command {
	return &command{name: "version", summary: "the build", help: versionHelp, bind: func(fs *flag.FlagSet) runner {
		asJSON := fs.Bool("json", false, "")
		return func(_ context.Context, s *IO, args []string) error {
			if err := none(args); err != nil {
				return err
			}
			return printVersion(s, *asJSON)
		}
	}}
}

func printVersion(s *IO, asJSON bool) error {
	v := Version()
	if asJSON {
		return s.printJSON(struct {
			Version  string `json:"version"`
			Go       string `json:"go"`
			OS       string `json:"os"`
			Arch     string `json:"arch"`
			Format   int    `json:"format"`
			Numerics int    `json:"numerics"`
			Kernel   string `json:"kernel"`
		}{v, runtime.Version(), runtime.GOOS, runtime.GOARCH, seedlog.Format, seedlog.Numerics, kernel.Active()})
	}
	_, err := fmt.Fprintf(s.Out, "evonode %s (%s %s/%s), seed log format %d, numerics %d, kernel %s\n",
		v, runtime.Version(), runtime.GOOS, runtime.GOARCH, seedlog.Format, seedlog.Numerics, kernel.Active())
	return err
}

// build is set by the Makefile with -ldflags -X.
var build string

// Version names the build: what the Makefile stamped, else the module version, else the commit, else "devel".
func Version() string {
	if build != "" {
		return build
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" && len(setting.Value) >= 12 {
			return setting.Value[:12]
		}
	}
	return "devel"
}
