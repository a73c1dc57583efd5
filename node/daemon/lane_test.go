package daemon

import (
	"errors"
	"testing"

	"github.com/evoswarm/evoswarm/internal/peer"
)

// A lane without a run says why; one that moves on to the next run is not at fault.
func TestLaneWithoutARun(t *testing.T) {
	n := start(t, t.TempDir())
	for _, test := range []struct {
		err        error
		why, fault string
	}{
		{nil, "no run yet: start the node with --train ENV", ""},
		{errMoving, "the next run begins", ""},
		{errors.New("a bad disk"), "the run does not start; it is tried again each minute", "a bad disk"},
	} {
		l := &lane{node: n, number: 1}
		l.down(test.err)
		if s := l.Status(); s.State != peer.Idle || s.Reason != peer.NoRun || s.Why != test.why || s.Error != test.fault || s.Self != n.Status().Self {
			t.Errorf("%v: the status is %+v", test.err, s)
		}
		if got := l.Addresses(); len(got) > 0 || len(l.Curve()) > 0 || l.WriteLog(nil) == nil {
			t.Errorf("%v: it has addresses %v, a curve or a log", test.err, got)
		}
	}
}
