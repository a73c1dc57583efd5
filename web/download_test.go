//go:build page

package web

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"strings"
	"testing"
)

// A volunteer waits for what the page needs before it computes, so that may not grow unnoticed. Sizes are those of
// brotli 9, as make page has it; docs/bench/README.md, "What a tab downloads", has those of brotli 11.
var downloads = map[string]int{"tab": 3_750_000, "worker": 20_000, "network": 20_000,
	"compute": 1_200_000, "worlds": 45_000, // where a run is of classic control or Box2D
	"compute_mujoco": 1_350_000, "mujoco": 170_000, // where it is of a world of MuJoCo's
	"space": 135_000} // only where a world is in space

// unused begin the names of functions that a tab never calls, and that were in its program once. The lint refuses
// whole packages; the functions of others are only left out where nothing leads to them.
var unused = []string{"net/http.", "crypto/tls.", "crypto/x509.", "crypto/ecdsa.", "regexp.compile", "text/template.",
	"github.com/libp2p/go-libp2p/p2p/host/basic.", "github.com/evoswarm/evoswarm/internal/presets.", "lukechampine.com/blake3."}

func TestDownload(t *testing.T) {
	m, err := readManifest(dist)
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, f := range m.Files {
		name, _, _ := strings.Cut(strings.TrimPrefix(f.Path, "assets/"), "-")
		most, ok := downloads[name]
		if !ok || !strings.HasPrefix(f.Path, "assets/") {
			continue
		}
		seen++
		if packed, err := fs.ReadFile(dist, "dist/"+f.Path+".br"); err != nil || len(packed) > most {
			t.Errorf("%s takes %d bytes packed, at most %d are allowed: %v", f.Path, len(packed), most, err)
		}
		if name == "tab" {
			checkUnused(t, "dist/"+f.Path+".gz")
		}
	}
	if seen != len(downloads) {
		t.Errorf("the page has %d of the files that it computes with, want %d", seen, len(downloads))
	}
}

// checkUnused looks for names of functions, which Go keeps for its stack traces.
func checkUnused(t *testing.T, path string) {
	packed, err := dist.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	r, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	program, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	has := func(name string) bool { return bytes.Contains(program, append([]byte{0}, name...)) }
	if !has("main.main\x00") {
		t.Fatal("no names of functions are in the program")
	}
	for _, name := range unused {
		if has(name) {
			i := bytes.Index(program, append([]byte{0}, name...))
			t.Errorf("the program of a tab has %.60q", program[i+1:])
		}
	}
}
