// Package live tests whole swarms: real evonode processes, a real Chromium, real sockets on this machine.
package live

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

var (
	failovers  = flag.Int("live.failover", 1, "how often TestFailover kills the leader")
	splits     = flag.Duration("live.split", 20*time.Second, "how long networks stay split or lossy (the fault matrix says 5m)")
	format1    = flag.Bool("live.format1", false, "start runs of format 1")
	watchShot  = flag.String("live.watch", "", "write a picture of the page of evonode watch to this PNG file")
	screenshot = flag.String("live.screenshot", "", "write a picture of the page at work to this PNG file")
)

// root is the repository, relative to this folder.
var root = filepath.Join("..", "..")

// programs is the folder of the programs built for the tests and of the browsers' profiles; removed at the end.
var programs string

func TestMain(m *testing.M) {
	flag.Parse()
	dir, err := os.MkdirTemp("", "evoswarm-live-")
	if err != nil {
		panic(err)
	}
	programs = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

var native = sync.OnceValues(func() (string, error) {
	if path := os.Getenv("EVONODE"); path != "" {
		return filepath.Abs(path)
	}
	return build("evonode", "./node/evonode", "-tags", "page")
})

// evonode returns the program with the page in it: $EVONODE, or one built now, which needs the built page.
func evonode(t *testing.T) string {
	t.Helper()
	path, err := native()
	if err != nil {
		t.Fatalf("%v\nthe page must be built before: make page", err)
	}
	return path
}

// build compiles a package of the repository. env are settings such as GOARCH=arm64.
func build(name, pkg string, flagsAndEnv ...string) (path string, err error) {
	path = filepath.Join(programs, name)
	args := []string{"build", "-o", path}
	env := append(os.Environ(), "GOFLAGS=-trimpath -buildvcs=false", "CGO_ENABLED=0") // those of the Makefile: one cache
	for _, f := range flagsAndEnv {
		if strings.HasPrefix(f, "GO") {
			env = append(env, f)
		} else {
			args = append(args, f)
		}
	}
	cmd := exec.Command("go", append(args, pkg)...)
	cmd.Dir, cmd.Env = root, env
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", &buildError{cmd.String(), string(out), err}
	}
	return path, nil
}

type buildError struct {
	command, output string
	err             error
}

func (e *buildError) Error() string { return e.command + ": " + e.err.Error() + "\n" + e.output }
func (e *buildError) Unwrap() error { return e.err }
