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
	for _, s := range statuses(n) {
		if s.Error != "" {
			http.Error(w, s.Error, http.StatusServiceUnavailable)
			return
		}
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

// figures are those of a node, a prometheus.Collector. Where it works on several runs each figure has their labels.
type figures struct{ node Node }

// Describe implements prometheus.Collector: the labels depend on how many runs there are, so nothing is said before.
func (figures) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (f figures) Collect(out chan<- prometheus.Metric) {
	all := statuses(f.node)
	var labels []string
	if len(all) > 1 {
		labels = []string{"run", "env"}
	}
	for _, m := range metrics {
		kind := prometheus.GaugeValue
		if m.counter {
			kind = prometheus.CounterValue
		}
		desc := prometheus.NewDesc("evoswarm_"+m.name, m.help, labels, nil)
		for i, s := range all {
			var values []string
			if len(all) > 1 {
				values = []string{s.Run, s.Env}
				if s.Run == "" {
					values[0] = fmt.Sprint(i + 1) // of those that do not start each is one
				}
			}
			out <- prometheus.MustNewConstMetric(desc, kind, m.value(s), values...)
		}
	}
}

// gatherer collects the node's figures, and those that libraries keep in the default registry.
func gatherer(n Node) prometheus.Gatherer {
	r := prometheus.NewRegistry()
	r.MustRegister(figures{n})
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
