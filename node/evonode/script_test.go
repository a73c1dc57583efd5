package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/evoswarm/evoswarm/web"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"evonode": main, "deaf": deaf})
}

// deaf is asked to end and does not: it writes what it heard to the file named deaf.
func deaf() {
	say := func(text string) {
		if err := os.WriteFile("deaf", []byte(text), 0o600); err != nil {
			panic(err)
		}
	}
	ctx := interrupted()
	say("ready")
	<-ctx.Done()
	say("stopping")
	time.Sleep(deadline)
}

// deadline ends scripts that hang; they take seconds.
const deadline = 3 * time.Minute

// TestScripts runs node/testdata/*.txt, each in a folder and with a home of its own.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: filepath.Join("..", "testdata"),
		Setup: func(e *testscript.Env) error {
			e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("XDG_DATA_HOME", filepath.Join(e.WorkDir, "share"))
			return nil
		},
		Condition: func(name string) (bool, error) { // [page]: this build has the page in it
			if name != "page" {
				return false, fmt.Errorf("unknown condition %q", name)
			}
			return web.Built(), nil
		},
		Deadline:            time.Now().Add(deadline),
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds:                commands(),
	})
}
