package evolve

import (
	"math"

	"github.com/evoswarm/evoswarm/internal/exact"
)

// schedule is a value that decreases from generation to generation, down to a floor.
type schedule struct {
	kind               string
	start, decay, last float64
	span               float64 // generations until linear and cosine reach last
}

// scheduleSettings describes the value called name, which doc explains, and its schedule. since is the
// revision of the method that introduced the forms other than exponential.
func scheduleSettings(name, doc string, start float64, since uint64) []Setting {
	return []Setting{
		{Name: name, Doc: doc + " in generation 0", Default: start, Min: 1e-6, Max: 1000},
		{Name: name + "_decay", Doc: "factor on " + name + " per generation of the exponential schedule; 1 keeps it constant", Default: 1.0, Min: 0.5, Max: 1},
		{Name: name + "_min", Doc: "lower bound of " + name + ", and the value at which the linear and cosine schedules end", Default: 0.0, Min: 0, Max: 1000},
		{Name: name + "_schedule", Doc: "how " + name + " decreases: exponentially by " + name + "_decay, or linearly or as a half cosine over " + name + "_span generations",
			Default: "exponential", Choices: []string{"exponential", "linear", "cosine"}, Since: since},
		{Name: name + "_span", Doc: "generations until the linear and cosine schedules of " + name + " end", Default: 100.0, Min: 1, Max: 1e9, Integer: true, Since: since},
	}
}

// newSchedule reads the settings of scheduleSettings.
func newSchedule(p Params, name string) schedule {
	return schedule{kind: p.text(name + "_schedule"), start: p.number(name), decay: p.number(name + "_decay"),
		last: p.number(name + "_min"), span: p.number(name + "_span")}
}

// at returns the value in generation gen, rounded once to float32. It never increases with gen. Bit exact.
func (s schedule) at(gen uint64) float32 {
	x := s.start
	switch t := float64(gen); {
	case s.kind == "linear" || s.kind == "cosine":
		x = s.falling(t)
	case s.decay != 1:
		x = s.start * exact.Pow(s.decay, t)
	}
	if x < s.last {
		x = s.last
	}
	return float32(x)
}

// falling is the linear or cosine schedule after t generations.
func (s schedule) falling(t float64) float64 {
	if t >= s.span {
		return s.last
	}
	share := (s.span - t) / s.span
	if s.kind == "cosine" {
		share = (1 + exact.Cos(float64(math.Pi*(t/s.span)))) / 2
	}
	return s.last + float64(share*(s.start-s.last))
}
