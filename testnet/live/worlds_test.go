package live

import (
	"os"
	"os/exec"
	"testing"
)

// TestWorldsInChromium plays the golden episodes of all environments in a browser's worker.
func TestWorldsInChromium(t *testing.T) {
	cmd := exec.Command("go", "test", "-count=1", "-timeout=5m", "-run=^TestGolden", "-exec="+chromium(t), "./envs/...")
	cmd.Dir, cmd.Env = root, append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
