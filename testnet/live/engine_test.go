package live

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestEngineFallsBack: a tab whose worlds.wasm is of no use plays in Go and says why.
func TestEngineFallsBack(t *testing.T) {
	program, err := build("engine.wasm", "./testnet/live/testdata/engine", "GOOS=js", "GOARCH=wasm")
	if err != nil {
		t.Fatal(err)
	}
	script, err := filepath.Abs(filepath.Join(root, "testnet", "wasmexec", "node.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(filepath.Join(root, "internal", "worlds", "worlds.wasm"))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		module []byte
		flags  []string
		world  string
		want   string
	}{
		"as it is":      {whole, nil, "CartPole-v1", "c\n"},
		"lander":        {whole, nil, "LunarLander-v3", "c\n"},
		"without SIMD":  {whole, []string{"--no-enable-sse4-1"}, "CartPole-v1", "go\nworlds: no translated worlds: this browser or processor lacks the vector instructions of WebAssembly\n"},
		"cut off":       {whole[:len(whole)/2], nil, "CartPole-v1", "go\nworlds: no translated worlds: worlds.wasm is damaged\n"},
		"empty":         {nil, nil, "CartPole-v1", "go\nworlds: no translated worlds: worlds.wasm is damaged\n"},
		"other build":   {otherBuild(t, whole), nil, "CartPole-v1", "go\nworlds: no translated worlds: worlds.wasm is of another build than this program\n"},
		"other gravity": {otherReal(t, whole, 9.8, 9.8125), nil, "CartPole-v1", "go\nworlds: bits differ from Go: CartPole-v1, case 0: "},
		"not a world":   {whole, nil, "Nothing-v0", "go\nworlds: no translated worlds: Nothing-v0 is not among them\n"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "worlds.wasm")
			if err := os.WriteFile(file, c.module, 0o644); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("node", append(append([]string{"--stack-size=8192"}, c.flags...), script, program, c.world)...)
			cmd.Dir, cmd.Env = root, append(os.Environ(), "EVOSWARM_WORLDS="+file)
			out, err := cmd.CombinedOutput()
			if err != nil || !strings.HasPrefix(string(out), c.want) {
				t.Errorf("got %q, %v; want %q", out, err, c.want)
			}
		})
	}
}

// otherBuild changes what the function build of a module returns: an i64.const, its function's only instruction.
func otherBuild(t *testing.T, module []byte) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "internal", "worlds", "build.go"))
	if err != nil {
		t.Fatal(err)
	}
	_, digits, _ := strings.Cut(string(text), "build uint64 = 0x")
	var name uint64
	for _, c := range strings.TrimSpace(digits) {
		name = name<<4 | uint64(strings.IndexRune("0123456789abcdef", c))
	}
	var leb []byte
	for x := int64(name); ; x >>= 7 {
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
// what they computed is in the log.
func TestEngineInBrowsers(t *testing.T) {
	for name, open := range map[string]func(t *testing.T, s *swarm, url string) (text func() string){
		"Chromium": func(t *testing.T, s *swarm, url string) func() string {
			b := s.newTab(t, url)
			b.open(t)
			return b.describe
		},
		"Firefox": func(t *testing.T, s *swarm, url string) func() string {
			f := newFirefox(t)
			f.open(t, url)
			return func() string {
				text, err := f.text("document.body.innerText")
				return fmt.Sprint(text, " ", err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			var s swarm
			first := s.newNode(t, "first", "--bootstrap", "--train", "LunarLander-v3")
			first.start(t)
			// Firefox puts off a WebSocket to an address that has refused one, up to a minute.
			s.await(t, "the node trains", func() string {
				if st, err := first.status(); err != nil || st.Height == 0 {
					return fmt.Sprintf("height %d, %v", st.Height, err)
				}
				return ""
			})
			text := open(t, &s, first.page)
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
		})
	}
}
