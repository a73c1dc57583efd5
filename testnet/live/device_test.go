package live

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/evoswarm/evoswarm/internal/peer"
)

// openclDevice returns the number of an OpenCL device of this computer.
func openclDevice(t *testing.T) string {
	t.Helper()
	for _, line := range bytes.Split(command(t, evonode(t), "device", "list", "--json"), []byte("\n")) {
		var d struct {
			Number int    `json:"number"`
			Kind   string `json:"kind"`
			Usable bool   `json:"usable"`
		}
		if json.Unmarshal(line, &d) == nil && d.Kind == "opencl" && d.Usable {
			return fmt.Sprint(d.Number)
		}
	}
	if os.Getenv("CI") != "" {
		t.Fatal("no OpenCL device, where .ci/tools has installed one")
	}
	t.Skip("this computer has no OpenCL device: apt-get install pocl-opencl-icd")
	return ""
}

// TestDeviceSwarm: a node, a tab, and a node whose candidates all run on an OpenCL device train one run. Each has
// evaluations in the log, and the cores agree with all of them.
func TestDeviceSwarm(t *testing.T) {
	device := openclDevice(t)
	var s swarm
	first := s.serve(t, "cores", "--bootstrap", "--train", "CartPole-v1", "--gpu", "off")
	gpu := s.newNode(t, "device", "join", first.page, "--gpu", device, "--gpu-only").start(t)
	b := s.newTab(t, first.page)
	b.open(t)
	s.await(t, "each node has evaluations in the log", func() string {
		return s.each(func(_ *node, st peer.Status) string {
			if st.Mine == 0 {
				return "has none: " + st.Why
			}
			return ""
		})
	})
	s.await(t, "the tab has evaluations in the log", func() string {
		if b.mark("evoswarm-first-claim") < 0 {
			return "the page shows none"
		}
		return ""
	})
	if !gpu.said("computes, after") {
		t.Error("the node with --gpu-only did not say that its device computes")
	}
	if st, err := gpu.status(); err != nil || st.Devices != 1 {
		t.Errorf("its status names %d devices (error %v), want 1", st.Devices, err)
	}
	if gpu.said("not used") {
		t.Error("the node gave its device up")
	}
	var sum struct {
		Evaluations uint64 `json:"evaluations"`
		Checked     uint64 `json:"checked"`
	}
	if err := json.Unmarshal(command(t, evonode(t), "replay", gpu.seedlog(t), "--check", "claims", "--json"), &sum); err != nil {
		t.Fatal(err)
	}
	if sum.Checked == 0 || sum.Checked != sum.Evaluations {
		t.Errorf("the cores checked %d of %d evaluations", sum.Checked, sum.Evaluations)
	}
	t.Logf("%d evaluations in the log, all checked by the cores: %v", sum.Checked, credit(entries(t, gpu.seedlog(t))))
}
