package golden

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	path := filepath.Join(t.TempDir(), "testdata", "golden.txt")
	if err := check(path, "a", "00ff", false); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: got %v, want %v", err, os.ErrNotExist)
	}
	for _, line := range [][2]string{{"b", "01"}, {"a", "00ff"}} {
		if err := check(path, line[0], line[1], true); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(data), "a 00ff\nb 01\n"; got != want {
		t.Errorf("got file %q, want %q", got, want)
	}
	if err := check(path, "a", "00ff", false); err != nil {
		t.Errorf("equal: got %v, want nil", err)
	}
	err = check(path, "a", "00fe", false)
	if !errors.Is(err, errDiffers) || !strings.Contains(err.Error(), "00fe") || !strings.Contains(err.Error(), "00ff") {
		t.Errorf("got %v, want both sums", err)
	}
	if err := check(path, "c", "00", false); !errors.Is(err, errDiffers) {
		t.Errorf("missing line: got %v, want %v", err, errDiffers)
	}
}

func TestReadRefuses(t *testing.T) {
	for _, text := range []string{"a\n", "a xyz\n", "a 00\na 01\n"} {
		path := filepath.Join(t.TempDir(), "golden.txt")
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := read(path); err == nil {
			t.Errorf("%q: got no error", text)
		}
	}
}
