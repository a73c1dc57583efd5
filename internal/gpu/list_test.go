package gpu

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fixed is a driver with these devices.
type fixed struct {
	infos []Info
	err   error
}

func (f fixed) devices() ([]Info, error) { return f.infos, f.err }

func names(devices []Info) (s string) {
	for _, d := range devices {
		s += fmt.Sprintf("%d %s %s; ", d.Number, d.Kind, d.Name)
	}
	return s
}

func TestListAndChoose(t *testing.T) {
	devices, err := listed([]driver{
		fixed{infos: []Info{{Name: "H200", Kind: CUDA}, {Name: "P100", Kind: CUDA, Err: ErrUnfit}}},
		fixed{infos: []Info{{Name: "H200", Kind: OpenCL, Driver: "NVIDIA CUDA 570"}, {Name: "P100", Kind: OpenCL, Driver: "NVIDIA CUDA 570"}, {Name: "Arc A770", Kind: OpenCL}, {Name: "old", Kind: OpenCL, Err: ErrOld}, {Name: "cores", Kind: OpenCL, CPU: true}}},
		fixed{err: ErrNoDriver},
	})
	if got, want := names(devices), "1 cuda H200; 2 cuda P100; 3 opencl P100; 4 opencl Arc A770; 5 opencl old; 6 opencl cores; "; got != want {
		t.Errorf("listed %s, want %s", got, want)
	}
	if !errors.Is(err, ErrNoDriver) {
		t.Errorf("%v, want ErrNoDriver", err)
	}
	for setting, want := range map[string]string{
		"off": "", "auto": "1 cuda H200; 3 opencl P100; 4 opencl Arc A770; ", "2": "2 cuda P100; ", "6": "6 opencl cores; ", "arc": "4 opencl Arc A770; ",
	} {
		chosen, err := choose(setting, devices, nil)
		if got := names(chosen); got != want || err != nil {
			t.Errorf("%q chooses %s, %v, want %s", setting, got, err, want)
		}
	}
	for _, setting := range []string{"", "0", "7", "-1", "Voodoo"} {
		if _, err := choose(setting, devices, nil); !errors.Is(err, ErrUnknown) {
			t.Errorf("%q: %v, want ErrUnknown", setting, err)
		}
	}
	if _, err := choose("1", nil, ErrNoDriver); !errors.Is(err, ErrUnknown) || !errors.Is(err, ErrNoDriver) {
		t.Errorf("%v, want ErrUnknown and why there is no device", err)
	}
}

func TestTextOfDrivers(t *testing.T) {
	for in, want := range map[string]string{
		"Tesla  V100\x00garbage": "Tesla V100", "\x1b[31mred": "[31mred", "": "", "  a\n\tb ": "a b", strings.Repeat("x", 1000): strings.Repeat("x", maxText),
	} {
		if got := text([]byte(in)); got != want {
			t.Errorf("text(%q) = %q, want %q", in, got, want)
		}
	}
	if got := firstLines([]byte(strings.Repeat("error: \x07 x\n", 500) + "\x00more")); strings.Count(got, ";") != 7 || strings.Contains(got, "\x07") {
		t.Errorf("the first lines are %q", got)
	}
}

func TestCache(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	e := cacheEntry("device", "options", "source")
	if e == cacheEntry("device", "option", "ssource") {
		t.Error("two programs have one file")
	}
	if e.load() != nil {
		t.Error("an empty cache has a program")
	}
	e.save([]byte("program"))
	if got := string(e.load()); got != "program" {
		t.Errorf("the cache has %q, want what was saved", got)
	}
	b, err := os.ReadFile(string(e))
	if err != nil {
		t.Fatal(err)
	}
	for name, damaged := range map[string][]byte{"cut": b[:len(b)-1], "empty": nil, "no program": b[:32], "changed": append(b[:len(b)-1:len(b)-1], 'n')} {
		if err := os.WriteFile(string(e), damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if e.load() != nil {
			t.Errorf("%s: a damaged file is taken", name)
		}
	}
	if info, err := os.Stat(filepath.Dir(string(e))); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder has mode %v, %v, want 0700", info.Mode(), err)
	}
}
