package daemon

import (
	"context"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/evoswarm/evoswarm/internal/peer"
	"github.com/evoswarm/evoswarm/internal/runspec"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// start brings a node up that trains alone.
func start(t *testing.T, data string) *Node {
	t.Helper()
	n, err := Start(t.Context(), Config{Data: data, Train: [][]runspec.Options{{{Env: "CartPole-v1", Strategy: "dises"}}}, Workers: 1, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close(context.Background()) })
	return n
}

func TestCurveOutlivesTheNode(t *testing.T) {
	data := t.TempDir()
	n := start(t, data)
	for deadline := time.Now().Add(time.Minute); len(n.lanes[0].Curve()) < 3; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("no learning curve within a minute")
		}
	}
	if err := n.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := n.lanes[0].Curve()

	n = start(t, data)
	if got := n.lanes[0].Curve(); len(got) < len(before) || !slices.Equal(got[:len(before)], before) {
		t.Errorf("after a restart the curve has %d points, %d before: %v, want %v first", len(got), len(before), got, before)
	}
	if s := n.Status(); s.Return == nil || s.ReturnHeight < before[len(before)-1].Height {
		t.Errorf("after a restart the status says return %v of height %d", s.Return, s.ReturnHeight)
	}
	if err := n.Close(t.Context()); err != nil {
		t.Fatal(err)
	}

	// What is damaged, or of another branch, is not taken.
	run, err := seedlog.ParseLink(n.Status().Run)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"[{", `[{"height":1,"head":"bafyother","return":9}]`, `[{"height":99999999,"return":9}]`} {
		d := start(t, data)
		d.Close(t.Context())
		d.data.SaveCurve(run, []byte(text))
		n := start(t, data)
		if i := slices.IndexFunc(n.lanes[0].Curve(), func(p peer.Point) bool { return p.Return == 9 }); i >= 0 {
			t.Errorf("%s: got point %v", text, n.lanes[0].Curve()[i])
		}
		n.Close(t.Context())
	}
}
