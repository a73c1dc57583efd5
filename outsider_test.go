//go:build !js

package evoswarm_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestOutsider copies examples/hover into a module of its own, as docs/worlds-template.md says, and tests and
// runs it there: nothing of it needs what only this module may import.
func TestOutsider(t *testing.T) {
	if testing.Short() {
		t.Skip("builds three programs in another module")
	}
	here, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	copyGo(t, filepath.Join(here, "examples", "hover"), dir)
	copyGo(t, filepath.Join(here, "examples", "hover", "train"), filepath.Join(dir, "train"))
	write(t, filepath.Join(dir, "node", "main.go"), commandOfTemplate(t))

	// The versions are those of this module, so that nothing is fetched.
	mod := string(read(t, "go.mod"))
	mod = strings.Replace(mod, "module github.com/evoswarm/evoswarm", "module example.org/hover", 1)
	mod += "\nrequire github.com/evoswarm/evoswarm v0.0.0\nreplace github.com/evoswarm/evoswarm => " + here + "\n"
	write(t, filepath.Join(dir, "go.mod"), mod)
	write(t, filepath.Join(dir, "go.sum"), string(read(t, "go.sum")))

	run(t, dir, "go", "test", "-mod=mod", ".")
	out := run(t, dir, "go", "run", "-mod=mod", "./train")
	if !strings.Contains(out, "solved: true") {
		t.Errorf("training says %s", out)
	}
	out = run(t, dir, "go", "run", "-mod=mod", "./node", "replay", "hover.seedlog", "--check", "claims")
	if !strings.Contains(out, "claims       good") {
		t.Errorf("replay says %s", out)
	}
}

// TestTemplate checks that the short environment of docs/worlds-template.md is the one that the example trains.
func TestTemplate(t *testing.T) {
	m := regexp.MustCompile("(?s)```go\n(type .*?)```").FindSubmatch(read(t, filepath.Join("docs", "worlds-template.md")))
	if m == nil {
		t.Fatal("docs/worlds-template.md has no short environment")
	}
	example := string(read(t, "example_test.go"))
	for part := range strings.SplitSeq(strings.TrimSpace(string(m[1])), "\n\n") {
		if !strings.Contains(example, part) {
			t.Errorf("example_test.go lacks this part of docs/worlds-template.md:\n%s", part)
		}
	}
}

// commandOfTemplate is the program in docs/worlds-template.md that has all commands of evonode.
func commandOfTemplate(t *testing.T) string {
	t.Helper()
	m := regexp.MustCompile("(?s)```go\n(package main.*?)```").FindSubmatch(read(t, filepath.Join("docs", "worlds-template.md")))
	if m == nil {
		t.Fatal("docs/worlds-template.md has no program")
	}
	return string(m[1])
}

// copyGo copies the Go files of a folder as those of the module example.org/hover.
func copyGo(t *testing.T, from, to string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(from, "*.go"))
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	for _, name := range names {
		text := strings.ReplaceAll(string(read(t, name)), "github.com/evoswarm/evoswarm/examples/hover", "example.org/hover")
		write(t, filepath.Join(to, filepath.Base(name)), text)
	}
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// run returns what a command prints.
func run(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOPROXY=off", "GOWORK=off")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return string(out)
}
