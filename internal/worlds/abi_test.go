//go:build amd64 || arm64

package worlds_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/noise"
	"github.com/evoswarm/evoswarm/internal/worlds"
)

// TestABI makes modules of WebAssembly by the World ABI, one for each package of worlds, and plays them in Node as a
// host of somebody's world would: observations, rewards and ends have the bits of Go,
// with parameters that are no defaults.
func TestABI(t *testing.T) {
	const episodes, steps = 3, 250
	ids := map[string][]string{}
	for _, w := range worlds.Table {
		if len(ids[w.Name()]) != int(w.Variant) {
			t.Fatalf("%s is variant %d, and %d are before it", w.ID, w.Variant, len(ids[w.Name()]))
		}
		ids[w.Name()] = append(ids[w.Name()], w.ID)
	}
	for _, w := range worlds.Table {
		if w.Variant != 0 {
			continue
		}
		t.Run(w.Name(), func(t *testing.T) {
			if testing.Short() && w.Name() != "lunarlander" {
				t.Skip("-short: one module is enough")
			}
			var variants []*envs.Spec
			var want []string
			for _, id := range ids[w.Name()] {
				s, err := envs.Find(id)
				if err != nil {
					t.Fatal(err)
				}
				variants = append(variants, s)
				for seed := range uint64(episodes) {
					want = append(want, abiEpisode(worlds.Unlike(s), seed, steps))
				}
			}
			module := abiModule(t, w.Name(), variants)
			need(t, "node")
			args := []string{filepath.Join("testdata", "world.mjs"), module, strconv.Itoa(episodes), strconv.Itoa(steps)}
			for _, x := range worlds.Unlike(variants[0]).Values() {
				args = append(args, strconv.FormatFloat(x, 'g', -1, 64))
			}
			out, err := exec.Command("node", args...).CombinedOutput()
			if got := strings.TrimSpace(string(out)); err != nil || got != strings.Join(want, "\n") {
				t.Errorf("%v\ngot\n%s\nwant\n%s", err, got, strings.Join(want, "\n"))
			}
		})
	}
}

// abiModule compiles testdata/world.c for a package of worlds.
func abiModule(t *testing.T, name string, variants []*envs.Spec) string {
	t.Helper()
	need(t, "clang")
	list := func(of func(s *envs.Spec) int) string {
		var all []string
		for _, s := range variants {
			all = append(all, strconv.Itoa(of(s)))
		}
		return strings.Join(all, ",")
	}
	dir := t.TempDir()
	var table strings.Builder
	for _, x := range noise.Table() {
		fmt.Fprintf(&table, "%xf,\n", x)
	}
	writeFile(t, filepath.Join(dir, "gauss.h"), table.String())
	out := filepath.Join(dir, name+".wasm")
	args := []string{"--target=wasm32", "-nostdlib", "-std=c11", "-O1", "-w", "-ffp-contract=off", "-fno-math-errno", "-fno-strict-aliasing",
		"-mbulk-memory", "-mnontrapping-fptoint", "-ffunction-sections", "-fdata-sections", "-I" + dir, "-Wl,--no-entry", "-Wl,--strip-all", "-Wl,-z,stack-size=262144",
		"-DSTATE(f)=" + name + "_State##f",
		fmt.Sprintf("-DPARAMS=%d", len(variants[0].Params)), fmt.Sprintf("-DOBS=%d", worlds.Unlike(variants[0]).ObsDim), "-DACT=" + list(func(s *envs.Spec) int { return s.Action.Dim }),
		"-DACTIONS=" + list(func(s *envs.Spec) int { return s.Action.N }), "-DSTEPS=" + list(func(s *envs.Spec) int { return s.MaxSteps }), "-o", out, filepath.Join("testdata", "world.c")}
	if message, err := exec.Command("clang", args...).CombinedOutput(); err != nil {
		t.Fatalf("clang (needs lld): %v\n%s", err, message)
	}
	return out
}

// abiEpisode plays in Go what testdata/world.mjs plays.
func abiEpisode(s *envs.Spec, seed uint64, steps int) string {
	env, rng := s.New(), envs.NewStream(seed)
	obs, act := make([]float32, s.ObsDim), make([]float64, s.Action.Dim)
	env.Reset(&rng, obs)
	var b bytes.Buffer
	note := func(v any) {
		if err := binary.Write(&b, binary.LittleEndian, v); err != nil {
			panic(err) // of a buffer
		}
	}
	note(obs)
	x, over := uint32(seed), false
	for i := 0; i < steps && !over; i++ {
		for k := range act {
			x = x*1664525 + 1013904223
			act[k] = float64(float64(x)/(1<<32)*5) - 1
			if i%17 == 16 {
				act[k] = math.NaN()
			}
		}
		var reward float64
		reward, over = env.Step(&rng, act, obs)
		note(obs)
		note(reward)
		note(over)
	}
	return fmt.Sprintf("%x", sha256.Sum256(b.Bytes()))
}
