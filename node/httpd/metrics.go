package httpd

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/evoswarm/evoswarm/internal/peer"
)

// gatherer collects the node's figures, and those that libraries keep in the default registry.
func gatherer(n Node) prometheus.Gatherer {
	r := prometheus.NewRegistry()
	gauge := func(name, help string, value func(Status) float64) {
		r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Namespace: "evoswarm", Name: name, Help: help},
			func() float64 { return value(n.Status()) }))
	}
	counter := func(name, help string, value func(Status) uint64) {
		r.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Namespace: "evoswarm", Name: name, Help: help},
			func() float64 { return float64(value(n.Status())) }))
	}
	counter("evaluations_total", "Evaluations in the canonical chain of the present run.", func(s Status) uint64 { return s.Evaluations })
	counter("env_steps_total", "Env-steps in the canonical chain of the present run.", func(s Status) uint64 { return s.Steps })
	counter("own_evaluations_total", "Evaluations of this node in the canonical chain.", func(s Status) uint64 { return s.Mine })
	gauge("height", "Height of the head.", func(s Status) float64 { return float64(s.Height) })
	gauge("term", "The leader's term.", func(s Status) float64 { return float64(s.Term) })
	gauge("peers", "Other peers that are heard.", func(s Status) float64 { return float64(s.Peers) })
	gauge("connected", "Other peers with a direct connection.", func(s Status) float64 { return float64(s.Connected) })
	gauge("leads", "1 while this node leads.", func(s Status) float64 { return oneIf(s.Leads) })
	gauge("training", "1 while this node trains.", func(s Status) float64 { return oneIf(s.State == peer.Training) })
	gauge("evaluations_per_second", "Evaluations per second of the run.", func(s Status) float64 { return s.EvalsPerS })
	gauge("own_evaluations_per_second", "Evaluations per second computed here, re-runs included.", func(s Status) float64 { return s.MineEvalsPerS })
	gauge("best_return", "Highest return of the newest entry, 0 if there is none.", func(s Status) float64 { return orZero(s.Best) })
	gauge("mean_return", "Mean return of the newest entry, 0 if there is none.", func(s Status) float64 { return orZero(s.Mean) })
	return prometheus.Gatherers{r, prometheus.DefaultGatherer}
}

func oneIf(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func orZero(x *float64) float64 {
	if x == nil {
		return 0
	}
	return *x
}
