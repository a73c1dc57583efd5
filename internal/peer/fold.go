package peer

import (
	"time"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

// fold starts a fold; its answer comes through the inbox. It hashes for every result before and after: not in the loop.
func (p *Peer) fold(f *coordinator.Fold) {
	begun := time.Now()
	go func() {
		failed := func(err error) {
			p.log.Error("folding failed", "err", err)
			p.inbox.post(func() { p.step(coordinator.Folded{ID: f.ID, Failed: true}) })
		}
		task, err := f.Task(p.rules, &p.archive, turns())
		if err != nil {
			failed(err)
			return
		}
		p.cfg.Evaluator.Fold(f.ID, task, func(folded []rollout.Folded, err error) {
			if err != nil {
				failed(err)
				return
			}
			e := f.Answer(p.rules, folded)
			p.inbox.post(func() {
				d := &p.driver
				if d.snapshot.Syncing && d.foldedAt.After(begun.Add(-slowest)) {
					begun = d.foldedAt // folds wait for the re-runs that this peer owes
				}
				d.foldedAt = time.Now()
				d.pace.measure(len(f.Entries), d.foldedAt.Sub(begun))
				p.step(e)
			})
		})
	}()
}

// slowest is for how long a wait between two folds counts as part of the work.
const slowest = 5 * time.Second

// pace is how long folding an entry took of late; 0: not known.
type pace time.Duration

func (a *pace) measure(entries int, took time.Duration) {
	each := pace(took / time.Duration(max(entries, 1)))
	if *a != 0 {
		each = (*a + each) / 2
	}
	*a = each
}

// left estimates how long so many entries take [s]; 0: not known.
func (a pace) left(entries uint64) float64 {
	return float64(entries) * time.Duration(a).Seconds()
}
