// Package golden keeps the known answers of a package's tests in one file, so that tests can hold every
// target to the same bits.
//
// On no floor: only tests import it.
//
// The file is testdata/golden.txt below the tested package, one line "name hex" per answer, sorted by name; lines that
// start with # are comments. A test hashes what it computed and calls [Check]; `go test ./pkg -run Golden -update`
// rewrites the lines of the tests that ran and leaves the others. Tests of golden answers are named TestGolden..., by
// which testnet/golden.sh finds them.
package golden

import (
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"testing"
)

// File is the file of answers, relative to the folder of the tested package, in which tests run on every target.
const File = "testdata/golden.txt"

var update = flag.Bool("update", false, "rewrite "+File+" with what the tests compute")

// Foreign reports whether the test runs on another target than the developers' own: testnet/golden.sh sets
// GOLDEN_FOREIGN. A test may then leave out repetitions that the target cannot change, such as other numbers
// of workers: all of them run natively.
func Foreign() bool { return os.Getenv("GOLDEN_FOREIGN") != "" }

// mu keeps parallel tests of one process from losing each other's lines under -update.
var mu sync.Mutex

// Check compares sum (a digest, any length) with the line called name in [File] and reports an error with both if they
// differ or the line is missing. The name must be one word. With -update it writes the line instead.
func Check(t testing.TB, name string, sum []byte) {
	t.Helper()
	if name == "" || strings.ContainsAny(name, " \t\r\n#") {
		t.Fatalf("golden: name %q is not one word", name)
	}
	if err := check(File, name, hex.EncodeToString(sum), *update); err != nil {
		t.Error(err)
	}
}

var errDiffers = errors.New("golden: bits differ")

func check(path, name, got string, update bool) error {
	mu.Lock()
	defer mu.Unlock()
	lines, err := read(path)
	if err != nil && !(update && errors.Is(err, os.ErrNotExist)) {
		return fmt.Errorf("golden: %w (run with -update to write it)", err)
	}
	if update {
		lines[name] = got
		return write(path, lines)
	}
	want, ok := lines[name]
	if !ok {
		return fmt.Errorf("%w: %s has no line %q (run with -update to write it)\n got %s", errDiffers, path, name, got)
	}
	if got != want {
		return fmt.Errorf("%w: %s\n got  %s\n want %s", errDiffers, name, got, want)
	}
	return nil
}

func read(path string) (map[string]string, error) {
	lines := map[string]string{}
	data, err := os.ReadFile(path)
	if err != nil {
		return lines, err
	}
	for i, line := range strings.Split(string(data), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, sum, ok := strings.Cut(line, " ")
		if _, err := hex.DecodeString(sum); !ok || err != nil {
			return lines, fmt.Errorf("%s:%d: want \"name hex\", have %q", path, i+1, line)
		}
		if _, twice := lines[name]; twice {
			return lines, fmt.Errorf("%s:%d: there are two lines of %q", path, i+1, name)
		}
		lines[name] = sum
	}
	return lines, nil
}

func write(path string, lines map[string]string) error {
	names := make([]string, 0, len(lines))
	for name := range lines {
		names = append(names, name)
	}
	sort.Strings(names)
	var b strings.Builder
	for _, name := range names {
		fmt.Fprintf(&b, "%s %s\n", name, lines[name])
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(b.String()), 0o644)
}
