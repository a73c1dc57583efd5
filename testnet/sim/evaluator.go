package sim

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

// evaluator works off a node's tasks at the rate of its machine: urgent ones first, one after the other.
type evaluator struct {
	tasks   map[uint64]*task // by ID, folds included
	urgent  []*task
	ordered []*task
	running *task
	ended   coordinator.Tick // when the last task ended
	credit  int              // of the tick in which the last task ended, in units of the rate that were not used
}

type task struct {
	coordinator.Work
	canceled bool
	results  []rollout.CandidateResult // where candidates are evaluated for real, which says how long they take
}

// evaluateLater queues a task.
func (s *Swarm) evaluateLater(n *node, w coordinator.Work) {
	t := &task{Work: w}
	n.work.tasks[w.ID] = t
	if w.Urgent {
		n.work.urgent = append(n.work.urgent, t)
	} else {
		n.work.ordered = append(n.work.ordered, t)
	}
	if n.work.running == nil {
		if s.world == nil || n.work.ended < s.now {
			n.work.credit = 0
		}
		s.evaluateNext(n)
	}
}

// evaluateNext starts the next task, if there is one.
func (s *Swarm) evaluateNext(n *node) {
	e := &n.work
	for {
		list := &e.urgent
		if len(*list) == 0 {
			if list = &e.ordered; len(*list) == 0 {
				return
			}
		}
		t := (*list)[0]
		*list = (*list)[1:]
		if t.canceled {
			continue
		}
		e.running = t
		// What is left of the tick in which the last task ended counts.
		cost := s.cost(n, t)
		took := (max(cost-e.credit, 0) + n.rate - 1) / n.rate
		e.credit += took*n.rate - cost
		s.push(s.now+n.speed+coordinator.Tick(took), event{node: n, life: n.lives, do: func() { s.evaluated(n, t) }})
		return
	}
}

// cost is what a task takes of a machine, in the unit of its rate.
func (s *Swarm) cost(n *node, t *task) int {
	if s.world == nil {
		return len(t.Task.Seeds) * signsOf(t.Task, s.rules.Signs())
	}
	var err error
	if t.results, err = s.world.evaluate(t.Task); err != nil {
		s.fail("%w", err)
	}
	if s.lies != nil {
		s.lies.evaluates(n, t.Task, t.results)
	}
	steps := uint64(0)
	for _, r := range t.results {
		steps += r.Steps
	}
	return int(steps) * s.world.stepNS
}

// evaluated ends a task.
func (s *Swarm) evaluated(n *node, t *task) {
	n.work.running, n.work.ended = nil, s.now
	if !t.canceled {
		delete(n.work.tasks, t.ID)
		results := t.results
		if s.world == nil {
			results = s.evaluate(t.Task, n.faulty && !t.Urgent)
		}
		if insider := n.insider(s.now); insider != nil {
			results = insider.Evaluate(n.owner, n.index, t.Work, results)
		}
		if results != nil {
			s.step(n, coordinator.Evaluated{ID: t.ID, Results: results})
		}
	}
	if n.coord != nil && n.work.running == nil {
		s.evaluateNext(n)
	}
}

// cancel gives up a task or a fold.
func (n *node) cancel(id uint64) {
	if t := n.work.tasks[id]; t != nil {
		t.canceled = true
		delete(n.work.tasks, id)
	}
}

// fold does a fold, next to what the evaluator does.
func (s *Swarm) fold(n *node, f *coordinator.Fold) {
	t := &task{}
	n.work.tasks[f.ID] = t
	s.push(s.now+n.fold*coordinator.Tick(len(f.Entries)), event{node: n, life: n.lives, do: func() {
		if t.canceled {
			return
		}
		delete(n.work.tasks, f.ID)
		task, err := f.Task(s.rules, n.disk, nil)
		if err != nil {
			s.fail("node %d: %w", n.index, err)
			return
		}
		folded, err := s.folds.fold(s.rules.Plan, task)
		if err != nil {
			s.fail("node %d: %w", n.index, err)
			return
		}
		s.step(n, f.Answer(s.rules, folded))
	}})
}

// folds remembers what folds gave, since all nodes do the same ones: a swarm of a thousand would spend most of its time
// on them, and keep a thousand copies of each state.
type folds struct {
	new, old map[[32]byte][]rollout.Folded
}

// mostFolds is how many folds are remembered at least.
const mostFolds = 256

func (f *folds) fold(plan rollout.Plan, task rollout.Fold) ([]rollout.Folded, error) {
	data, err := rollout.MarshalFold(task)
	if err != nil {
		return nil, err
	}
	on := task.State.Digest()
	key := sha256.Sum256(append(on[:], data...))
	folded, ok := f.new[key]
	if !ok {
		if folded, ok = f.old[key]; !ok {
			folded = plan.Fold(task)
		}
		if f.new == nil || len(f.new) == mostFolds {
			f.new, f.old = make(map[[32]byte][]rollout.Folded), f.new
		}
		f.new[key] = folded
	}
	return slices.Clone(folded), nil
}

// truth is the synthetic fitness of one perturbation: a hash of its seed and sign.
func truth(seed uint64, sign int) int64 {
	var data [9]byte
	data[0] = byte(sign)
	binary.LittleEndian.PutUint64(data[1:], seed)
	sum := sha256.Sum256(data[:])
	return int64(binary.LittleEndian.Uint32(sum[:4])) << 8
}

// evaluate answers a task; a faulty node inflates its own results.
func (s *Swarm) evaluate(t rollout.Task, inflate bool) []rollout.CandidateResult {
	results := invented(t, s.rules.Signs())
	if inflate {
		for i := range results {
			results[i].Fitness[0] += 1 << 50
		}
	}
	return results
}

// invented gives the synthetic results of a task.
func invented(t rollout.Task, signs int) []rollout.CandidateResult {
	signs = signsOf(t, signs)
	results := make([]rollout.CandidateResult, len(t.Seeds))
	for i, seed := range t.Seeds {
		for sign := range signs {
			results[i].Fitness[sign] = truth(seed, sign)
		}
		results[i].Steps = uint64(signs) * trueSteps(seed)
	}
	return results
}

// signsOf is how many results a task has for each seed, in a run where candidates have so many.
func signsOf(t rollout.Task, signs int) int {
	if t.HeldOut {
		return 1
	}
	return signs
}

// trueSteps is how long the synthetic episode of one perturbation lasts.
func trueSteps(seed uint64) uint64 { return 10 + seed%400 }
