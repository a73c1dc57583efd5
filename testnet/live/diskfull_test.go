package live

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evoswarm/evoswarm/internal/peer"
)

// TestFullDisk: row 27. The disk of one of three nodes is full. It says so, does not lead and holds nobody up; with
// room again it takes part again, without a restart.
func TestFullDisk(t *testing.T) {
	if !sandbox(t) {
		return
	}
	small := filepath.Join(t.TempDir(), "small")
	if err := os.Mkdir(small, 0o700); err != nil {
		t.Fatal(err)
	}
	shell(t, `ip link set lo up
		mount -t tmpfs -o size=192k tmpfs %s`, small)
	t.Cleanup(func() { shell(t, "umount -l %s", small) })
	var s swarm
	first := s.newNode(t, "bootstrap", "--bootstrap", "--train", "CartPole-v1").start(t)
	s.await(t, "the first answers", func() string {
		if _, err := first.status(); err != nil {
			return err.Error()
		}
		return ""
	})
	full := s.newNode(t, "full", "join", first.page)
	full.data = filepath.Join(small, "data")
	full.args[len(full.args)-1] = full.data
	full.start(t)
	third := s.newNode(t, "third", "join", first.page).start(t)
	s.await(t, "the full disk is noticed", func() string {
		st, err := full.status()
		if err != nil {
			return err.Error()
		}
		if st.Reason != peer.DiskFull || !strings.Contains(st.Why, "disk is full") || st.Leads {
			return fmt.Sprintf("at height %d it says %q, leads: %t", st.Height, st.Why, st.Leads)
		}
		return ""
	})
	if _, err := full.fetch(client, "/healthz"); err == nil {
		t.Error("a node whose disk is full calls itself healthy")
	}
	others := swarm{nodes: []*node{first, third}}
	others.grown(t, 10)
	shell(t, "mount -o remount,size=64m %s", small)
	s.await(t, "it takes part again", func() string {
		st, err := full.status()
		if err != nil {
			return err.Error()
		}
		if top := others.top(); st.Error != "" || st.Height+5 < top {
			return fmt.Sprintf("at height %d of %d, %s", st.Height, top, st.Why)
		}
		return ""
	})
	s.grown(t, 3)
}
