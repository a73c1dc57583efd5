package mutants

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Mutant is a small edit that breaks a promise.
type Mutant struct {
	Name   string // a few words, unique
	File   string // from the root of the module
	Old    string // found there exactly once
	New    string
	Breaks string // the promise
}

// Verdict is what the tests said of a mutant.
type Verdict struct {
	Mutant
	Killed bool
	By     string // the tests that noticed, and the first of them
	Took   time.Duration
}

// suite is a set of tests that hold invariants.
type suite struct {
	name, dir, run, skip string
	of                   []string // packages whose mutants it can notice
	slow                 bool
}

// suites are tried in this order, until one fails.
var suites = []suite{
	{name: "seedlog", dir: "internal/seedlog", of: []string{"internal/seedlog"}},
	{name: "store", dir: "internal/store", of: []string{"internal/store"}},
	{name: "coordinator", dir: "coordinator", skip: "TestTranscripts", of: []string{"coordinator", "internal/seedlog"}},
	{name: "model", dir: "testnet/model", run: "TestModel", of: []string{"coordinator", "internal/seedlog"}},
	{name: "peer", dir: "internal/peer", of: []string{"internal/peer", "internal/store"}},
	{name: "simulator", dir: "testnet/sim", of: []string{"coordinator"}, slow: true},
}

// limit is how long a suite may take.
const limit = 5 * time.Minute

// errBroken says that a mutant is none: it does not compile.
var errBroken = errors.New("does not compile")

// apply returns the mutant's file, changed.
func (m Mutant) apply(root string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(root, m.File))
	if err != nil {
		return nil, err
	}
	if n := bytes.Count(text, []byte(m.Old)); n != 1 {
		return nil, fmt.Errorf("%s has the text of %q %d times, want once", m.File, m.Name, n)
	}
	return bytes.Replace(text, []byte(m.Old), []byte(m.New), 1), nil
}

// Run has the suites say whether a mutant breaks what they hold, slow ones only with all. The tree is not
// touched: the compiler reads the changed file from dir.
func (m Mutant) Run(root, dir string, all bool) (Verdict, error) {
	began := time.Now()
	v := Verdict{Mutant: m}
	text, err := m.apply(root)
	if err != nil {
		return v, err
	}
	changed := filepath.Join(dir, "changed.go")
	if err := os.WriteFile(changed, text, 0o644); err != nil {
		return v, err
	}
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {filepath.Join(root, m.File): changed}})
	if err != nil {
		return v, err
	}
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, overlay, 0o644); err != nil {
		return v, err
	}
	for _, s := range suites {
		if !slices.Contains(s.of, path.Dir(m.File)) || !all && s.slow {
			continue
		}
		output, err := s.test(root, file)
		if strings.Contains(output, "[build failed]") || strings.Contains(output, "[setup failed]") {
			return v, fmt.Errorf("%q %w: %s", m.Name, errBroken, output)
		}
		if err != nil {
			v.Killed, v.By = true, s.name+": "+first(output)
			break
		}
	}
	v.Took = time.Since(began)
	return v, nil
}

// test runs a suite with a file in place of another.
func (s suite) test(root, overlay string) (output string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	args := []string{"test", "./" + s.dir, "-short", "-count=1", "-failfast", "-vet=off", "-timeout", limit.String(), "-overlay", overlay}
	if s.run != "" {
		args = append(args, "-run", s.run)
	}
	if s.skip != "" {
		args = append(args, "-skip", s.skip)
	}
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = root
	b, err := cmd.CombinedOutput()
	return string(b), err
}

// first names the first test that failed.
func first(output string) string {
	for _, line := range strings.Split(output, "\n") {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "--- FAIL: "); ok {
			name, _, _ = strings.Cut(name, " ")
			return name
		}
		if strings.HasPrefix(line, "panic: ") {
			return line
		}
	}
	return "out of time"
}
