package cli

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/internal/solo"
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
	if status := report(&IO{Err: &stderr}, r.close(), false); status != 1 || !strings.Contains(stderr.String(), "curve.csv") || !strings.Contains(stderr.String(), "hint: the log has every generation") {
		t.Errorf("status %d: %s", status, stderr.String())
	}
}
