package sweep

import (
	"encoding/json"
	"math"
)

// Row is the result of the run of one seed. Its fields are those of the last line of `evonode train --json`,
// and some more.
type Row struct {
	Env             string   `json:"env"`
	Strategy        string   `json:"strategy"`
	Seed            uint64   `json:"seed"`
	Done            bool     `json:"done"` // false: interrupted before --until came true
	Solved          bool     `json:"solved"`
	Gens            uint64   `json:"gens"`
	Evaluations     uint64   `json:"evaluations"`
	Steps           uint64   `json:"steps"`            // env-steps of training
	Seconds         float64  `json:"seconds"`          // of this run, from before its log is opened until it is fsynced and closed
	Return          *float64 `json:"return"`           // of the last test, else of the last held-out evaluation; nil without either
	Tests           int      `json:"tests"`            // how often the mean policy was tested
	EvaluationSteps uint64   `json:"evaluation_steps"` // env-steps of held-out evaluations and tests
	Until           string   `json:"until"`            // what ends the run, as in --until
	Resumed         bool     `json:"resumed"`          // the log existed: Seconds includes what is known of the time before
	Log             string   `json:"log"`              // "" if it is not kept
	Run             string   `json:"run"`
	Head            string   `json:"head"`
	Theta           string   `json:"theta"` // digest in hexadecimal
}

// cost is what a finished run took to solve its world: +Inf if it did not.
func (r *Row) cost(of Measure) float64 {
	if !r.Solved {
		return math.Inf(1)
	}
	if of == Seconds {
		return r.Seconds
	}
	return float64(r.Steps)
}

// Measure is a cost of solving a world.
type Measure string

// The measures.
const (
	Steps   Measure = "steps"   // env-steps of training
	Seconds Measure = "seconds" // wall clock
)

// Real is a float64 that JSON shows as null if it is infinite or not a number.
type Real float64

// MarshalJSON implements json.Marshaler.
func (x Real) MarshalJSON() ([]byte, error) {
	if !finite(float64(x)) {
		return []byte("null"), nil
	}
	return json.Marshal(float64(x))
}

func finite(x float64) bool { return x-x == 0 }
