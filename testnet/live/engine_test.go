package live

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// TestEngineFallsBack: a tab of which a module of worlds is of no use plays that module's worlds in Go and says why.
func TestEngineFallsBack(t *testing.T) {
	program, err := build("engine.wasm", "./testnet/live/testdata/engine", "GOOS=js", "GOARCH=wasm")
	if err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs(filepath.Join(root, "testnet", "wasmexec", "node.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	const absent = "go\nworlds: no translated worlds: "
	flat, space := module(t, "worlds"), module(t, "mujoco")
	for name, c := range map[string]struct {
		flat, space []byte
		flags       []string
		world       string
		want        string
	}{
		"as it is":           {flat, space, nil, "CartPole-v1", "c\n"},
		"lander":             {flat, space, nil, "LunarLander-v3", "c\n"},
		"cheetah":            {flat, space, nil, "HalfCheetah-v5", "c\n"},
		"without SIMD":       {flat, space, []string{"--no-enable-sse4-1"}, "CartPole-v1", absent + "this browser or processor lacks the vector instructions of WebAssembly\n"},
		"cut off":            {flat[:len(flat)/2], space, nil, "CartPole-v1", absent + "worlds.wasm is damaged\n"},
		"empty":              {nil, space, nil, "CartPole-v1", absent + "worlds.wasm is damaged\n"},
		"mujoco cut off":     {flat, space[:len(space)/2], nil, "Hopper-v5", absent + "mujoco.wasm is damaged\n"},
		"the other cut off":  {flat, space[:len(space)/2], nil, "CartPole-v1", "c\n"},
		"other build":        {otherBuild(t, flat, "worlds"), space, nil, "CartPole-v1", absent + "worlds.wasm is of another build than this program\n"},
		"mujoco other build": {flat, otherBuild(t, space, "mujoco"), nil, "Ant-v5", absent + "mujoco.wasm is of another build than this program\n"},
		"interchanged":       {space, flat, nil, "CartPole-v1", absent + "worlds.wasm is of another build than this program\n"},
		"other gravity":      {otherReal(t, flat, 9.8, 9.8125), space, nil, "CartPole-v1", "go\nworlds: bits differ from Go: CartPole-v1, case 0: "},
		"other timestep":     {flat, otherReal(t, space, 0.01, 0.0101), nil, "HalfCheetah-v5", "go\nworlds: bits differ from Go: HalfCheetah-v5, case 0: "},
		"not a world":        {flat, space, nil, "Nothing-v0", absent + "Nothing-v0 is not among them\n"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for name, data := range map[string][]byte{"worlds.wasm": c.flat, "mujoco.wasm": c.space} {
				if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.Command("node", append(append([]string{"--stack-size=8192"}, c.flags...), script, program, c.world)...)
			cmd.Dir, cmd.Env = root, append(os.Environ(), "EVOSWARM_WORLDS="+dir)
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.HasPrefix(string(out), c.want) {
				t.Errorf("got %q, %v; want %q", out, err, c.want)
			}
		})
	}
}

// module reads a module of worlds.
func module(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, "internal", "worlds", name+".wasm"))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// otherBuild changes what the function build of a module returns: an i64.const, its function's only instruction.
func otherBuild(t *testing.T, module []byte, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "internal", "worlds", "build.go"))
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`0x([0-9a-f]{16}), // ` + name).FindSubmatch(text)
	if line == nil {
		t.Fatalf("build.go has no build of %s", name)
	}
	build, err := strconv.ParseUint(string(line[1]), 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	var leb []byte
	for x := int64(build); ; x >>= 7 {
		if low := byte(x & 0x7f); x>>6 == 0 || x>>6 == -1 {
			leb = append(leb, low)
			break
		} else {
			leb = append(leb, low|0x80)
		}
	}
	changed := append([]byte(nil), leb...)
	changed[0] ^= 1
	return replaced(t, module, append([]byte{0x42}, leb...), append([]byte{0x42}, changed...))
}

// otherReal changes all f64 constants of a value.
func otherReal(t *testing.T, module []byte, old, changed float64) []byte {
	t.Helper()
	constant := func(x float64) []byte {
		return binary.LittleEndian.AppendUint64([]byte{0x44}, math.Float64bits(x))
	}
	return replaced(t, module, constant(old), constant(changed))
}

func replaced(t *testing.T, module, old, changed []byte) []byte {
	t.Helper()
	if !bytes.Contains(module, old) {
		t.Fatalf("worlds.wasm does not contain % x", old)
	}
	return bytes.ReplaceAll(module, old, changed)
}

// TestEngineInBrowsers: in a tab of Chromium and in one of Firefox the translated worlds play, the page says so, and
// what they computed is in the log. A tab fetches what its run needs, and nothing of other worlds.
func TestEngineInBrowsers(t *testing.T) {
	chromium := func(t *testing.T, s *swarm, url string) func() string {
		b := s.newTab(t, url)
		b.open(t)
		return b.describe
	}
	firefox := func(t *testing.T, s *swarm, url string) func() string {
		f := newFirefox(t)
		f.open(t, url)
		return func() string {
			text, err := f.text("document.body.innerText")
			return fmt.Sprint(text, " ", err)
		}
	}
	flat, space := []string{"compute", "tab", "worlds"}, []string{"compute_mujoco", "mujoco", "tab"}
	for name, c := range map[string]struct {
		env     string
		open    func(t *testing.T, s *swarm, url string) (text func() string)
		fetched []string
	}{
		"lander in Chromium":  {"LunarLander-v3", chromium, flat},
		"lander in Firefox":   {"LunarLander-v3", firefox, flat},
		"cheetah in Chromium": {"HalfCheetah-v5", chromium, space},
		"hopper in Firefox":   {"Hopper-v5", firefox, space},
	} {
		t.Run(name, func(t *testing.T) {
			var s swarm
			first := s.newNode(t, "first", "--bootstrap", "--train", c.env)
			first.start(t)
			// Firefox puts off a WebSocket to an address that has refused one, up to a minute.
			s.await(t, "the node trains", func() string {
				if st, err := first.status(); err != nil || st.Height == 0 {
					return fmt.Sprintf("height %d, %v", st.Height, err)
				}
				return ""
			})
			url, programs, _ := watched(t, first.page)
			text := c.open(t, &s, url)
			for _, words := range []string{"Your computer is helping", "Engine: c."} {
				s.await(t, "the page says "+words, func() string {
					if got := text(); !strings.Contains(got, words) {
						return got
					}
					return ""
				})
			}
			s.await(t, "the log has claims of the tab", func() string {
				if authors := credit(entries(t, first.seedlog(t))); len(authors) < 2 {
					return fmt.Sprint(authors, " ", text())
				}
				return ""
			})
			if got := programs(); !slices.Equal(got, c.fetched) {
				t.Errorf("the page fetched %v, want %v", got, c.fetched)
			}
		})
	}
}

// watched serves what page serves, and knows which programs were fetched since forget was called.
func watched(t *testing.T, page string) (address string, programs func() []string, forget func()) {
	t.Helper()
	target, err := url.Parse(page)
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	fetched := map[string]bool{}
	proxy := httputil.NewSingleHostReverseProxy(target)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name, _, ok := strings.Cut(strings.TrimPrefix(r.URL.Path, "/assets/"), "-"); ok && strings.HasSuffix(r.URL.Path, ".wasm") {
			mu.Lock()
			fetched[name] = true
			mu.Unlock()
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	return server.URL + "/", func() []string {
			mu.Lock()
			defer mu.Unlock()
			return slices.Sorted(maps.Keys(fetched))
		}, func() {
			mu.Lock()
			defer mu.Unlock()
			clear(fetched)
		}
}
