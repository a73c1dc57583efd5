package cli

import (
	"strings"
	"testing"
	"time"

	"github.com/evoswarm/evoswarm/internal/peer"
)

func TestLiveLineOnTerminal(t *testing.T) {
	var out strings.Builder
	l := &liveLine{w: &out, terminal: true}
	now := time.Unix(100, 0)
	l.show(now, "first line")
	l.show(now.Add(time.Millisecond), "too soon")
	l.show(now.Add(time.Second), "second")
	if _, err := l.Write([]byte("a record\n")); err != nil {
		t.Fatal(err)
	}
	want := "\rfirst line\rsecond    \r      \ra record\n"
	if got := out.String(); got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
	out.Reset()
	l.show(now.Add(2*time.Second), strings.Repeat("x", 200))
	if got := len(out.String()); got != 80 {
		t.Errorf("a long line takes %d characters, want those of a terminal of 80 columns", got)
	}
}

func TestLiveLineElsewhere(t *testing.T) {
	var out strings.Builder
	l := &liveLine{w: &out, every: 5 * time.Second}
	for i := range 12 {
		l.show(time.Unix(100+int64(i), 0), "x")
	}
	l.clear()
	if got, want := out.String(), "x\nx\nx\n"; got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
	out.Reset()
	l.every = 0
	l.show(time.Unix(1000, 0), "x")
	if out.Len() != 0 {
		t.Errorf("printed %q without a terminal, want nothing", out.String())
	}
}

func TestStatusLine(t *testing.T) {
	best, mean := 500.0, 123.45
	for _, c := range []struct {
		status peer.Status
		want   string
	}{
		{peer.Status{State: peer.Training, Height: 3, Leads: true, Best: &best, Mean: &mean, EvalsPerS: 99.6, Peers: 2},
			"height 3  leader this node  100 evals/s  peers 2  best 500.0  mean 123.5"},
		{peer.Status{State: peer.Idle, Why: "no run", Leader: "0123456789"},
			"height 0  leader 01234567  0 evals/s  peers 0  best -  mean -  idle: no run"},
		{peer.Status{State: peer.Paused, Return: &best},
			"height 0  leader nobody  0 evals/s  peers 0  best -  mean -  policy 500.0  paused"},
	} {
		if got := statusLine(c.status); got != c.want {
			t.Errorf("statusLine gives %q, want %q", got, c.want)
		}
	}
}
