package train

import (
	"context"

	"github.com/evoswarm/evoswarm/internal/devices"
	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/schedule"
	"github.com/evoswarm/evoswarm/node/settings"
)

// fleet evaluates on the cores, and on devices too once one is ready. Without a device the pool is quicker: the
// scheduler takes microseconds for a candidate, which small runs would feel.
type fleet struct {
	pool     *rollout.Pool
	routines *schedule.Routines
	shared   schedule.Blocking
	alone    bool
}

func newFleet(ctx context.Context, pool *rollout.Pool, plan rollout.Plan, chosen *settings.GPU, say func(used bool, text string)) *fleet {
	f := &fleet{pool: pool, routines: schedule.NewRoutines(plan), alone: chosen.Only()}
	if !chosen.Off() {
		f.shared.Scheduler = schedule.New(schedule.Config{Start: f.routines.Start}, pool.Workers())
		chosen.Use(f.shared.Scheduler, plan, say)(ctx)
	}
	return f
}

// Evaluate implements seedlog.Evaluator.
func (f *fleet) Evaluate(t rollout.Task, cancel func() bool) ([]rollout.CandidateResult, error) {
	if f.shared.Scheduler == nil || f.shared.Devices() == 0 || len(t.Seeds) < devices.Least && !f.alone {
		return f.pool.Evaluate(t, cancel)
	}
	return f.shared.Evaluate(t, cancel)
}

func (f *fleet) close() {
	if f.shared.Scheduler != nil {
		f.shared.Close()
		f.routines.Wait()
	}
}
