package httpd

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/evoswarm/evoswarm/internal/store"
)

// fixedBranches has one branch, whose log cannot be read to its end if torn is set.
type fixedBranches struct {
	names []string
	torn  bool
}

func (f *fixedBranches) RenameBranch(from, to string) error {
	if err := f.find(from); err != nil {
		return err
	}
	if err := store.CheckBranchName(to); err != nil {
		return err
	}
	f.names[0] = to
	return nil
}

func (f *fixedBranches) RemoveBranch(name string) error { return f.find(name) }

func (f *fixedBranches) find(name string) error {
	if f.names[0] != name {
		return fmt.Errorf("%w: %s", store.ErrNoBranch, name)
	}
	return nil
}

func (f *fixedBranches) WriteBranch(name string, w io.Writer) error {
	if err := f.find(name); err != nil {
		return err
	}
	for range 1000 {
		if _, err := w.Write(make([]byte, 1000)); err != nil {
			return err
		}
	}
	if f.torn {
		return errors.New("a block is missing")
	}
	return nil
}

// branchedNode is a node that works on the run "one".
type branchedNode struct {
	fixedNode
	fixedBranches
}

func (n *branchedNode) Branches(run string) (Branches, error) {
	if run != "one" {
		return nil, ErrOtherRun
	}
	return &n.fixedBranches, nil
}

func TestRemoteBranches(t *testing.T) {
	data := t.TempDir()
	there := RemoteBranches(t.Context(), data, "one")
	for _, err := range []error{there.RemoveBranch("a"), there.RenameBranch("a", "b"), there.WriteBranch("a", io.Discard)} {
		if !errors.Is(err, ErrNotRunning) {
			t.Errorf("without a node: %v", err)
		}
	}
	node := &branchedNode{fixedBranches: fixedBranches{names: []string{"a&b=c d"}}}
	l, err := ListenControl(data)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: NewControlHandler(node)}
	go server.Serve(l)
	defer server.Close()

	if err := there.RenameBranch("a&b=c d", "a"); err != nil || node.names[0] != "a" {
		t.Fatalf("%v, %v", node.names, err)
	}
	refused := func(err error, why string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%v, want %q", err, why)
		}
	}
	refused(there.RenameBranch("a", "../x"), "the node refused to rename: not a name for a branch")
	refused(there.RemoveBranch("b"), "the node refused to remove: no such branch: b")
	refused(RemoteBranches(t.Context(), data, "two").RemoveBranch("a"), "works on another run")
	refused(there.WriteBranch("b", io.Discard), "no such branch: b")

	var b bytes.Buffer
	if err := there.WriteBranch("a", &b); err != nil || b.Len() != 1e6 {
		t.Fatalf("%d bytes, %v", b.Len(), err)
	}
	node.torn = true
	if err := there.WriteBranch("a", io.Discard); err == nil {
		t.Error("a log that broke off was taken for a whole one")
	}
}
