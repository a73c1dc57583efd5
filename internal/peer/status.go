package peer

import (
	"errors"
	"fmt"
	"time"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/internal/store"
)

// State says what a peer is doing.
type State string

// The states of a peer.
const (
	Training State = "training"    // evaluations of this peer go into the run
	Catching State = "catching-up" // takes in what the swarm did before; Status.Behind says how much is left
	Idle     State = "idle"        // Status.Why says what for
	Paused   State = "paused"      // by its owner
	Solved   State = "solved"      // the run has ended: its policy passed the test
)

// Reason says why a peer is in its State, for programs. Status.Why is the same for people.
type Reason string

// The reasons of a State.
const (
	Evaluating Reason = "evaluating"  // works on the present generation
	PartDone   Reason = "part-done"   // has done its part of the generation, which is not closed yet
	CatchingUp Reason = "catching-up" // has to take in what the swarm did before
	Searching  Reason = "searching"   // has no connection yet
	NoLeader   Reason = "no-leader"   // nobody leads yet
	NoRun      Reason = "no-run"      // the node trains nothing
	PassedTest Reason = "passed-test" // the run has ended: Status.SolvedHeight says with which policy
	Testing    Reason = "testing"     // the log says that the policy passed the test, which is being checked
	RunEnded   Reason = "run-ended"   // the run has ended: as many evaluations, env-steps or entries as it was to have
	NotTrusted Reason = "not-trusted" // the run's owner trusts other keys: what this peer would compute does not count
	OwnerPause Reason = "paused"      // its owner paused it
	DiskFull   Reason = "disk-full"   // leadership and work are suspended until there is space
	DiskFailed Reason = "disk-failed" // leadership and work are suspended until the store can be written again
)

// Status is what a person may want to know of a peer. It is a copy. Its JSON form is what `evonode status --json`,
// /api/status and the page show.
type Status struct {
	Run        string       `json:"run"`                  // run id
	Env        string       `json:"env"`                  // world
	EnvParams  envs.Params  `json:"env_params,omitempty"` // that are no defaults
	Strategy   string       `json:"strategy"`             // method
	Height     uint64       `json:"height"`               // of the head: generations done
	Head       string       `json:"head"`                 // link of the newest entry
	HeadLink   seedlog.Link `json:"-"`                    // the same
	Leader     string       `json:"leader,omitempty"`     // key in hexadecimal; empty: none known
	Self       string       `json:"self"`                 // own key in hexadecimal
	Leads      bool         `json:"leads"`                // whether this peer is the leader
	Term       uint64       `json:"term"`
	Peers      int          `json:"peers"`      // others that are heard, leaves of hubs included
	Connected  int          `json:"connected"`  // others with a direct connection
	Volunteers int          `json:"volunteers"` // peers with credit in the log, ever

	Evaluations uint64  `json:"evaluations"` // of the run
	Steps       uint64  `json:"steps"`       // env-steps of the run's training
	EvalsPerS   float64 `json:"evals_per_s"` // of the run, over the last 10 s or the last few generations

	Mine          uint64  `json:"mine"`             // own evaluations in the log
	MineSteps     uint64  `json:"mine_steps"`       // own env-steps in the log
	MineEvalsPerS float64 `json:"mine_evals_per_s"` // computed here, over the last 10 s, re-runs of others' claims included
	Own           Ledger  `json:"own"`              // computed here since the start, and what became of it
	Reorgs        uint64  `json:"reorgs"`           // how often entries were replaced since the start
	Reorg         *Reorg  `json:"reorg"`            // the last time; nil: never
	Workers       int     `json:"workers"`          // cores lent
	Devices       int     `json:"devices"`          // GPUs and the like that evaluate too

	Best *float64 `json:"best"` // highest fitness of the newest generation; nil: none
	Mean *float64 `json:"mean"` // mean fitness of the newest generation; nil: none

	Return       *float64   `json:"return"`        // mean return of the last held-out evaluation, or of that of the state that solved the run; nil: none yet
	ReturnHeight uint64     `json:"return_height"` // height of that evaluation
	BestState    *BestState `json:"best_state"`    // the best state by held-out episodes, as the log says; nil: none
	Threshold    *float64   `json:"threshold"`     // mean return that counts as solved; nil: the world has none
	SolvedHeight uint64     `json:"solved_height"` // generation whose policy passed the test and ended the run; 0: none
	Ended        bool       `json:"ended"`         // whether the run has ended: its spec says when
	EndsSolved   bool       `json:"-"`             // whether the run ends with a policy that passes the test

	State    State   `json:"state"`
	Reason   Reason  `json:"reason"`          // why, for programs
	Why      string  `json:"why"`             // one sentence for a person
	Light    bool    `json:"light"`           // it follows the run by the states that hubs give, without the results of others
	Ahead    uint64  `json:"ahead"`           // while catching up, or light: generation whose state it works on meanwhile; 0: none
	Behind   uint64  `json:"behind"`          // while catching up: generations still to take in
	BehindOf uint64  `json:"behind_of"`       // while catching up: how many there were
	BehindS  float64 `json:"behind_s"`        // while catching up: estimated time left [s]; 0: not known
	Base     uint64  `json:"base"`            // generation that this peer's chain begins at, as others gave it; 0: the first, or it has checked what lies below
	Checked  uint64  `json:"checked"`         // with a base: generations checked from the first on
	First    uint64  `json:"first"`           // generation from which on this peer has the log; 1: all of it
	Error    string  `json:"error,omitempty"` // what is wrong with this computer, such as a full disk
}

// BestState is the state of a run that is shown and exported by default, unless one passed the test.
type BestState struct {
	Height   uint64  `json:"height"`
	Score    float64 `json:"score"`    // mean return
	Episodes uint64  `json:"episodes"` // held-out ones, of all peers
}

const (
	publishLeast = 100 * time.Millisecond // between two updates
	publishMost  = time.Second            // without a change
)

// Status describes the peer as it is now, or was when it stopped.
func (p *Peer) Status() Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.status
}

// Watch returns a channel that always holds the newest status: sent on every change and every second, at most ten
// times a second; a slow reader misses some. It is closed when the peer stops. cancel ends it early.
func (p *Peer) Watch() (updates <-chan Status, cancel func()) {
	w := make(chan Status, 1)
	p.mu.Lock()
	defer p.mu.Unlock()
	w <- p.status
	if p.watchers == nil {
		close(w)
		return w, func() {}
	}
	p.watchers[w] = true
	return w, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.watchers[w] {
			delete(p.watchers, w)
			close(w)
		}
	}
}

// publish renews the status when it is time.
func (p *Peer) publish(now bool) {
	d := &p.driver
	age := time.Since(d.meters.published)
	if !now && (age < publishLeast || (!d.dirty && age < publishMost)) {
		return
	}
	d.dirty, d.meters.published = false, time.Now()
	d.snapshot = shown(d.coord.Snapshot())
	if every := p.rules.Spec.Checks.Every; d.snapshot.Light && d.snapshot.Height/every > d.taken/every {
		d.taken, d.heldOut.due = d.snapshot.Height, true
	}
	d.meters.see(time.Now(), d.snapshot.Evaluations, d.snapshot.Syncing)
	s := p.describe()
	p.startEvaluation()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.model, p.modelAt = d.snapshot.State, d.snapshot.StateHeight
	p.newest, p.newestOn = nil, d.snapshot.Head
	if d.snapshot.StateHeight == d.snapshot.Height {
		p.newest = d.snapshot.State
	}
	switch solved := d.snapshot.End == seedlog.EndedSolved; {
	case d.snapshot.BestModel != nil && !solved:
		p.model, p.modelAt = d.snapshot.BestModel, d.snapshot.BestState.Height
	case d.snapshot.Ahead > 0:
		p.model, p.modelAt = d.snapshot.AheadState, d.snapshot.Ahead
	}
	if point, ok := toShow(p.curve, s.SolvedHeight); ok {
		s.Return, s.ReturnHeight = &point.Return, point.Height
	}
	p.status = s
	for w := range p.watchers {
		select {
		case <-w: // the old one was not read
		default:
		}
		w <- s
	}
}

// toShow is the held-out evaluation that people see: that of the state that solved the run, else the last one.
func toShow(curve []Point, solved uint64) (Point, bool) {
	for _, point := range curve {
		if solved > 0 && point.Height == solved {
			return point, true
		}
	}
	if len(curve) == 0 {
		return Point{}, false
	}
	return curve[len(curve)-1], true
}

// shown is what a peer shows of itself: one that follows by the states of hubs has those in place of its own chain's.
func shown(s coordinator.Snapshot) coordinator.Snapshot {
	if s.Light && s.Ahead > 0 {
		s.Height, s.Head, s.State, s.StateHeight = s.Ahead, s.AheadHead, s.AheadState, s.Ahead
	}
	return s
}

// describe puts a status together.
func (p *Peer) describe() Status {
	c, d, now := &p.driver.snapshot, &p.driver, time.Now()
	solved := p.rules.Env.SolvedReturn
	s := Status{
		Run: c.Run.String(), Env: p.rules.Env.ID, EnvParams: p.rules.Spec.Env.Params, Strategy: p.rules.Spec.Strategy.Name,
		Height: c.Height, Head: c.Head.String(), HeadLink: c.Head, Self: c.Self.String(), Term: c.Term,
		Leads: c.Role == coordinator.Leader && d.stuck == nil, Peers: c.Peers, Volunteers: c.Credits,
		Evaluations: c.Evaluations, Steps: p.steps(*c), EvalsPerS: d.meters.run.slowRate(now, p.started),
		Mine: c.Mine.Evaluations, MineSteps: c.Mine.Steps, MineEvalsPerS: d.meters.mine.rate(now, p.started), Own: ledgerOf(c.Own), Reorgs: c.Reorgs,
		Workers: p.cfg.Evaluator.Workers(), Devices: p.cfg.Evaluator.Devices(), Best: fitness(c.Best), Mean: fitness(c.Mean), Threshold: &solved,
		EndsSolved: p.rules.Spec.Until != nil && p.rules.Spec.Until.Solved, Light: c.Light, Ahead: c.Ahead, Behind: c.Behind, BehindOf: c.BehindOf, BehindS: d.pace.left(c.Behind),
		Base: c.Base, Checked: c.Folded, First: c.First,
	}
	if best := c.BestState; best.Height > 0 {
		s.BestState = &BestState{best.Height, rollout.FromFitness(best.Score), best.Results}
	}
	if c.Reorgs > 0 {
		s.Reorg = &Reorg{c.Reorg.Height, c.Reorg.Gone, c.Reorg.Come}
	}
	if c.End != seedlog.Open && !c.Testing { // what a leader says of a policy is not known before it is checked
		s.Ended, s.SolvedHeight = true, c.Solved
	}
	if c.Leader != (coordinator.Peer{}) && (d.stuck == nil || c.Leader != c.Self) { // who cannot save does not lead
		s.Leader = c.Leader.String()
	}
	if p.cfg.Mesh != nil {
		s.Connected = len(p.cfg.Mesh.Links())
	}
	s.State, s.Reason, s.Why = p.state(s.Connected)
	if s.Base > 0 && (s.State == Training || s.Reason == PartDone) {
		s.Why += fmt.Sprintf("; began at generation %d, and has checked %d of those before", s.Base, s.Checked)
		if c.Lost {
			s.Why += "; nobody here has the others any more"
		}
	}
	if d.stuck != nil {
		s.Error = d.stuck.err.Error()
	}
	return s
}

// state says what the peer is doing, and why: for programs and in words.
func (p *Peer) state(connected int) (State, Reason, string) {
	c, d := &p.driver.snapshot, &p.driver
	switch {
	case d.stuck != nil && errors.Is(d.stuck.err, store.ErrFull):
		return Idle, DiskFull, "the disk is full; leadership and work are suspended until there is space"
	case d.stuck != nil:
		return Idle, DiskFailed, "cannot write to the disk; leadership and work are suspended until that works again"
	case c.Testing:
		return Idle, Testing, fmt.Sprintf("checking that the policy of generation %d passes the test, as the log says", c.Solved)
	case c.End == seedlog.EndedSolved:
		return Solved, PassedTest, fmt.Sprintf("solved: the policy of generation %d passed the test of %d episodes", c.Solved, p.rules.Spec.Checks.Test)
	case c.End != seedlog.Open:
		return Idle, RunEnded, fmt.Sprintf("the run has ended with %d %s, as it was to", map[seedlog.End]uint64{
			seedlog.EndedEvaluations: c.Evaluations, seedlog.EndedSteps: c.Steps, seedlog.EndedEntries: c.Height}[c.End], c.End)
	case c.Paused:
		return Paused, OwnerPause, "paused by its owner"
	case c.Light && c.Ahead > 0:
		return Training, Evaluating, fmt.Sprintf("evaluating policies of generation %d; follows the run by its newest policies, since the results of all others are too much to download", c.Ahead+1)
	case c.Ahead > 0:
		return Training, Evaluating, fmt.Sprintf("evaluating policies of generation %d; %s", c.Ahead+1, p.progress())
	case c.Syncing:
		return Catching, CatchingUp, p.progress()
	case c.Untrusted:
		return Idle, NotTrusted, "follows a run whose owner trusts other keys, so that what this computer would evaluate does not count; " +
			"ask for a run whose list has the key of this node, which evonode key prints"
	case !c.Ready && p.cfg.Mesh != nil && connected == 0:
		return Idle, Searching, "looking for the swarm"
	case !c.Ready:
		return Idle, NoLeader, "waiting for a leader"
	case len(d.work) > 0:
		return Training, Evaluating, fmt.Sprintf("evaluating policies of generation %d", c.Height+1)
	case c.Peers == 0:
		return Training, PartDone, fmt.Sprintf("completing generation %d", c.Height+1)
	}
	return Idle, PartDone, fmt.Sprintf("has done its part of generation %d and waits for the others", c.Height+1)
}

// progress says how far catching up is.
func (p *Peer) progress() string {
	c := &p.driver.snapshot
	text := fmt.Sprintf("catching up: %d of %d generations are checked", c.BehindOf-c.Behind, c.BehindOf)
	if left := p.driver.pace.left(c.Behind); left >= 1 {
		text += fmt.Sprintf(", %.0f s", left)
	}
	return text
}

// fitness turns a fixed-point fitness into a return; nil for none.
func fitness(f int64) *float64 {
	if f == evolve.InvalidFitness {
		return nil
	}
	v := rollout.FromFitness(f)
	return &v
}
