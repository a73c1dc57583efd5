package httpd

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/evoswarm/evoswarm/internal/peer"
)

// severalRuns is a node that works on some runs.
type severalRuns []Status

func (n severalRuns) Status() Status {
	s := n[0]
	s.Active = n
	return s
}

func (n severalRuns) Runs() []Run {
	var runs []Run
	for _, s := range n {
		runs = append(runs, oneRun{s})
	}
	return runs
}

type oneRun struct{ status Status }

func (r oneRun) Status() Status { return r.status }
func (r oneRun) Addresses() []string {
	return []string{"/ip4/192.168.1.5/tcp/" + strconv.Itoa(4710+r.status.Peers) + "/ws"}
}
func (r oneRun) Curve() []peer.Point { return []peer.Point{{Head: r.status.Run}} }
func (r oneRun) WriteLog(w io.Writer) error {
	_, err := io.WriteString(w, "log of "+r.status.Run)
	return err
}
func (r oneRun) Roster(context.Context) (*peer.Roster, error) {
	return &peer.Roster{Members: []peer.Member{{Key: r.status.Run}}}, nil
}

// run is the status of a run.
func run(id, env string, peers int, change func(*Status)) Status {
	s := Status{Status: peer.Status{Run: id, Env: env, Peers: peers, State: peer.Training}}
	if change != nil {
		change(&s)
	}
	return s
}

func ended(s *Status)  { s.Ended = true }
func failed(s *Status) { s.Error = "the disk is full" }

// Newcomers without a choice are sent where peers are missed most.
func TestAdvise(t *testing.T) {
	for _, test := range []struct {
		name string
		runs severalRuns
		want int
	}{
		{"one", severalRuns{run("a", "", 4, nil)}, 0},
		{"none", severalRuns{run("", "", 0, nil)}, 0},
		{"fewest peers", severalRuns{run("a", "", 4, nil), run("b", "", 1, nil), run("c", "", 2, nil)}, 1},
		{"the first of equal ones", severalRuns{run("a", "", 2, nil), run("b", "", 1, nil), run("c", "", 1, nil)}, 1},
		{"no run that has ended", severalRuns{run("a", "", 0, ended), run("b", "", 1, nil)}, 1},
		{"no run that does not start", severalRuns{run("", "", 0, failed), run("b", "", 1, nil)}, 1},
		{"no run that cannot be saved", severalRuns{run("a", "", 0, failed), run("b", "", 1, nil)}, 1},
		{"all have ended", severalRuns{run("", "", 0, failed), run("b", "", 1, ended), run("c", "", 0, ended)}, 1},
	} {
		if got := new(advisor).advise(test.runs, time.Now(), true); got != test.want {
			t.Errorf("%s: run %d is advised, want %d", test.name, got, test.want)
		}
	}
}

// Newcomers who come at once are spread over the runs, until those count them.
func TestNewcomersAreSpread(t *testing.T) {
	a, now := new(advisor), time.Now()
	runs := severalRuns{run("a", "", 4, nil), run("b", "", 0, nil), run("c", "", 1, nil)}
	var sent [3]int
	for range 25 {
		sent[a.advise(runs, now, true)]++
	}
	if want := [3]int{6, 10, 9}; sent != want {
		t.Errorf("%v are sent to them, want %v", sent, want)
	}
	for range 5 {
		if got := a.advise(runs, now, false); got != 0 {
			t.Errorf("who only looks is shown run %d", got)
		}
	}
	if got := a.advise(runs, now.Add(arriving), true); got != 1 {
		t.Errorf("later run %d is advised, want that with the fewest peers", got)
	}
	for range 3 * maxSent {
		a.advise(runs, now.Add(arriving), true)
	}
	if len(a.sent) != maxSent {
		t.Errorf("%d newcomers are counted, at most %d", len(a.sent), maxSent)
	}
}

// Each view is of the run that is asked for; without, of the first, and addresses of the advised.
func TestViewsOfRuns(t *testing.T) {
	h := NewHandler(severalRuns{run("bafya", "CartPole-v1", 3, nil), run("bafyb", "Pendulum-v1", 1, nil)})
	for _, test := range []struct {
		path   string
		status int
		part   string
	}{
		{"/api/status", 200, `"active":[{"run":"bafya"`},
		{"/api/status?run=bafyb", 200, `{"run":"bafyb"`},
		{"/api/status?run=bafyc", 404, "/api/runs lists"},
		{"/api/log", 200, "log of bafya"},
		{"/api/log?run=bafyb", 200, "log of bafyb"},
		{"/api/log?run=%00%2e%2e", 404, "/api/runs lists"},
		{"/api/curve?run=bafyb", 200, `"head":"bafyb"`},
		{"/api/peers?run=bafyb", 200, `"key":"bafyb"`},
		{"/api/peers?run=x", 404, "/api/runs lists"},
		{"/api/runs", 200, `"advised":"bafyb","runs":[{"run":"bafya","env":"CartPole-v1"`},
		{"/addresses.json?run=bafya", 200, `"run":"bafyb","env":"Pendulum-v1","addresses":["/dns/swarm.example.org/tcp/4711/ws"`},
		{"/addresses.json", 200, `{"run":"bafya","env":"CartPole-v1","addresses":["/dns/swarm.example.org/tcp/4713/ws"`},
	} {
		resp, body := get(t, h, "GET", test.path)
		if resp.StatusCode != test.status || !strings.Contains(body, test.part) {
			t.Errorf("%s = %d %.300q, want %d with %q", test.path, resp.StatusCode, body, test.status, test.part)
		}
	}
	if resp, _ := get(t, h, "POST", "/api/runs"); resp.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST /api/runs = %d", resp.StatusCode)
	}
}

// A node with one run says of itself what it did before it could have several.
func TestOneRunIsNoList(t *testing.T) {
	h := NewHandler(&fixedNode{log: []byte("x")})
	_, body := get(t, h, "GET", "/addresses.json")
	var list map[string]any
	if err := json.Unmarshal([]byte(body), &list); err != nil || list["runs"] != nil {
		t.Errorf("addresses.json has %s, %v", body, err)
	}
	if _, body = get(t, h, "GET", "/api/status"); strings.Contains(body, `"active"`) {
		t.Errorf("the status is %s", body)
	}
	if _, body = get(t, h, "GET", "/api/runs"); !strings.Contains(body, `"advised":"bafyrun"`) {
		t.Errorf("the runs are %s", body)
	}
}

// Figures of several runs have labels, and one run that fails makes the node unhealthy.
func TestMetricsOfRuns(t *testing.T) {
	h := NewMetricsHandler(severalRuns{run("bafya", "CartPole-v1", 3, nil), run("", "", 0, failed), run("", "", 0, failed)})
	_, body := get(t, h, "GET", "/metrics")
	for _, line := range []string{`evoswarm_peers{env="CartPole-v1",run="bafya"} 3`, `evoswarm_faulty{env="",run="2"} 1`, `evoswarm_faulty{env="",run="3"} 1`} {
		if !strings.Contains(body, "\n"+line+"\n") {
			t.Errorf("the metrics lack %s", line)
		}
	}
	if resp, body := get(t, h, "GET", "/healthz"); resp.StatusCode != http.StatusServiceUnavailable || !strings.Contains(body, "disk is full") {
		t.Errorf("/healthz = %d %s", resp.StatusCode, body)
	}
}
