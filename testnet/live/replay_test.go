package live

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/evoswarm/evoswarm/internal/peer"
)

// crossBuilds are the programs that replay a log on other processors.
type crossBuilds struct {
	arm64, js string // evonode, and testdata/replay
	qemu      string
	node      string // the script that runs a program under Node
}

func buildCross(t *testing.T) (b crossBuilds) {
	t.Helper()
	b.node = filepath.Join(root, "testnet", "wasmexec", "node.mjs")
	var err error
	if b.qemu, err = exec.LookPath("qemu-aarch64"); err != nil {
		t.Fatalf("%v: apt-get install qemu-user", err)
	}
	if b.arm64, err = build("evonode.arm64", "./node/evonode", "-tags=nogpu", "GOOS=linux", "GOARCH=arm64"); err != nil {
		t.Fatal(err)
	}
	if b.js, err = build("replay.wasm", "./testnet/live/testdata/replay", "GOOS=js", "GOARCH=wasm"); err != nil {
		t.Fatal(err)
	}
	return b
}

// replayed is what evonode replay --json says.
type replayed struct {
	Height  uint64 `json:"height"`
	Head    string `json:"head"`
	Theta   string `json:"theta"`
	Checked uint64 `json:"checked"`
}

func parseReplay(t *testing.T, data []byte) (r replayed) {
	t.Helper()
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	return r
}

// replayAll rebuilds the model at the tab's head from all four logs, on three kinds of processor.
func (s *scenario) replayAll(t *testing.T) {
	var tabLog string
	var height uint64
	s.await(t, "the nodes have the head of the tab's log", func() string {
		tabLog = s.download(t)
		list := entries(t, tabLog)
		last := list[len(list)-1]
		height = last.Height
		return s.each(func(n *node, _ peer.Status) string {
			got := entries(t, n.seedlog(t))
			if uint64(len(got)) < height || got[height-1].CID != last.CID {
				return fmt.Sprintf("has no %s at height %d", last.CID, height)
			}
			return ""
		})
	})
	st, err := s.nodes[0].status()
	if err != nil {
		t.Fatal(err)
	}
	logs := []string{tabLog}
	for _, n := range s.nodes {
		n.stop(t)
		logs = append(logs, filepath.Join(n.data, st.Run+".seedlog"))
	}
	at := strconv.FormatUint(height, 10)
	want := parseReplay(t, command(t, evonode(t), "replay", tabLog, "--at", at, "--check", "claims", "--json"))
	if want.Height != height || want.Theta == "" || want.Checked == 0 {
		t.Fatalf("got %+v", want)
	}
	for _, log := range logs {
		amd64 := parseReplay(t, command(t, evonode(t), "replay", log, "--at", at, "--json"))
		arm64 := parseReplay(t, command(t, s.builds.qemu, s.builds.arm64, "replay", log, "--at", at, "--json"))
		js := strings.TrimSpace(string(command(t, s.builds.node, s.builds.js, log, at)))
		for target, got := range map[string]string{"amd64": amd64.Theta, "arm64": arm64.Theta, "js": js} {
			if got != want.Theta {
				t.Errorf("%s on %s: got theta %s at height %d, want %s", log, target, got, height, want.Theta)
			}
		}
	}
	t.Logf("height %d: theta %s from %d logs on amd64, arm64 and js; %d evaluations run again", height, want.Theta, len(logs), want.Checked)
}
