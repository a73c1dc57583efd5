package gpu

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"sync"
	"time"

	"crypto/sha256"
	_ "embed"

	"github.com/evoswarm/evoswarm/envs"
	_ "github.com/evoswarm/evoswarm/envs/all" // LunarLander
	"github.com/evoswarm/evoswarm/internal/evolve"
	"github.com/evoswarm/evoswarm/internal/policy"
	"github.com/evoswarm/evoswarm/internal/rollout"
)

// Golden episodes: candidates around a policy that lands, in LunarLander-v3, calm and then with other parameters. Their
// physics has contacts of bodies that move, rest and sleep, with arithmetic of both sizes, square roots, sines and
// cosines.
const (
	goldenCandidates = 16
	goldenEpisodes   = 2
)

// landing are the parameters of a policy of 8 hidden units that lands, little-endian float32.
//
//go:embed landing.bin
var landing []byte

// goldenSHA256 is the digest of the results, for each candidate fitness and env-steps, little-endian.
const goldenSHA256 = "2e15818163553b53a6dba2cb4bb996393c8c29db2b974a9951098c5738120894"

// otherParams are other parameters of the same episodes, and otherSHA256 the digest of their results.
var otherParams = envs.Params{"gravity": -8, "enable_wind": 1, "wind_power": 12, "turbulence_power": 0.5}

const otherSHA256 = "0a0189c1a6949a9711d7bee383f186fe2cc0363bc9502e8bc7a68f463b2c5944"

// golden is the plan and the task of golden episodes.
type golden struct {
	plan   rollout.Plan
	task   rollout.Task
	sha256 string
}

// goldenRun and otherRun make them, once.
var (
	goldenRun = sync.OnceValues(func() (*golden, error) { return newGolden(nil, goldenSHA256) })
	otherRun  = sync.OnceValues(func() (*golden, error) { return newGolden(otherParams, otherSHA256) })
)

func newGolden(world envs.Params, sha256 string) (*golden, error) {
	method, err := evolve.Find("dises")
	if err != nil {
		return nil, err
	}
	params, err := method.Complete(evolve.Params{"sigma": 0.05})
	if err != nil {
		return nil, err
	}
	env, err := envs.Find("LunarLander-v3")
	if err != nil {
		return nil, err
	}
	plan, err := rollout.NewPlan(rollout.Setup{
		EnvID: env.ID, EnvRevision: env.Revision, EnvParams: world, Strategy: method.Name, StrategyRevision: method.Revision, Params: params, Population: goldenCandidates,
		Policy: policy.Spec{Kind: "mlp", Hidden: []uint64{8}, Activation: "tanh", Bias: true, Head: "argmax"},
	})
	if err != nil {
		return nil, err
	}
	theta := make([]float32, plan.Policy.Dim())
	if _, err := binary.Decode(landing, binary.LittleEndian, theta); err != nil || len(landing) != 4*len(theta) {
		panic("gpu: landing.bin is damaged")
	}
	g := &golden{plan, rollout.Task{State: plan.Strategy.Init(theta), Episodes: [][]uint64{{}}}, sha256}
	for i := range uint64(goldenCandidates) {
		g.task.Seeds = append(g.task.Seeds, i)
	}
	for i := range uint64(goldenEpisodes) {
		g.task.Episodes[0] = append(g.task.Episodes[0], i)
	}
	return g, nil
}

// check compares results with the golden ones.
func (g *golden) check(results []rollout.CandidateResult) error {
	h := sha256.New()
	for _, r := range results {
		h.Write(binary.LittleEndian.AppendUint64(nil, uint64(r.Fitness[0])))
		h.Write(binary.LittleEndian.AppendUint64(nil, r.Steps))
	}
	if sum := hex.EncodeToString(h.Sum(nil)); sum != g.sha256 {
		return fmt.Errorf("%w: episodes of %s end otherwise; the CPU's cores compute", ErrDiffers, g.plan.Env.ID)
	}
	return nil
}

// testGolden plays the golden episodes on a session, the calm ones at least twice if timed, and returns evaluations per
// second.
func testGolden(s session, info Info, timed bool) (rate float64, err error) {
	other, err := otherRun()
	if err != nil {
		return 0, err
	}
	if _, err := other.play(s, info, false); err != nil {
		return 0, err
	}
	g, err := goldenRun()
	if err != nil {
		return 0, err
	}
	return g.play(s, info, timed)
}

// play plays them, at least twice if timed.
func (g *golden) play(s session, info Info, timed bool) (rate float64, err error) {
	p, err := newPlayer(s, info, g.plan)
	if err != nil {
		return 0, err
	}
	defer p.free()
	o := g.plan.Offload(g.task)
	for {
		begin := time.Now()
		outcomes, err := p.evaluate(o, nil)
		if err != nil {
			return 0, err
		}
		if err := g.check(o.Join(outcomes)); err != nil {
			return 0, err
		}
		again := rate == 0
		rate = goldenCandidates / time.Since(begin).Seconds()
		if !timed || !again {
			return rate, nil
		}
	}
}

// Test opens a device, tests its arithmetic and plays golden episodes, and returns how many evaluations of these it
// makes in a second. Errors wrap one of the package's.
func Test(info Info) (evalsPerSecond float64, err error) {
	if info.Err != nil {
		return 0, info.Err
	}
	s, err := info.open()
	if err != nil {
		return 0, err
	}
	defer s.close()
	if err := testArithmetic(s); err != nil {
		return 0, err
	}
	return testGolden(s, info, true)
}

// TestCores is the same for this computer's cores, but for arithmetic: it is what devices are compared with.
func TestCores() (evalsPerSecond float64, err error) {
	g, err := goldenRun()
	if err != nil {
		return 0, err
	}
	pool := rollout.NewPool(g.plan, 0)
	begin := time.Now()
	results, err := pool.Evaluate(g.task, nil)
	if err != nil {
		return 0, err
	}
	return goldenCandidates / time.Since(begin).Seconds(), g.check(results)
}
