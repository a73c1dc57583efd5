//go:build amd64 || arm64

package worlds_test

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/envs/box2d/bipedalwalker"
	"github.com/evoswarm/evoswarm/envs/box2d/lunarlander"
	"github.com/evoswarm/evoswarm/envs/classic/acrobot"
	"github.com/evoswarm/evoswarm/envs/classic/cartpole"
	"github.com/evoswarm/evoswarm/envs/classic/mountaincar"
	"github.com/evoswarm/evoswarm/envs/classic/mountaincarcontinuous"
	"github.com/evoswarm/evoswarm/envs/classic/pendulum"
	"github.com/evoswarm/evoswarm/envs/mujoco/ant"
	"github.com/evoswarm/evoswarm/envs/mujoco/halfcheetah"
	"github.com/evoswarm/evoswarm/envs/mujoco/hopper"
	"github.com/evoswarm/evoswarm/envs/mujoco/humanoid"
	"github.com/evoswarm/evoswarm/envs/mujoco/inverteddoublependulum"
	"github.com/evoswarm/evoswarm/envs/mujoco/invertedpendulum"
	"github.com/evoswarm/evoswarm/envs/mujoco/reacher"
	"github.com/evoswarm/evoswarm/envs/mujoco/swimmer"
	"github.com/evoswarm/evoswarm/envs/mujoco/walker2d"
	"github.com/evoswarm/evoswarm/internal/episode"
	"github.com/evoswarm/evoswarm/internal/noise"
	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/internal/translate"
	"github.com/evoswarm/evoswarm/internal/worlds"
)

var evaluations = flag.Int("worlds.evaluations", 0, "how many evaluations of random policies TestMany compares per world")

// state is what every world's State does.
type state interface {
	Choose(variant int32)
	Set(i int32, x float64)
	Begin(rng *noise.Stream, obs []float32)
	Act(rng *noise.Stream, act []float64, obs []float32) (reward float64, over bool)
}

// states are the worlds in the order of testdata/play.c.
var states = []struct {
	name string
	new  func() state
}{
	{"acrobot", func() state { return new(acrobot.State) }},
	{"ant", func() state { return new(ant.State) }},
	{"bipedalwalker", func() state { return new(bipedalwalker.State) }},
	{"cartpole", func() state { return new(cartpole.State) }},
	{"halfcheetah", func() state { return new(halfcheetah.State) }},
	{"hopper", func() state { return new(hopper.State) }},
	{"humanoid", func() state { return new(humanoid.State) }},
	{"inverteddoublependulum", func() state { return new(inverteddoublependulum.State) }},
	{"invertedpendulum", func() state { return new(invertedpendulum.State) }},
	{"lunarlander", func() state { return new(lunarlander.State) }},
	{"mountaincar", func() state { return new(mountaincar.State) }},
	{"mountaincarcontinuous", func() state { return new(mountaincarcontinuous.State) }},
	{"pendulum", func() state { return new(pendulum.State) }},
	{"reacher", func() state { return new(reacher.State) }},
	{"swimmer", func() state { return new(swimmer.State) }},
	{"walker2d", func() state { return new(walker2d.State) }},
}

// bare are the flags of every build: the translation relies on a compiler that does not contract.
var bare = []string{"-std=c11", "-w", "-ffp-contract=off", "-fno-fast-math", "-fno-math-errno", "-fno-strict-aliasing"}

// The vectorizer of straight-line code in GCC 12.2 gives Acrobot other bits if indices are checked, where Clang, GCC
// without optimization and GCC with sanitizers agree with Go. So GCC runs without it.
var gcc = []string{"-fno-tree-slp-vectorize"}

// builds are the programs that are compared with Go. Without one of those marked short, -short tests nothing.
var builds = []struct {
	name     string
	compiler string
	flags    []string
	options  func(*translate.Options) // nil: worlds.c as it is committed
	short    bool
}{
	{"gcc -O2", "gcc", []string{"-O2"}, nil, true},
	{"gcc -O3 -march=native", "gcc", []string{"-O3", "-march=native"}, nil, false},
	{"clang -O2", "clang", []string{"-O2"}, nil, false},
	{"clang -O3 -march=native", "clang", []string{"-O3", "-march=native"}, nil, false},
	{"indices checked", "gcc", []string{"-O2"}, func(o *translate.Options) { o.CheckIndices = true }, false},
	{"sanitizers", "gcc", []string{"-O1", "-g", "-fsanitize=address,undefined,float-cast-overflow", "-fno-sanitize-recover=all"},
		func(o *translate.Options) { o.PlainSigned = true }, false},
}

// TestCompiled plays episodes in the translated worlds and in Go: all observations, rewards, returns and the whole
// State at the end have the same bits.
func TestCompiled(t *testing.T) {
	requests, want := script(t)
	for _, b := range builds {
		t.Run(b.name, func(t *testing.T) {
			if testing.Short() && !b.short {
				t.Skip("-short: one compiler is enough")
			}
			got := play(t, compile(t, b.compiler, b.flags, b.options), requests)
			differ := differences(t, got, want)
			for _, d := range differ[:min(5, len(differ))] {
				t.Error(d)
			}
			t.Logf("%d of %d episodes and evaluations differ", len(differ), len(want))
		})
	}
}

// TestMany compares as many evaluations of random policies per world as -worlds.evaluations says: make many.
func TestMany(t *testing.T) {
	if *evaluations == 0 {
		t.Skip("only with -worlds.evaluations N")
	}
	const batch = 1000
	program := compile(t, "gcc", []string{"-O2"}, nil)
	for i := range worlds.Table {
		t.Run(worlds.Table[i].ID, func(t *testing.T) {
			t.Parallel()
			differ := 0
			for first := 0; first < *evaluations; first += batch {
				var b bytes.Buffer
				var want []answer
				write(&b, noise.Table()[:])
				g := games(t, &b)[i]
				for k := first; k < min(first+batch, *evaluations); k++ {
					want = append(want, g.evaluation(t, uint64(k), 1+k%2, 20+int64(k%4)*20+int64(k%100/99)*400))
				}
				for _, d := range differences(t, play(t, program, b.Bytes()), want) {
					if differ++; differ <= 20 {
						t.Error(d)
					}
				}
			}
			t.Logf("%d of %d evaluations differ", differ, *evaluations)
		})
	}
}

// play runs a program on requests and returns its answers.
func play(t *testing.T, program string, requests []byte) []string {
	t.Helper()
	c := exec.Command(program)
	c.Stdin = bytes.NewReader(requests)
	var faults bytes.Buffer
	c.Stderr = &faults
	out, err := c.Output()
	if err != nil || faults.Len() > 0 {
		t.Fatalf("%v\n%s", err, faults.String())
	}
	return strings.Split(strings.TrimSpace(string(out)), "\n")
}

// differences says in words which answers are wrong.
func differences(t *testing.T, got []string, want []answer) (list []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d answers, want %d", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i].answer {
			list = append(list, fmt.Sprintf("%s: got %s, want %s", want[i].what, got[i], want[i].answer))
		}
	}
	return list
}

// TestFused checks that the comparison can fail: a compiler that contracts changes bits.
func TestFused(t *testing.T) {
	if testing.Short() {
		t.Skip("TestCompiled is enough with -short")
	}
	if info, err := os.ReadFile("/proc/cpuinfo"); err != nil || !strings.Contains(string(info), " fma ") {
		t.Skip("this processor has no FMA of amd64")
	}
	requests, want := script(t)
	program := compile(t, "gcc", []string{"-O2", "-mfma", "-ffp-contract=fast"}, nil)
	if n := len(differences(t, play(t, program, requests), want)); n < len(want)/2 {
		t.Errorf("%d of %d differ with contraction, want most", n, len(want))
	}
}

// TestOpenCL translates the loop of episodes with all that it calls, policies and portable kernels too, to OpenCL C,
// once with worlds in a work-item's own memory and once with all in the device's, and plays evaluations with what clang
// makes of it for this processor. clang checks the address spaces: OpenCL C 1.2 converts no pointer to another one.
func TestOpenCL(t *testing.T) {
	if testing.Short() {
		t.Skip("internal/gpu runs worlds under PoCL; this is for whole loops")
	}
	p, err := program()
	if err != nil {
		t.Fatal(err)
	}
	requests, want := loops(t, 0, 24)
	const private, global = translate.Private, translate.Global
	for _, c := range []struct {
		suffix string
		spaces []translate.Space
	}{
		{"_pppgggpgpgg", []translate.Space{private, private, private, global, global, global, private, global, private, global, global}},
		{"_ggggggggggg", nil},
	} {
		need(t, "clang")
		o := translate.WorldsOptions()
		o.Target, o.Externs, o.Roots = translate.OpenCL, nil, []translate.Root{{Name: "internal/episode.Play", Spaces: c.spaces}}
		text, err := p.Translate(o)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		source, object, library := filepath.Join(dir, "worlds.cl"), filepath.Join(dir, "worlds.o"), filepath.Join(dir, "library.o")
		writeFile(t, source, "#include \"prelude.h\"\n"+text)
		clang(t, "-x", "cl", "-cl-std=CL1.2", "-Xclang", "-finclude-default-header", "-O2", "-w", "-ffp-contract=off", "-DVALUE=", "-I.", "-c", "-o", object, source)
		clang(t, "-O2", "-fno-builtin", "-c", "-o", library, filepath.Join("testdata", "opencl.c"))
		program := compile(t, "clang", []string{"-O2", "-DTABLE_LAST", "-DSUFFIX=" + c.suffix, object, library}, nil)
		differ := differences(t, play(t, program, requests), want)
		for _, d := range differ[:min(5, len(differ))] {
			t.Error(d)
		}
		t.Logf("%s: %d of %d evaluations differ", c.suffix, len(differ), len(want))
	}
}

// TestCUDA translates the same to CUDA C and plays with it as C++ of this processor. Then clang makes PTX of it, in
// which is no fused multiplication and no sum or product that the driver may fuse (one without a rounding), no root or
// quotient that is only approximate, and no denormal flushed to zero.
func TestCUDA(t *testing.T) {
	if testing.Short() {
		t.Skip("needs clang")
	}
	need(t, "clang")
	p, err := program()
	if err != nil {
		t.Fatal(err)
	}
	o := translate.WorldsOptions()
	o.Target, o.Externs, o.Roots = translate.CUDA, nil, []translate.Root{{Name: "internal/episode.Play"}}
	text, err := p.Translate(o)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	source, ptx := filepath.Join(dir, "worlds.cu"), filepath.Join(dir, "worlds.ptx")
	writeFile(t, source, "#include \"prelude.h\"\n"+text)

	host, library, object := filepath.Join(dir, "host.cpp"), filepath.Join(dir, "library.c"), filepath.Join(dir, "host.o")
	writeFile(t, host, "#include \"prelude.h\"\nextern \"C\" {\n"+strings.Replace(text, "__device__ array65536_f32 *noise_table", "extern array65536_f32 *noise_table", 1)+"}\n")
	writeFile(t, library, "double __nv_sqrt(double x) { return __builtin_sqrt(x); }\ndouble __nv_floor(double x) { return __builtin_floor(x); }\n"+
		"double __nv_trunc(double x) { return __builtin_trunc(x); }\n")
	rename := []string{"-x", "c++", "-std=c++17", "-O2", "-w", "-ffp-contract=off", "-I.", "-D__CUDACC__", "-D__CUDACC_RTC__", "-D__device__=", "-D__constant__="}
	for _, s := range states {
		rename = append(rename, fmt.Sprintf("-Depisode_Play_%s=episode_Play_%s_cuda", s.name, s.name))
	}
	clang(t, append(rename, "-c", "-o", object, host)...)
	requests, want := loops(t, 0, 24)
	program := compile(t, "clang", []string{"-O2", "-DSUFFIX=_cuda", object, library}, nil)
	differ := differences(t, play(t, program, requests), want)
	for _, d := range differ[:min(5, len(differ))] {
		t.Error(d)
	}
	t.Logf("%d of %d evaluations differ", len(differ), len(want))

	args := []string{"-x", "cuda", "-std=c++17", "--cuda-device-only", "--cuda-gpu-arch=sm_70", "-nocudainc", "-nocudalib", "-O3", "-w", "-I.", "-S"}
	for _, c := range []struct {
		contract string
		found    bool
	}{{"off", false}, {"fast", true}} {
		clang(t, append(args, "-ffp-contract="+c.contract, "-o", ptx, source)...)
		data, err := os.ReadFile(ptx)
		if err != nil {
			t.Fatal(err)
		}
		bad := regexp.MustCompile(`\b(fma\.rn\.f|mad\.[a-z.]*f(32|64)|(add|sub|mul)\.f(32|64)|\w+\.approx|\w+\.ftz|div\.full)`).FindAll(data, -1)
		if (len(bad) > 0) != c.found || len(data) < 100_000 {
			t.Errorf("contraction %s: %d bytes of PTX with %d fused or approximate instructions", c.contract, len(data), len(bad))
		}
	}
}

func clang(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.Command("clang", args...).CombinedOutput(); err != nil {
		t.Fatalf("clang %v: %v\n%s", args, err, out)
	}
}

// TestLayout holds the sizes of what a host and the translated code share to those of Go.
func TestLayout(t *testing.T) {
	want := fmt.Sprintf("Setup %d\nLane %d\nStream %d\n", unsafe.Sizeof(episode.Setup{}), unsafe.Sizeof(episode.Lane{}), unsafe.Sizeof(noise.Stream{}))
	for _, s := range states {
		want += fmt.Sprintf("%s %d\n", s.name, reflect.TypeOf(s.new()).Elem().Size())
	}
	out, err := exec.Command(compile(t, "gcc", []string{"-O0"}, nil), "sizes").Output()
	if err != nil || string(out) != want {
		t.Errorf("got %s (%v), want %s", out, err, want)
	}
}

// TestStack holds what compilers really give the functions to the bound of the translator's estimate: a tab's worker
// and a GPU run with little.
func TestStack(t *testing.T) {
	if testing.Short() {
		t.Skip("the translator's estimate is enough with -short")
	}
	p, err := program()
	if err != nil {
		t.Fatal(err)
	}
	for _, compiler := range []string{"gcc", "clang"} {
		need(t, compiler)
		object := filepath.Join(t.TempDir(), "worlds.o")
		if out, err := exec.Command(compiler, append(slices.Clone(bare), "-O2", "-fstack-usage", "-c", "-o", object, "worlds.c")...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		usage, err := os.ReadFile(strings.TrimSuffix(object, ".o") + ".su")
		if err != nil {
			t.Fatal(err)
		}
		frames := map[string]int64{}
		for line := range strings.Lines(string(usage)) {
			var bytes int64
			fields := strings.Split(strings.TrimSpace(line), "\t")
			if _, err := fmt.Sscan(fields[1], &bytes); err != nil {
				t.Fatal(err)
			}
			name := fields[0][strings.LastIndexByte(fields[0], ':')+1:]
			name, _, _ = strings.Cut(name, ".") // of a copy for constant arguments
			frames[name] = max(frames[name], bytes)
		}
		bytes, chain, err := p.Deepest(translate.WorldsOptions(), frames)
		if err != nil {
			t.Fatal(err)
		}
		if bytes < 2000 || bytes > 16<<10 {
			t.Errorf("%s: %d bytes of stack, want at most 16 KiB, and more than 2000: %v", compiler, bytes, chain)
		}
		t.Logf("%s: %d bytes of stack: %v", compiler, bytes, chain)
	}
}

// need skips a test for a compiler that is not there, with -short, and fails it otherwise.
func need(t *testing.T, compiler string) {
	t.Helper()
	if _, err := exec.LookPath(compiler); err != nil {
		if testing.Short() {
			t.Skipf("%v: apt-get install %s", err, compiler)
		}
		t.Fatalf("%v: apt-get install %s", err, compiler)
	}
}

// compile makes testdata/play.c with the worlds, and with the portable kernels, translated too. It returns the program.
func compile(t *testing.T, compiler string, flags []string, options func(*translate.Options)) string {
	t.Helper()
	need(t, compiler)
	p, err := program()
	if err != nil {
		t.Fatal(err)
	}
	o := translate.WorldsOptions()
	var types []string
	for _, w := range o.Worlds {
		types = append(types, w.Type)
	}
	hashes, err := p.Hashes(o, append(types, "internal/noise.Stream")...)
	if err != nil {
		t.Fatal(err)
	}
	kernels, err := p.Translate(translate.Options{Target: translate.C, Roots: []translate.Root{
		{Name: "internal/kernel.Dense"}, {Name: "internal/kernel.DenseBatch"}, {Name: "internal/kernel.Tanh"}, {Name: "internal/kernel.Relu"},
		{Name: "internal/kernel.Perturb"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	source := filepath.Join(".", "worlds.c")
	if options != nil {
		options(&o)
		text, err := p.Translate(o)
		if err != nil {
			t.Fatal(err)
		}
		source = filepath.Join(dir, "worlds.c")
		writeFile(t, source, "#include \"prelude.h\"\n"+text)
	}
	writeFile(t, filepath.Join(dir, "hashes.c"), hashes)
	writeFile(t, filepath.Join(dir, "kernels.c"), "#include \"prelude.h\"\n"+kernels)
	program := filepath.Join(dir, "play")
	args := append(slices.Clone(bare), flags...)
	if compiler == "gcc" {
		args = append(args, gcc...)
	}
	args = append(args, "-I.", "-I"+dir, fmt.Sprintf("-DWORLDS=%q", source), fmt.Sprintf("-DHASHES=%q", filepath.Join(dir, "hashes.c")),
		"-o", program, filepath.Join("testdata", "play.c"), filepath.Join(dir, "kernels.c"), "-lm")
	if out, err := exec.Command(compiler, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", compiler, err, out)
	}
	return program
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// answer is what a request must give, and what it is.
type answer struct{ what, answer string }

// request is the head of a request of testdata/play.c.
type request struct {
	Kind, World, Variant, Obs, Act, Steps int32
	Seed                                  uint64
	Params                                int64
	Values                                [32]float64 // of the parameters of the environment
}

// script makes requests and plays them in Go.
func script(t *testing.T) (requests []byte, want []answer) {
	t.Helper()
	var b bytes.Buffer
	write(&b, noise.Table()[:])
	for _, g := range games(t, &b) {
		few := min(6, max(1, 4000/g.spec.MaxSteps))
		for seed := range uint64(few) {
			want = append(want, g.actions(seed, random, g.spec.MaxSteps, false), g.actions(seed, random, 300, true))
			if g.Name() == "lunarlander" {
				want = append(want, g.actions(seed, steered, g.spec.MaxSteps, false))
			}
		}
		for k := range uint64(8) {
			want = append(want, g.evaluation(t, k, 1+int(k%7), 60+int64(k%5)*40+int64(k/7%2)*300))
		}
	}
	return b.Bytes(), want
}

// loops makes requests for evaluations first to end-1 in each world and plays them in Go.
func loops(t *testing.T, first, end int) (requests []byte, want []answer) {
	t.Helper()
	var b bytes.Buffer
	write(&b, noise.Table()[:])
	for _, g := range games(t, &b) {
		for k := first; k < end; k++ {
			want = append(want, g.evaluation(t, uint64(k), 1+k%7, 60+int64(k%5)*40+int64(k/7%2)*300))
		}
	}
	return b.Bytes(), want
}

// games are all worlds, then those that have parameters with others, whose requests are written to b.
func games(t *testing.T, b *bytes.Buffer) (list []*game) {
	t.Helper()
	for _, w := range worlds.Table {
		index := slices.IndexFunc(states, func(s struct {
			name string
			new  func() state
		}) bool {
			return s.name == w.Name()
		})
		spec, err := envs.Find(w.ID)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, &game{&w, index, spec, b})
	}
	for _, g := range list {
		if len(g.spec.Params) > 0 {
			list = append(list, &game{g.World, g.index, worlds.Unlike(g.spec), b})
		}
	}
	return list
}

func write(b *bytes.Buffer, x any) {
	if err := binary.Write(b, binary.LittleEndian, x); err != nil {
		panic(err)
	}
}

// game is a world, and where its requests are written.
type game struct {
	*worlds.World
	index int
	spec  *envs.Spec
	b     *bytes.Buffer
}

// request returns the head of a request.
func (g *game) request(kind, obs, act, steps int32, seed uint64) request {
	values := g.spec.Values()
	r := request{kind, int32(g.index), g.Variant, obs, act, steps, seed, int64(len(values)), [32]float64{}}
	copy(r.Values[:], values)
	return r
}

// name is the id, with what parameters have no defaults.
func (g *game) name() string {
	if given := g.spec.Given(); given != nil {
		return fmt.Sprintf("%s %v", g.ID, given)
	}
	return g.ID
}

type controller func(spec *envs.Spec, chance *noise.Stream, obs []float32, act []float64)

// random draws actions, now and then one that is none.
func random(spec *envs.Spec, chance *noise.Stream, _ []float32, act []float64) {
	for i := range act {
		act[i] = chance.UniformIn(-1.5, 3.9)
		if !spec.Action.Discrete {
			act[i] = chance.UniformIn(float64(1.2*spec.Action.Low[i]), float64(1.2*spec.Action.High[i]))
		}
		if chance.Uint32()%64 == 0 {
			act[i] = []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e300}[chance.Uint32()%4]
		}
	}
}

// steered is the controller of Gymnasium's lunar_lander.py, which lands.
func steered(spec *envs.Spec, _ *noise.Stream, obs []float32, act []float64) {
	var s [8]float64
	for i := range s {
		s[i] = float64(obs[i])
	}
	lean := min(max(float64(s[0]*0.5)+s[2], -0.4), 0.4)
	turn := float64((lean-s[4])*0.5) - s[5]
	rise := float64((float64(0.55*math.Abs(s[0]))-s[1])*0.5) - float64(s[3]*0.5)
	if s[6] != 0 || s[7] != 0 {
		turn, rise = 0, -float64(s[3]*0.5)
	}
	if !spec.Action.Discrete {
		act[0], act[1] = min(max(float64(rise*20)-1, -1), 1), min(max(float64(-turn*20), -1), 1)
		return
	}
	act[0] = 0
	switch {
	case rise > math.Abs(turn) && rise > 0.05:
		act[0] = 2
	case turn < -0.05:
		act[0] = 3
	case turn > 0.05:
		act[0] = 1
	}
}

// actions plays one episode in Go, of at most limit steps, also after its end if beyond, and writes its actions.
func (g *game) actions(seed uint64, control controller, limit int, beyond bool) answer {
	s := states[g.index].new()
	s.Choose(g.Variant)
	for i, x := range g.spec.Values() {
		s.Set(int32(i), x)
	}
	rng, chance := noise.NewStream(seed, noise.DomainEpisode), noise.NewStream(seed, noise.DomainInit)
	obs, act := make([]float32, g.spec.ObsDim), make([]float64, g.spec.Action.Dim)
	s.Begin(&rng, obs)
	h := see(1, obs)
	var given []float64
	steps, over := 0, false
	for ; steps < limit && (!over || beyond); steps++ {
		control(g.spec, &chance, obs, act)
		given = append(given, act...)
		var reward float64
		reward, over = s.Act(&rng, act, obs)
		end := uint64(0)
		if over {
			end = 1
		}
		h = see(mix(mix(h, math.Float64bits(reward)), end), obs)
	}
	write(g.b, g.request(0, int32(len(obs)), int32(len(act)), int32(steps), seed))
	write(g.b, given)
	return answer{fmt.Sprintf("%s, seed %d, %d steps of actions", g.name(), seed, steps),
		fmt.Sprintf("%016x %016x", h, hash(hash(1, reflect.ValueOf(rng)), reflect.ValueOf(s).Elem()))}
}

// evaluation plays n episodes of a random policy in Go, of at most limit env-steps, and writes what they consist of. k
// names policy and conditions.
func (g *game) evaluation(t *testing.T, k uint64, n int, limit int64) answer {
	p := policySpec(g.spec, k)
	net, err := policy.New(p, g.spec)
	if err != nil {
		t.Fatal(err)
	}
	chance := noise.NewStream(k, noise.DomainInit)
	theta := make([]float32, net.Dim())
	for i := range theta {
		theta[i] = chance.Normal()
	}
	s := episode.Setup{
		Net: net.Network(), ObsDim: int32(g.spec.ObsDim), ActDim: int32(net.ActDim()), Widest: int32(net.Widest()),
		Lanes: []int32{1, 2, 5, 16}[k%4], Hold: []int32{1, 1, 3}[k%3], Limit: limit,
	}
	var norm []float32
	if k%5 == 1 {
		s.Normalize, s.Clip = true, 3
		for range 2 * g.spec.ObsDim {
			norm = append(norm, chance.Normal())
		}
	}
	if k%5 == 2 {
		s.Bonus, s.Penalty = 0.25, 0.5
	}
	if k%3 == 1 && !g.spec.Action.Discrete {
		s.Jitter = 0.1
	}
	seeds, returns := make([]uint64, n), make([]float64, n)
	for i := range seeds {
		seeds[i] = chance.Uint64()
	}
	var sums []uint64
	if k%2 == 1 {
		sums = make([]uint64, len(seeds)*episode.SumsLen(g.spec.ObsDim))
	}
	bounds := append(slices.Clone(g.spec.Action.Low), g.spec.Action.High...)
	var all []envs.Env
	for range s.Lanes {
		all = append(all, g.spec.New())
	}
	mem, work := make([]float32, s.Values()), make([]float64, s.Reals())
	steps := episode.Play(&s, all, make([]episode.Lane, s.Lanes), seeds, theta, norm, mem, bounds, work, returns, sums)

	write(g.b, g.request(1, s.ObsDim, s.ActDim, 0, 0))
	g.b.Write(unsafe.Slice((*byte)(unsafe.Pointer(&s)), unsafe.Sizeof(s)))
	write(g.b, []int64{int64(len(seeds)), int64(len(theta)), int64(len(norm)), int64(len(sums)), int64(len(bounds)), int64(len(mem))})
	write(g.b, seeds)
	write(g.b, theta)
	write(g.b, norm)
	write(g.b, bounds)
	h, sum := mix(1, uint64(steps)), uint64(1)
	for _, r := range returns {
		h = mix(h, math.Float64bits(r))
	}
	for _, x := range sums {
		sum = mix(sum, x)
	}
	return answer{fmt.Sprintf("%s, policy %d (%v), %d steps", g.name(), k, p, steps), fmt.Sprintf("%016x %016x", h, sum)}
}

// policySpec is a policy for the environment: linear or not, with all heads and activations in turn.
func policySpec(spec *envs.Spec, k uint64) policy.Spec {
	p := policy.Spec{Kind: "mlp", Hidden: []uint64{16}, Activation: "tanh", Bias: k%3 != 0, Head: "argmax"}
	switch k % 4 {
	case 1:
		p.Kind, p.Hidden, p.Activation = "linear", nil, ""
	case 2:
		p.Hidden, p.Activation = []uint64{13, 7}, "relu"
	}
	if !spec.Action.Discrete {
		p.Head = "clip"
		if k%2 == 0 {
			p.Head, p.Bins = "bins", 5
		}
	}
	return p
}

// mix, see and hash are those of prelude.h, testdata/play.c and translate.Program.Hashes.

func mix(h, x uint64) uint64 {
	h ^= x
	h *= 0x100000001b3
	return h ^ h>>29
}

func see(h uint64, obs []float32) uint64 {
	for _, x := range obs {
		h = mix(h, uint64(math.Float32bits(x)))
	}
	return h
}

func hash(h uint64, v reflect.Value) uint64 {
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			return mix(h, 1)
		}
		return mix(h, 0)
	case reflect.Int, reflect.Int32, reflect.Int64:
		return mix(h, uint64(v.Int()))
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return mix(h, v.Uint())
	case reflect.Float32:
		return mix(h, uint64(math.Float32bits(float32(v.Float()))))
	case reflect.Float64:
		return mix(h, math.Float64bits(v.Float()))
	case reflect.Struct:
		for i := range v.NumField() {
			h = hash(h, v.Field(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			h = hash(h, v.Index(i))
		}
	default:
		panic("a State has a " + v.Kind().String())
	}
	return h
}
