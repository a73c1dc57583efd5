package train

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/internal/solo"
	"github.com/evoswarm/evoswarm/node/verb"
)

// A curve that cannot be written does not stop the training; it is said at the end, once, with what to do.
func TestRecordingFails(t *testing.T) {
	r, err := openRecording(filepath.Join(t.TempDir(), "curve.csv"), filepath.Join(t.TempDir(), "runs"), seedlog.LinkOf(nil).String())
	if err != nil {
		t.Fatal(err)
	}
	r.add(solo.Progress{Gen: 1}, 1)
	if r.failed != nil {
		t.Fatal(r.failed)
	}
	if err := r.records[0].Close(); err != nil { // as if the disk went away
		t.Fatal(err)
	}
	r.add(solo.Progress{Gen: 2}, 2)
	r.add(solo.Progress{Gen: 3}, 3)
	if held := r.records[1].Held(); held != 1 {
		t.Errorf("the other record has %d generations, want 1", held)
	}
	var stderr bytes.Buffer
	p := &verb.Program{Groups: []verb.Group{{Verbs: []*verb.Verb{{Name: "close", Bind: func(*verb.Flags) verb.Run {
		return func(context.Context, *verb.IO, []string) error { return r.close() }
	}}}}}}
	if status := p.Main(t.Context(), []string{"close"}, &verb.IO{Err: &stderr}); status != 1 || !strings.Contains(stderr.String(), "curve.csv") || !strings.Contains(stderr.String(), "hint: the log has every generation") {
		t.Errorf("status %d: %s", status, stderr.String())
	}
}
