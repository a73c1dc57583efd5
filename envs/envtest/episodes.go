package envtest

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/noise"
)

// Likeness says how like a recording of whole episodes an environment has to be.
type Likeness struct {
	// Steps is for how many steps the observations must be within Obs of the recorded ones, in every episode.
	Steps int
	Obs   float64
	// Return is by how much the return of an episode may differ for it to count as the same.
	Return float64
	// SameReturns and SameBits are the shares of the episodes that must have the same return and end on the
	// same step, and must be equal to the bit in every observation, reward and end.
	SameReturns, SameBits float64
}

// film is one line of a recording of episodes: see testdata/record_box2d.py.
type film struct {
	ID      string
	Seed    uint64
	Policy  string
	Wind    []float64
	Params  envs.Params
	Steps   int
	Draws   int
	Actions []byte
	Obs     []byte
	Hashes  []byte
	Return  float64
	End     [2]any
}

// Episodes replays the episodes that box2d_<id>.jsonl.gz in folder has: the same draws and actions. If the environment
// has parameters, box2d_<id>_params.jsonl.gz has the same with others. It logs how many are equal to the bit, and where
// the others leave the recording.
func Episodes(t *testing.T, spec *envs.Spec, folder string, want Likeness) {
	replayFile(t, spec, filepath.Join(folder, "box2d_"+spec.ID+".jsonl.gz"), want)
	if len(spec.Params) > 0 {
		replayFile(t, spec, filepath.Join(folder, "box2d_"+spec.ID+"_params.jsonl.gz"), want)
	}
}

// replayFile replays the episodes of one file.
func replayFile(t *testing.T, spec *envs.Spec, name string, want Likeness) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(z)
	lines.Buffer(nil, 1<<20)
	total, sameReturns, sameBits := 0, 0, 0
	for n := 1; lines.Scan(); n++ {
		var r film
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatalf("line %d: %v", n, err)
		}
		if r.ID != "" {
			if r.ID != spec.ID {
				t.Fatalf("a recording of %q, want %q", r.ID, spec.ID)
			}
			continue
		}
		total++
		v := replay(t, spec, &r, want)
		if v.sameReturn {
			sameReturns++
		}
		if v.differs == 0 {
			sameBits++
		} else {
			t.Logf("seed %d (%s, params %v): %d steps, other bits from step %d on; return off by %.3g", r.Seed, r.Policy, r.Params, r.Steps, v.differs, v.returnError)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %d episodes, %d equal to the bit, %d with the same return and end", spec.ID, total, sameBits, sameReturns)
	if total < 50 || float64(sameBits) < want.SameBits*float64(total) || float64(sameReturns) < want.SameReturns*float64(total) {
		t.Errorf("%d of %d episodes equal to the bit, %d with the same return, want at least %.0f%% and %.0f%%",
			sameBits, total, sameReturns, 100*want.SameBits, 100*want.SameReturns)
	}
}

// verdict is how an episode went.
type verdict struct {
	differs     int // the first step that is not equal to the bit, 0 for none
	sameReturn  bool
	returnError float64
}

// replay plays one recorded episode.
func replay(t *testing.T, spec *envs.Spec, r *film, want Likeness) verdict {
	t.Helper()
	if r.Wind != nil {
		r.Params = envs.Params{"enable_wind": 1, "wind_power": r.Wind[0], "turbulence_power": r.Wind[1]}
	}
	spec, err := spec.With(r.Params)
	if err != nil {
		t.Fatal(err)
	}
	env, obs := spec.New(), make([]float32, spec.ObsDim)
	rng := noise.Scripted(splitMix(r.Seed, r.Draws))
	env.Reset(&rng, obs)
	var v verdict
	width := len(r.Actions) / r.Steps
	sum, steps := 0.0, 0
	checkFilm(t, r, 0, obs, want)
	for step := 1; step <= spec.MaxSteps; step++ {
		// Where the recording has ended, its last action is held.
		reward, terminated := env.Step(&rng, action(r.Actions[(min(step, r.Steps)-1)*width:][:width]), obs)
		sum += reward
		steps = step
		if step <= r.Steps {
			checkFilm(t, r, step, obs, want)
			if v.differs == 0 && stepHash(obs, reward, terminated) != binary.LittleEndian.Uint32(r.Hashes[4*(step-1):]) {
				v.differs = step
			}
		}
		if terminated {
			break
		}
	}
	if v.differs == 0 && (steps != r.Steps || rng.Exhausted()) {
		v.differs = r.Steps
	}
	v.returnError = math.Abs(sum - r.Return)
	v.sameReturn = steps == r.Steps && v.returnError <= want.Return
	return v
}

// checkFilm compares an observation with the recorded one, where there is one.
func checkFilm(t *testing.T, r *film, step int, obs []float32, want Likeness) {
	t.Helper()
	if step > want.Steps || (step+1)*4*len(obs) > len(r.Obs) {
		return
	}
	for i, got := range obs {
		x := math.Float32frombits(binary.LittleEndian.Uint32(r.Obs[4*(step*len(obs)+i):]))
		if !(math.Abs(float64(got)-float64(x)) <= want.Obs) {
			t.Fatalf("seed %d (%s) step %d: observation %d is %v, want %v", r.Seed, r.Policy, step, i, got, x)
		}
	}
}

// action reads a recorded action: one byte, or float32 values.
func action(raw []byte) []float64 {
	if len(raw) == 1 {
		return []float64{float64(raw[0])}
	}
	act := make([]float64, len(raw)/4)
	for i := range act {
		act[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(raw[4*i:])))
	}
	return act
}

// stepHash is the CRC-32 of what a step yields.
func stepHash(obs []float32, reward float64, terminated bool) uint32 {
	var buf []byte
	for _, x := range obs {
		buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(x))
	}
	buf = binary.LittleEndian.AppendUint64(buf, math.Float64bits(reward))
	if terminated {
		return crc32.ChecksumIEEE(append(buf, 1))
	}
	return crc32.ChecksumIEEE(append(buf, 0))
}

// splitMix returns n numbers in [0, 1) of SplitMix64.
func splitMix(seed uint64, n int) []float64 {
	u := make([]float64, n)
	for i := range u {
		seed += 0x9E3779B97F4A7C15
		z := seed
		z = (z ^ z>>30) * 0xBF58476D1CE4E5B9
		z = (z ^ z>>27) * 0x94D049BB133111EB
		u[i] = float64((z^z>>31)>>11) / (1 << 53)
	}
	return u
}
