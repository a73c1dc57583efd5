package daemon

import (
	"strings"
	"testing"

	"github.com/evoswarm/evoswarm/internal/peer"
)

func TestStatusLine(t *testing.T) {
	best, mean, goal := 500.0, 123.45, 475.0
	for _, c := range []struct {
		status peer.Status
		want   string
	}{
		{peer.Status{State: peer.Training, Height: 3, Leads: true, Best: &best, Mean: &mean, EvalsPerS: 99.6, Peers: 2},
			"return -  100 evals/s  height 3  2 peers  leader this node  best 500.0  mean 123.5"},
		{peer.Status{State: peer.Idle, Why: "no run", Leader: "0123456789"},
			"return -  idle: no run  0 evals/s  height 0  0 peers  leader 01234567  best -  mean -"},
		{peer.Status{State: peer.Catching, Why: "catching up: 85 of 185, 20 s"},
			"return -  catching up: 85 of 185, 20 s  0 evals/s  height 0  0 peers  leader nobody  best -  mean -"},
		{peer.Status{State: peer.Paused, Return: &best, Threshold: &goal},
			"return 500.0 (goal 475)  paused  0 evals/s  height 0  0 peers  leader nobody  best -  mean -"},
	} {
		var texts []string
		for _, i := range statusLine(c.status) {
			texts = append(texts, i.Text)
		}
		if got := strings.Join(texts, "  "); got != c.want {
			t.Errorf("statusLine gives %q, want %q", got, c.want)
		}
	}
}
