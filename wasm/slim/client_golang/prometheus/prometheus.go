// Package prometheus has what libp2p names of Prometheus, and counts nothing.
//
// The tab's program is built with it (wasm/slim): nobody can ask a tab for its metrics, and a mesh in a tab turns
// none on. Prometheus itself brings an HTTP server, TLS and descriptors of its own messages.
package prometheus

import "errors"

// Collector is a metric.
type Collector interface{ collects() }

// Registerer would keep metrics.
type Registerer interface{ Register(Collector) error }

// DefaultRegisterer keeps none, and says so.
var DefaultRegisterer Registerer = nobody{}

type nobody struct{}

func (nobody) Register(Collector) error { return errors.New("prometheus: a tab has no metrics") }

// AlreadyRegisteredError is never returned.
type AlreadyRegisteredError struct{}

func (AlreadyRegisteredError) Error() string { return "prometheus: registered before" }

// Labels are the parts of a name.
type Labels map[string]string

// CounterOpts, GaugeOpts and HistogramOpts describe metrics.
type (
	CounterOpts   struct{ Namespace, Name, Help string }
	GaugeOpts     struct{ Namespace, Name, Help string }
	HistogramOpts struct {
		Namespace, Name, Help string
		Buckets               []float64
	}
)

// Metric is a number that nobody keeps.
type Metric struct{}

func (*Metric) collects() {}

// Inc does nothing.
func (*Metric) Inc() {}

// Dec does nothing.
func (*Metric) Dec() {}

// Add does nothing.
func (*Metric) Add(float64) {}

// Set does nothing.
func (*Metric) Set(float64) {}

// Observe does nothing.
func (*Metric) Observe(float64) {}

// GaugeVec has the numbers of one name.
type GaugeVec struct{ Metric }

// With returns the number that these labels name.
func (v *GaugeVec) With(Labels) *Metric { return &v.Metric }

// WithLabelValues returns the number that these values of labels name.
func (v *GaugeVec) WithLabelValues(...string) *Metric { return &v.Metric }

// NewCounter returns a number.
func NewCounter(CounterOpts) *Metric { return new(Metric) }

// NewGauge returns a number.
func NewGauge(GaugeOpts) *Metric { return new(Metric) }

// NewHistogram returns a number.
func NewHistogram(HistogramOpts) *Metric { return new(Metric) }

// NewCounterVec returns the numbers of one name.
func NewCounterVec(CounterOpts, []string) *GaugeVec { return new(GaugeVec) }

// NewGaugeVec returns the numbers of one name.
func NewGaugeVec(GaugeOpts, []string) *GaugeVec { return new(GaugeVec) }

// NewHistogramVec returns the numbers of one name.
func NewHistogramVec(HistogramOpts, []string) *GaugeVec { return new(GaugeVec) }

// ExponentialBuckets returns none.
func ExponentialBuckets(_, _ float64, _ int) []float64 { return nil }

// LinearBuckets returns none.
func LinearBuckets(_, _ float64, _ int) []float64 { return nil }
