package httpd

import (
	"net/http"
	"time"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/peer"
	"github.com/evoswarm/evoswarm/web"
)

// RunList is what a node says of its runs at /api/runs, for people who choose one.
type RunList struct {
	Version int       `json:"version"` // of this form: 1
	Build   string    `json:"build"`   // of the node's page
	Advised string    `json:"advised"` // run that a newcomer without a choice takes part in, "" if there is none; see advisor
	Runs    []RunInfo `json:"runs"`    // in the owner's order
}

// RunInfo is a run in such a list. Its fields are as in [Status].
type RunInfo struct {
	Run          string      `json:"run"` // "" if it does not start
	Env          string      `json:"env"`
	EnvParams    envs.Params `json:"env_params,omitempty"`
	Strategy     string      `json:"strategy"`
	Height       uint64      `json:"height"`
	Return       *float64    `json:"return"`
	ReturnHeight uint64      `json:"return_height"`
	Threshold    *float64    `json:"threshold"`
	Peers        int         `json:"peers"`
	Evaluations  uint64      `json:"evaluations"`
	EvalsPerS    float64     `json:"evals_per_s"`
	State        peer.State  `json:"state"`
	Reason       peer.Reason `json:"reason"`
	Why          string      `json:"why"`
	Ended        bool        `json:"ended"`
	Solved       bool        `json:"solved"`
	SolvedAt     *uint64     `json:"solved_at"`
	Error        string      `json:"error,omitempty"`
}

// runListVersion is the version of [RunList].
const runListVersion = 1

// statuses are those of all runs.
func statuses(n Node) []Status {
	var all []Status
	for _, run := range n.Runs() {
		all = append(all, run.Status())
	}
	return all
}

// chosen is the run that a request names by ?run=RUN; without, the first. It answers itself where there is no such
// run.
func chosen(w http.ResponseWriter, r *http.Request, runs []Run) (Run, bool) {
	id := r.URL.Query().Get("run")
	if id == "" {
		return runs[0], true
	}
	for _, run := range runs {
		if run.Status().Run == id {
			return run, true
		}
	}
	http.Error(w, "this node does not work on that run; /api/runs lists those that it works on", http.StatusNotFound)
	return nil, false
}

// ofRun serves a view of the run that a request names.
func ofRun(n interface{ Runs() []Run }, view func(w http.ResponseWriter, r *http.Request, run Run)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if run, ok := chosen(w, r, n.Runs()); ok {
			view(w, r, run)
		}
	}
}

func serveRuns(w http.ResponseWriter, n Node, a *advisor) {
	all := statuses(n)
	list := RunList{Version: runListVersion, Build: web.Build(), Advised: all[a.advise(all, time.Now(), false)].Run, Runs: []RunInfo{}}
	for _, s := range all {
		list.Runs = append(list.Runs, RunInfo{s.Run, s.Env, s.EnvParams, s.Strategy, s.Height, s.Return, s.ReturnHeight, s.Threshold, s.Peers,
			s.Evaluations, s.EvalsPerS, s.State, s.Reason, s.Why, s.Ended, s.Solved, s.SolvedAt, s.Error})
	}
	writeJSON(w, list)
}

// serveAddresses names the advised run and, where there are several, each with its addresses. Who asks with ?run=RUN
// has a run already.
func serveAddresses(w http.ResponseWriter, r *http.Request, n Node, a *advisor) {
	runs, all := n.Runs(), statuses(n)
	advised := a.advise(all, time.Now(), !r.URL.Query().Has("run"))
	list := web.Addresses{Version: web.AddressesVersion, Build: web.Build(), Run: all[advised].Run, Env: all[advised].Env,
		Addresses: Via(r.Host, runs[advised].Addresses())}
	if len(runs) > 1 {
		for i, run := range runs {
			if all[i].Run != "" {
				list.Runs = append(list.Runs, web.RunAddresses{Run: all[i].Run, Env: all[i].Env, Addresses: Via(r.Host, run.Addresses())})
			}
		}
	}
	writeJSON(w, list)
}
