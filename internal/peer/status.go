package peer

import "github.com/evoswarm/evoswarm/internal/seedlog"

// State says what a peer is doing.
type State string

// The states of a peer.
const (
	Training State = "training" // evaluations of this peer go into the run
	Idle     State = "idle"     // Status.Why says what for
	Paused   State = "paused"   // by its owner
)

// Status is what a person may want to know of a peer. It is a copy. Its JSON form is what `evonode status --json`,
// /api/status and the page show.
type Status struct {
	Run       string       `json:"run"`              // run id
	Env       string       `json:"env"`              // world
	Strategy  string       `json:"strategy"`         // method
	Height    uint64       `json:"height"`           // of the head: generations done
	Head      string       `json:"head"`             // link of the newest entry
	HeadLink  seedlog.Link `json:"-"`                // the same
	Leader    string       `json:"leader,omitempty"` // key in hexadecimal; empty: none known
	Self      string       `json:"self"`             // own key in hexadecimal
	Leads     bool         `json:"leads"`            // whether this peer is the leader
	Term      uint64       `json:"term"`
	Peers     int          `json:"peers"`      // others that are heard, leaves of hubs included
	Connected int          `json:"connected"`  // others with a direct connection
	Volunteer int          `json:"volunteers"` // peers with credit in the log, ever

	Evaluations uint64  `json:"evaluations"` // of the run
	Steps       uint64  `json:"steps"`       // env-steps of the run's training
	EvalsPerS   float64 `json:"evals_per_s"` // of the run, over the last 10 s

	Mine          uint64  `json:"mine"`             // own evaluations in the log
	MineSteps     uint64  `json:"mine_steps"`       // own env-steps in the log
	MineEvalsPerS float64 `json:"mine_evals_per_s"` // computed here, over the last 10 s, re-runs of others' claims included
	Workers       int     `json:"workers"`          // cores lent

	Best *float64 `json:"best"` // highest fitness of the newest generation; nil: none
	Mean *float64 `json:"mean"` // mean fitness of the newest generation; nil: none

	Return       *float64 `json:"return"`        // mean return of the last look at the mean policy; nil: no look yet
	ReturnHeight uint64   `json:"return_height"` // height of that look
	Threshold    *float64 `json:"threshold"`     // mean return that counts as solved; nil: the world has none

	State State  `json:"state"`
	Why   string `json:"why"`             // one sentence for a person
	Error string `json:"error,omitempty"` // what is wrong with this computer, such as a full disk
}

// Point is one look at the mean policy on held-out episodes.
type Point struct {
	Height      uint64  `json:"height"`
	Evaluations uint64  `json:"evaluations"` // of the run up to there
	Steps       uint64  `json:"steps"`
	Return      float64 `json:"return"` // mean over Checks.Validate episodes
}
