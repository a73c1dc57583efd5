package exact_test

import (
	"bufio"
	"flag"
	"fmt"
	"math"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/evoswarm/evoswarm/internal/exact"
)

var full = flag.Bool("exact.full", false, "compare Sin32 and Cos32 with glibc for all 2^32 arguments")

// slow reports whether the loops must be short: under an emulator that is
// asked for with -short, in wasm always.
func slow() bool { return testing.Short() || runtime.GOARCH == "wasm" }

// glibcHash is one line of testdata/glibc_sincosf.txt.
type glibcHash struct{ sin, cos uint64 }

func readGlibc(t *testing.T) map[string]glibcHash {
	t.Helper()
	f, err := os.Open("testdata/glibc_sincosf.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want := map[string]glibcHash{}
	for sc := bufio.NewScanner(f); sc.Scan(); {
		if strings.HasPrefix(sc.Text(), "#") {
			continue
		}
		var name string
		var h glibcHash
		if _, err := fmt.Sscanf(sc.Text(), "%s %x %x", &name, &h.sin, &h.cos); err != nil {
			t.Fatalf("%q: %v", sc.Text(), err)
		}
		want[name] = h
	}
	return want
}

// hashSincosf hashes the results for n patterns from first in steps of stride, as glibc_sincosf.c does.
func hashSincosf(first, stride uint32, n int) glibcHash {
	const prime = 0x100000001b3
	h := glibcHash{0xcbf29ce484222325, 0xcbf29ce484222325}
	for i, b := 0, first; i < n; i, b = i+1, b+stride {
		x := math.Float32frombits(b)
		h.sin = (h.sin ^ uint64(math.Float32bits(exact.Sin32(x)))) * prime
		h.cos = (h.cos ^ uint64(math.Float32bits(exact.Cos32(x)))) * prime
	}
	return h
}

// TestGlibcSincosf compares every 257th of all arguments, and all arguments
// from 0.5 to 512 (both ways of reduction). -exact.full compares all 2^32.
func TestGlibcSincosf(t *testing.T) {
	want := readGlibc(t)
	if len(want) != 257 {
		t.Fatalf("%d hashes on file, want 257", len(want))
	}
	if slow() {
		// The block from 32 to 128 holds the seam at 120.
		if got := hashSincosf(0x42<<24, 1, 1<<24); got != want["42"] {
			t.Errorf("block 42: %x, want %x", got, want["42"])
		}
		return
	}
	if got := hashSincosf(0, 257, 1<<32/257+1); got != want["stride257"] {
		t.Errorf("stride 257: %x, want %x", got, want["stride257"])
	}
	blocks := []uint32{0x3f, 0x40, 0x41, 0x42, 0x43, 0xc2, 0xc3}
	if *full {
		blocks = blocks[:0]
		for b := uint32(0); b < 256; b++ {
			blocks = append(blocks, b)
		}
	}
	for _, b := range blocks {
		name := fmt.Sprintf("%02x", b)
		if got := hashSincosf(b<<24, 1, 1<<24); got != want[name] {
			t.Errorf("block %s: %x, want %x", name, got, want[name])
		}
	}
}

// SinCos32 is Sin32 and Cos32, for every 4099th argument (NaN included) and all near 0.75 and 120, where the
// method changes.
func TestSinCos32(t *testing.T) {
	check := func(b uint32) {
		x := math.Float32frombits(b)
		s, c := exact.SinCos32(x)
		if math.Float32bits(s) != math.Float32bits(exact.Sin32(x)) || math.Float32bits(c) != math.Float32bits(exact.Cos32(x)) {
			t.Fatalf("SinCos32(%v): got %v, %v, want %v, %v", x, s, c, exact.Sin32(x), exact.Cos32(x))
		}
	}
	for i, b := 0, uint32(0); i < 1<<20; i, b = i+1, b+4099 {
		check(b)
	}
	for _, x := range []float32{0.75, 120, -0.75, -120, 0x1p-12} {
		for i := -300; i <= 300; i++ {
			check(math.Float32bits(x) + uint32(i))
		}
	}
}
