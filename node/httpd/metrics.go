package httpd

import (
	"fmt"
	"math"
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/evoswarm/evoswarm/internal/peer"
)

// NewMetricsHandler serves GET /metrics and /healthz, for the node's operator. It has no other paths: no
// profiles of the process, and nothing that changes it.
func NewMetricsHandler(n Node) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(gatherer(n), promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { serveHealth(w, n) })
	return mux
}

// serveHealth answers 200, or 503 with what keeps the node from leading and working.
func serveHealth(w http.ResponseWriter, n Node) {
	if fault := n.Status().Error; fault != "" {
		http.Error(w, fault, http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ok")
}

// metric is a figure of /metrics. docs/OPERATING.md lists them.
type metric struct {
	name    string // without evoswarm_
	help    string
	value   func(s Status) float64
	counter bool
}

var metrics = []metric{
	{"evaluations_total", "Evaluations in the canonical chain of the present run.", func(s Status) float64 { return float64(s.Evaluations) }, true},
	{"env_steps_total", "Env-steps of training in the canonical chain of the present run.", func(s Status) float64 { return float64(s.Steps) }, true},
	{"own_evaluations_total", "Evaluations of this node in the canonical chain.", func(s Status) float64 { return float64(s.Mine) }, true},
	{"own_env_steps_total", "Env-steps of this node in the canonical chain.", func(s Status) float64 { return float64(s.MineSteps) }, true},
	{"height", "Height of the head: generations done.", func(s Status) float64 { return float64(s.Height) }, false},
	{"term", "The leader's term.", func(s Status) float64 { return float64(s.Term) }, false},
	{"peers", "Other peers that are heard, leaves of hubs included.", func(s Status) float64 { return float64(s.Peers) }, false},
	{"connected", "Other peers with a direct connection.", func(s Status) float64 { return float64(s.Connected) }, false},
	{"leads", "1 while this node leads.", func(s Status) float64 { return oneIf(s.Leads) }, false},
	{"training", "1 while evaluations of this node go into the run.", func(s Status) float64 { return oneIf(s.State == peer.Training) }, false},
	{"behind", "Entries that this node still has to fold to catch up with the swarm.", func(s Status) float64 { return float64(s.Behind) }, false},
	{"paused", "1 while the owner has paused this node.", func(s Status) float64 { return oneIf(s.State == peer.Paused) }, false},
	{"faulty", "1 while something is wrong with this computer, such as a full disk: leadership and work are suspended.", func(s Status) float64 { return oneIf(s.Error != "") }, false},
	{"workers", "Cores that this node lends.", func(s Status) float64 { return float64(s.Workers) }, false},
	{"devices", "Devices such as GPUs that evaluate, too.", func(s Status) float64 { return float64(s.Devices) }, false},
	{"evaluations_per_second", "Evaluations per second of the run, over the last seconds.", func(s Status) float64 { return s.EvalsPerS }, false},
	{"own_evaluations_per_second", "Evaluations per second computed here, re-runs of others' claims included.", func(s Status) float64 { return s.MineEvalsPerS }, false},
	{"policy_return", "Mean return of the newest held-out evaluation of the mean policy; NaN before the first one.", func(s Status) float64 { return orNaN(s.Return) }, false},
	{"goal_return", "Mean return that counts as solved; NaN without a run.", func(s Status) float64 { return orNaN(s.Threshold) }, false},
	{"solved", "1 once a held-out evaluation of the mean policy reached the goal.", func(s Status) float64 { return oneIf(s.Solved) }, false},
	{"best_return", "Highest return among the evaluations of the newest generation; NaN if there is none.", func(s Status) float64 { return orNaN(s.Best) }, false},
	{"mean_return", "Mean return of the evaluations of the newest generation; NaN if there is none.", func(s Status) float64 { return orNaN(s.Mean) }, false},
	{"uptime_seconds", "Time since the node started.", func(s Status) float64 { return s.Uptime }, false},
}

// gatherer collects the node's figures, and those that libraries keep in the default registry.
func gatherer(n Node) prometheus.Gatherer {
	r := prometheus.NewRegistry()
	for _, m := range metrics {
		value := func() float64 { return m.value(n.Status()) }
		opts := prometheus.Opts{Namespace: "evoswarm", Name: m.name, Help: m.help}
		if m.counter {
			r.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts(opts), value))
		} else {
			r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts(opts), value))
		}
	}
	return prometheus.Gatherers{r, prometheus.DefaultGatherer}
}

func oneIf(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func orNaN(x *float64) float64 {
	if x == nil {
		return math.NaN()
	}
	return *x
}
