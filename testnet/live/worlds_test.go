package live

import (
	"os"
	"os/exec"
	"testing"
)

// TestWorldsInChromium plays the golden episodes of all environments in a browser's worker, and the golden
// evaluations with the translated worlds.
func TestWorldsInChromium(t *testing.T) {
	cmd := exec.Command("go", "test", "-count=1", "-timeout=5m", "-run=^Test(Golden|Use|Play|OtherWorlds)", "-exec="+chromium(t), "./envs/...",
		"./internal/worlds", "./internal/rollout", "./internal/presets")
	cmd.Dir, cmd.Env = root, append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
