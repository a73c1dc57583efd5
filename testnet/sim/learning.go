package sim

import (
	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/runspec"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// Learning is a run in a real environment, in place of one with synthetic fitness: candidates are evaluated for real,
// and take the machines as long as their env-steps do.
type Learning struct {
	Run    runspec.Options // nonce and origin are the simulator's
	StepNS int             // that an env-step takes a native; a tab takes four times as long
	Speeds []float64       // how many times as fast natives are, by turns; none: once
	Lies   *Lies           // nil: nobody lies
	Least  uint64          // entries that the swarm makes at least, also when it has solved the environment before

	// Invented has results be hashes, and episodes last some hundred steps: machines are as busy, and the network, but
	// nothing is learned, so that swarms of thousands can be simulated.
	Invented bool

	// Warm is how many of the first ticks Learned.Later leaves out; 0: those before its entry 50.
	Warm coordinator.Tick
}

// tickNS is how long a tick is.
const tickNS = 50_000_000

// world evaluates candidates of a real environment. What was evaluated once is remembered for re-runs.
type world struct {
	env    *envs.Spec
	pool   *rollout.Pool // nil: results are invented
	signs  int
	stepNS int
	known  map[uint64]rollout.CandidateResult // by seed, which names the state as well

	possible     float64 // env-steps that the machines that were here could do
	fresh, again uint64  // env-steps of candidates, and of those that were run again
	heldOut      uint64  // of fresh, of held-out episodes
}

func newWorld(l *Learning, rules *seedlog.Rules) (*world, error) {
	env, err := envs.Find(rules.Spec.Env.ID)
	if err != nil {
		return nil, err
	}
	w := &world{env: env, signs: rules.Signs(), stepNS: l.StepNS, known: make(map[uint64]rollout.CandidateResult)}
	if !l.Invented {
		w.pool = rollout.NewPool(rules.Plan, 0)
	}
	return w, nil
}

// evaluate gives the results of a task.
func (w *world) evaluate(t rollout.Task) ([]rollout.CandidateResult, error) {
	results := make([]rollout.CandidateResult, len(t.Seeds))
	missing := rollout.Task{State: t.State, HeldOut: t.HeldOut}
	for i, seed := range t.Seeds {
		r, ok := w.known[seed]
		if w.again += r.Steps; ok {
			continue
		}
		if missing.Seeds = append(missing.Seeds, seed); i < len(t.Episodes) {
			missing.Episodes = append(missing.Episodes, t.Episodes[i])
		}
	}
	if len(t.Episodes) == 1 {
		missing.Episodes = t.Episodes
	}
	if len(missing.Seeds) > 0 {
		fresh, err := w.run(missing)
		if err != nil {
			return nil, err
		}
		for i, seed := range missing.Seeds {
			w.known[seed] = fresh[i]
			if w.fresh += fresh[i].Steps; t.HeldOut {
				w.heldOut += fresh[i].Steps
			}
		}
	}
	for i, seed := range t.Seeds {
		results[i] = w.known[seed]
	}
	return results, nil
}

// run evaluates a task for real, or invents its results.
func (w *world) run(t rollout.Task) ([]rollout.CandidateResult, error) {
	if w.pool == nil {
		return invented(t, w.signs), nil
	}
	return w.pool.Evaluate(t, nil)
}

// held returns the mean return of a state's policy over episodes.
func (w *world) held(state *evolve.State, seeds []uint64) float64 {
	returns, sum := make([]float64, len(seeds)), 0.0
	w.pool.Returns(state, seeds, returns)
	for _, r := range returns {
		sum += r
	}
	return sum / float64(len(returns))
}

// Learned says what a swarm learned, and what became of what its machines computed, until it had solved the
// environment.
type Learned struct {
	Solved      bool
	Seconds     float64 // virtual
	Entries     uint64
	Evaluations uint64  // in the log
	Steps       uint64  // in the log
	Logged      float64 // part of what all machines can compute in the time: it is in the log
	Checks      float64 // part: candidates run again
	Lost        float64 // part: neither logged nor a check
	Mean        float64 // return over the episodes of the last look

	Later Later // from Learning.Warm or entry 50 on, where Learning.Least asks for more than that
	Lied  Lied  // over the whole run, where somebody lies
}

// Later is what machines compute once all have a record.
type Later struct {
	Logged float64 // part of what all machines can compute: it is in the log
	Checks float64 // part: candidates run again
	Lost   float64 // part: neither logged nor a check

	HeldOut float64 // part, of what is logged or lost: held-out episodes
	Best    uint64  // height of the best state at last, as the chain says; 0: none
	Score   float64 // its mean return, as the chain says
}

// laterFrom is the entry with which Later begins: from there on votes are weighed by a whole window.
const laterFrom = 50

// Learn has the swarm train until its mean policy solves the environment, as `evonode train --until solved` decides,
// and makes at least so many entries as are asked for, or until so many ticks are over.
func (s *Swarm) Learn(limit coordinator.Tick) (Learned, error) {
	var l Learned
	var before spent
	looked := uint64(0)
	if s.opts.Churn > 0 {
		for _, n := range s.nodes {
			s.session(n)
		}
	}
	for s.now < limit && s.err == nil {
		if s.run(s.now+1) != nil {
			break
		}
		s.world.possible += seconds(1) * s.stepsPerSecond()
		best := s.highest()
		if s.lies != nil {
			s.followLies(best)
		}
		if before.tick == 0 && s.knowEachOther(best) {
			before = s.spent(best)
		}
		if l.Solved {
			if best.Height >= s.opts.Learning.Least {
				break
			}
			continue
		}
		if best.Height < looked+s.rules.Spec.Checks.Every || best.StateHeight != best.Height {
			continue
		}
		looked = best.Height
		l.Entries, l.Evaluations, l.Steps = best.Height, best.Evaluations, best.Steps
		if l.Mean = s.world.held(best.State, s.rules.ValidateSeeds(best.Head)); l.Mean >= s.world.env.SolvedReturn {
			l.Mean = s.world.held(best.State, s.rules.TestSeeds(best.Head, s.rules.Spec.Checks.Test))
			l.Solved = l.Mean >= s.world.env.SolvedReturn
		}
		s.trace("height %d, %d evaluations, %d env-steps: return %.1f", best.Height, best.Evaluations, best.Steps, l.Mean)
		if l.Solved {
			s.used(&l)
			if best.Height >= s.opts.Learning.Least {
				break
			}
		}
	}
	if !l.Solved {
		s.used(&l)
	}
	if before.tick > 0 && s.now > before.tick {
		after := s.spent(s.highest())
		possible := after.possible - before.possible
		l.Later.Logged, l.Later.Checks = float64(after.steps-before.steps)/possible, float64(after.again-before.again)/possible
		l.Later.Lost = float64(after.fresh-before.fresh)/possible - l.Later.Logged
		l.Later.HeldOut = float64(after.heldOut-before.heldOut) / possible
		best := s.highest().BestState
		l.Later.Best, l.Later.Score = best.Height, rollout.FromFitness(best.Score)
	}
	if s.lies != nil {
		l.Lied = s.lied()
	}
	return l, s.err
}

// knowEachOther reports whether Learned.Later begins.
func (s *Swarm) knowEachOther(best coordinator.Snapshot) bool {
	if warm := s.opts.Learning.Warm; warm > 0 {
		return s.now >= warm
	}
	return best.Height >= laterFrom
}

// spent is what all machines computed up to a tick, in env-steps.
type spent struct {
	tick                coordinator.Tick
	steps, fresh, again uint64 // in the log; of candidates; of those that were run again
	heldOut             uint64 // of fresh, of held-out episodes
	possible            float64
}

func (s *Swarm) spent(best coordinator.Snapshot) spent {
	return spent{s.now, best.Steps, s.world.fresh, s.world.again, s.world.heldOut, s.world.possible}
}

// used sums up what the machines did up to now.
func (s *Swarm) used(l *Learned) {
	l.Seconds = seconds(s.now)
	possible := s.world.possible
	l.Logged, l.Checks = float64(l.Steps)/possible, float64(s.world.again)/possible
	l.Lost = float64(s.world.fresh)/possible - l.Logged
}

func seconds(t coordinator.Tick) float64 { return float64(t) * tickNS / 1e9 }

// highest is the view of the honest native whose chain is longest, of those that are here.
func (s *Swarm) highest() (best coordinator.Snapshot) {
	for _, n := range s.honest() {
		if n.coord == nil {
			continue
		}
		if v := n.coord.Snapshot(); v.Height > best.Height {
			best = v
		}
	}
	return best
}
