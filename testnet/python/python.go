// Package python lets tests read our files with the Python libraries that others read them with.
package python

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Run runs a script with the interpreter that has the libraries of .ci/requirements.txt, and returns what it prints.
// make tools installs that interpreter in build/python. Without it the test fails, or is skipped with -short.
func Run(t testing.TB, script string, args ...string) []byte {
	t.Helper()
	return RunWith(t, nil, script, args...)
}

// RunWith is Run with something on standard input.
func RunWith(t testing.TB, stdin []byte, script string, args ...string) []byte {
	t.Helper()
	interpreter := filepath.Join(root(t), "build", "python", "bin", "python")
	if _, err := os.Stat(interpreter); err != nil {
		if testing.Short() {
			t.Skip("Python with the libraries that read our files is missing; make tools installs it")
		}
		t.Fatalf("%v: Python with the libraries that read our files is missing; make tools installs it", err)
	}
	cmd := exec.CommandContext(t.Context(), interpreter, append([]string{script}, args...)...)
	cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1") // next to a script that imports another
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(stdin), &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", script, err, out, stderr.Bytes())
	}
	return out
}

// root is the folder of go.mod.
func root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	for err == nil {
		if _, missing := os.Stat(filepath.Join(dir, "go.mod")); missing == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			err = errors.New("no go.mod above the test")
		}
		dir = filepath.Dir(dir)
	}
	t.Fatal(err)
	return ""
}
