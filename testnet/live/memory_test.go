package live

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestMemory leaves the page open in a browser that no test drives, and says how much memory the tab's process has for
// itself. Tools that are connected, as in all other tests, keep what was fetched, and the messages of the console: 150
// MiB more. A visit must not need more and more.
func TestMemory(t *testing.T) {
	var s swarm
	n := s.visited(t)
	args := []string{"--headless=new", "--no-sandbox", "--no-first-run", "--window-size=1280,900", "--user-data-dir=" + t.TempDir()}
	for _, f := range chromiumFlags {
		args = append(args, "--"+f)
	}
	browser := exec.Command("chromium", append(args, n.page)...)
	if err := browser.Start(); err != nil {
		t.Fatalf("starting Chromium: %v", err)
	}
	t.Cleanup(func() {
		browser.Process.Signal(os.Interrupt)
		browser.Wait()
	})
	s.await(t, "the tab takes part", func() string {
		if status, err := n.status(); err != nil || status.Volunteers < 2 {
			return "no volunteer but the node"
		}
		return ""
	})
	const readings = 12
	var memory [readings]int
	for i := range readings {
		time.Sleep(*visitTime / readings)
		memory[i] = mostMemory(processesOf(t, browser.Process.Pid))
		status, err := n.status()
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("after %v at height %d: %d MiB", *visitTime*time.Duration(i+1)/readings, status.Height, memory[i])
	}
	if first, last := memory[readings/3], memory[readings-1]; last > first+first/2 {
		t.Errorf("the tab took %d MiB after a third of the visit, and %d at its end", first, last)
	}
}

// mostMemory is what the process that has most has for itself, in MiB: that of the tab.
func mostMemory(processes []process) (most int) {
	for _, p := range processes {
		data, err := os.ReadFile(filepath.Join(p.folder, "status"))
		if err != nil {
			continue // it ended meanwhile
		}
		for line := range strings.Lines(string(data)) {
			if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "RssAnon:" {
				kib, _ := strconv.Atoi(fields[1])
				most = max(most, kib>>10)
			}
		}
	}
	return most
}
