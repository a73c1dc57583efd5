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
	By     string // package and test that notices, tried first
}

// Verdict is what the tests said of a mutant.
type Verdict struct {
	Mutant
	Killed  bool
	Noticed string // the tests that did, and the first of them
	Took    time.Duration
}

// suite is a set of tests that hold invariants.
type suite struct {
	name, dir, run, skip string
	of                   []string // packages whose mutants it can notice
}

// suites are tried in this order after the test that a mutant names, until one fails.
var suites = []suite{
	{name: "seedlog", dir: "internal/seedlog", of: []string{"internal/seedlog"}},
	{name: "store", dir: "internal/store", of: []string{"internal/store"}},
	{name: "coordinator", dir: "coordinator", skip: "TestTranscripts", of: []string{"coordinator", "internal/seedlog"}},
	{name: "model", dir: "testnet/model", run: "TestModel", of: []string{"coordinator", "internal/seedlog"}},
	{name: "peer", dir: "internal/peer", of: []string{"internal/peer", "internal/store"}},
	{name: "simulator", dir: "testnet/sim", of: []string{"coordinator"}},
}

// limit is how long a suite may take.
const limit = 10 * time.Minute

var (
	// errBroken says that a mutant is none: it does not compile.
	errBroken = errors.New("does not compile")
	// errSlow says that a suite failed because time ran out, which a busy machine does, too.
	errSlow = errors.New("out of time")
)

// named looks for the test that a mutant names.
func (m Mutant) named(root string) error {
	dir, test, _ := strings.Cut(m.By, " ")
	test, _, _ = strings.Cut(test, "/") // of a test with parts
	files, err := filepath.Glob(filepath.Join(root, dir, "*_test.go"))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if bytes.Contains(text, []byte("\nfunc "+test+"(t *testing.T)")) {
			return nil
		}
	}
	return errors.Join(err, fmt.Errorf("%q names the test %q, which is not there", m.Name, m.By))
}

// own is the suite of the test that a mutant names.
func (m Mutant) own() suite {
	dir, test, _ := strings.Cut(m.By, " ")
	return suite{name: path.Base(dir), dir: dir, run: "^" + test + "$", of: []string{path.Dir(m.File)}}
}

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

// Run has the test that a mutant names say whether it breaks what that holds, and with all, if it does not, the suites.
// The tree is not touched: the compiler reads the changed file from dir.
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
	var list []suite
	if m.By != "" {
		list = append(list, m.own())
	}
	if all || m.By == "" {
		list = append(list, suites...)
	}
	for _, s := range list {
		if !slices.Contains(s.of, path.Dir(m.File)) {
			continue
		}
		failed, err := s.test(root, file)
		if err != nil {
			return v, fmt.Errorf("%q: %s: %w", m.Name, s.name, err)
		}
		if failed != "" {
			v.Killed, v.Noticed = true, s.name+": "+failed
			break
		}
	}
	v.Took = time.Since(began)
	return v, nil
}

// test runs a suite with a file in place of another, and names the first test that failed.
func (s suite) test(root, overlay string) (failed string, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit+time.Minute) // which includes building
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
	output := string(b)
	switch failed = first(output); {
	case err == nil:
		if strings.Contains(output, "[no tests to run]") {
			return "", fmt.Errorf("no test is called %s", s.run)
		}
		return "", nil
	case strings.Contains(output, "[build failed]"), strings.Contains(output, "[setup failed]"):
		return "", fmt.Errorf("%w: %s", errBroken, output)
	case failed == "", ctx.Err() != nil, strings.Contains(output, "panic: test timed out"), strings.Contains(output, "waited in vain"):
		return "", fmt.Errorf("%w: %s", errSlow, output)
	}
	return failed, nil
}

// first names the first test that failed; nothing if none says so.
func first(output string) string {
	for _, line := range strings.Split(output, "\n") {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "--- FAIL: "); ok {
			name, _, _ = strings.Cut(name, " ")
			return name
		}
		if strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") {
			return line
		}
	}
	return ""
}
