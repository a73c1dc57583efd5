package gpu

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/evoswarm/evoswarm/internal/rollout"
)

// retest is how long a device computes until its arithmetic is tested again.
const retest = 30 * time.Minute

// Device is a device that evaluates tasks of one plan. It is safe for concurrent use: one call computes at a time.
//
// What it hands out is checked: of every task, a candidate that nobody can foresee is evaluated again by the CPU. One
// result that differs ends its use.
type Device struct {
	info Info
	plan rollout.Plan

	mu     sync.Mutex
	s      session
	player *player
	err    error // why it is not used any more
	tested time.Time
	check  *checker
}

// Open prepares a device for a plan: it tests the device with arithmetic and golden episodes, and compiles the
// environment's program. It takes seconds the first time and less later, since compiled programs are kept in the
// user's cache folder. Errors wrap one of the package's.
func Open(info Info, plan rollout.Plan) (*Device, error) {
	if info.Err != nil {
		return nil, info.Err
	}
	s, err := info.open()
	if err != nil {
		return nil, err
	}
	d := &Device{info: info, plan: plan, s: s, check: newChecker(plan)}
	if err := d.start(); err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

// start tests the device and builds the program. The lock is held, or nobody else has d.
func (d *Device) start() (err error) {
	if d.player != nil {
		d.player.free()
		d.player = nil
	}
	if err := testArithmetic(d.s); err != nil {
		return err
	}
	if _, err := testGolden(d.s, d.info, false); err != nil {
		return err
	}
	d.player, err = newPlayer(d.s, d.info, d.plan)
	d.tested = time.Now()
	return err
}

// Info describes the device.
func (d *Device) Info() Info { return d.info }

// Evaluate returns what rollout.Pool's Evaluate returns for t: the same bits. A cancel function that is not nil is
// called between launches; once it returns true, the error is rollout.ErrCanceled. Other errors wrap
// rollout.ErrTask, evolve.ErrState, or one of this package, and then the caller evaluates t itself. After
// ErrDiffers and ErrLost the device is not used again: all later calls return the same error.
func (d *Device) Evaluate(t rollout.Task, cancel func() bool) ([]rollout.CandidateResult, error) {
	if err := d.plan.Check(t); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.err != nil {
		return nil, d.err
	}
	results, err := d.evaluate(t, cancel)
	if errors.Is(err, ErrDiffers) || errors.Is(err, ErrLost) {
		d.err = err
	}
	return results, err
}

func (d *Device) evaluate(t rollout.Task, cancel func() bool) ([]rollout.CandidateResult, error) {
	if time.Since(d.tested) > retest {
		if err := d.start(); err != nil {
			return nil, err
		}
	}
	i, checked := rand.IntN(len(t.Seeds)), make(chan rollout.CandidateResult, 1)
	go func() { checked <- d.check.evaluate(t, i) }()
	o := d.plan.Offload(t)
	outcomes, err := d.player.evaluate(o, cancel)
	want := <-checked
	if err != nil {
		return nil, err
	}
	results := o.Join(outcomes)
	if want != results[i] {
		return nil, fmt.Errorf("%w: of seed %d, fitness %d in %d env-steps, and the CPU gets %d in %d; the CPU's cores compute",
			ErrDiffers, t.Seeds[i], results[i].Fitness, results[i].Steps, want.Fitness, want.Steps)
	}
	return results, nil
}

// Close gives the device back.
func (d *Device) Close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.s == nil {
		return
	}
	if d.player != nil {
		d.player.free()
	}
	d.s.close()
	d.s = nil
	d.err = errors.Join(d.err, fmt.Errorf("%w: it is closed", ErrLost))
}

// checker evaluates single candidates on the CPU.
type checker struct{ pool *rollout.Pool }

func newChecker(plan rollout.Plan) *checker { return &checker{rollout.NewPool(plan, 1)} }

// evaluate returns the result for seed i of t, which has passed Plan.Check.
func (c *checker) evaluate(t rollout.Task, i int) rollout.CandidateResult {
	one := rollout.Task{State: t.State, Seeds: t.Seeds[i : i+1], Episodes: t.Episodes}
	if len(t.Episodes) > 1 {
		one.Episodes = t.Episodes[i : i+1]
	}
	results, _ := c.pool.EvaluateChecked(one, nil) // fails only if canceled
	return results[0]
}

func isMemory(err error) bool { return errors.Is(err, ErrMemory) }
