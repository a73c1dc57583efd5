package daemon

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"strings"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/cost"
	"github.com/evoswarm/evoswarm/internal/mesh"
	"github.com/evoswarm/evoswarm/internal/peer"
	"github.com/evoswarm/evoswarm/internal/runspec"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/internal/store"
)

// findRun returns the genesis block of the run that this node works on: the one to train, that of the targets, or the
// last one; nil if there is none.
func (n *Node) findRun(ctx context.Context, targets []target) (genesis []byte, err error) {
	if len(n.queue) > 0 {
		return n.trainRun()
	}
	if len(targets) > 0 {
		if genesis, err = meet(ctx, n.mesh, targets); err == nil || !errors.Is(err, mesh.ErrUnreachable) || !n.remembers() {
			return genesis, err
		}
	}
	if n.memory.Active == "" {
		return nil, nil
	}
	spec, err := n.spec(n.memory.Active)
	if err != nil || spec == nil {
		return nil, err
	}
	if len(n.cfg.Targets) > 0 {
		n.note("nobody answers at " + strings.Join(n.cfg.Targets, ", ") + ": looking for the nodes that this one remembers")
	}
	n.note(fmt.Sprintf("continuing the run that was active here: %s", spec.Env))
	return seedlog.Encode(spec), nil
}

// remembers reports whether this folder was with a swarm at the same addresses before, and knows others of it: the
// swarm may be there also if these addresses are not.
func (n *Node) remembers() bool {
	return n.memory.Active != "" && slices.Equal(n.memory.Joined, n.cfg.Targets) && len(n.data.Peers()) > 0
}

// trainRun finds the run of this folder that was asked for, or creates it. Of several that were asked for it is the
// first that has not ended, or the last.
func (n *Node) trainRun() (genesis []byte, err error) {
	for !n.cfg.Fresh {
		spec, err := n.trained(n.queue[0])
		if err != nil {
			return nil, err
		}
		if spec == nil {
			break
		}
		if len(n.queue) == 1 || !n.memory.ended(spec.Link().String()) {
			return seedlog.Encode(spec), nil
		}
		n.queue = n.queue[1:]
	}
	options := n.queue[0]
	options.Origin = seedlog.PeerOf(n.data.Key())
	if _, err := rand.Read(options.Nonce[:]); err != nil {
		return nil, err
	}
	spec, err := runspec.NewSpec(options)
	if err != nil {
		return nil, err
	}
	if n.memory.Active != "" {
		n.note(fmt.Sprintf("this is a new run; the previous one, %s, stays in the data folder", n.memory.Active))
	}
	return seedlog.Encode(spec), nil
}

// spec returns the genesis block of a run that the folder remembers; nil if its files are gone.
func (n *Node) spec(run string) (*seedlog.Spec, error) {
	link, err := seedlog.ParseLink(run)
	if err != nil {
		return nil, err
	}
	spec, err := n.data.Spec(link)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return spec, err
}

// trained is the run of this folder that options mean; nil: there is none.
func (n *Node) trained(options runspec.Options) (*seedlog.Spec, error) {
	for _, run := range n.memory.Recent {
		spec, err := n.spec(run)
		if err != nil {
			return nil, err
		}
		if spec == nil {
			continue
		}
		if same, err := n.wanted(spec, options); err != nil || same {
			return spec, err
		}
	}
	return nil, nil
}

// wanted reports whether spec is of a run that options mean: of their environment and, with Exact, all their settings.
// Without, no parameters of the environment were asked for, so one that has some is another.
func (n *Node) wanted(spec *seedlog.Spec, options runspec.Options) (bool, error) {
	if spec.Env.ID != options.Env || spec.Solo() {
		return false, nil
	}
	if !n.cfg.Exact {
		return spec.Env.Params == nil, nil
	}
	options.Nonce, options.Origin = [16]byte(spec.Nonce), seedlog.Peer(spec.Origin)
	same, err := runspec.NewSpec(options)
	if err != nil {
		return false, err
	}
	return same.Link() == spec.Link(), nil
}

// enter starts working on a run.
func (n *Node) enter(ctx context.Context, genesis []byte) error {
	spec, err := seedlog.DecodeSpec(genesis)
	if err != nil {
		return err
	}
	rules, err := seedlog.NewRules(spec)
	if err != nil {
		return err
	}
	// A stranger's run must fit the limits of this computer; a run that is started here was chosen here.
	if len(n.queue) == 0 {
		if err := cost.Of(rules, n.cfg.Workers).Check(cost.StrangerLimits()); err != nil {
			return err
		}
	}
	run, err := n.openBranched(rules)
	if err != nil {
		return err
	}
	for _, note := range run.Notes() {
		n.note(note)
	}
	timing := coordinator.LAN()
	if n.cfg.WAN {
		timing = coordinator.WAN()
	}
	evaluator := peer.NewPoolEvaluator(rules, n.cfg.Workers)
	wait := n.cfg.GPU.Use(evaluator.Scheduler, rules.Plan, func(used bool, text string) {
		level := slog.LevelWarn
		if used {
			level = slog.LevelInfo
		}
		n.cfg.Logger.Log(context.Background(), level, text)
	})
	if n.cfg.GPU.Only() {
		wait(ctx) // until then the cores would compute
	}
	// The peer lives until Close, longer than the context that starts the node.
	n.peer, err = peer.Start(context.Background(), peer.Config{
		Rules: rules, Key: n.data.Key(), Kind: coordinator.Native, Hub: n.hub,
		Mesh: n.mesh, Store: run, Evaluator: evaluator,
		Timing: timing, Paused: n.memory.Paused, Logger: n.cfg.Logger, Curve: n.savedCurve(rules.Run),
		Reopen: func() (store.Store, error) {
			run, err := n.openBranched(rules)
			if err != nil {
				return nil, err
			}
			return run, nil
		},
	})
	if err != nil {
		n.mesh = nil // the peer has closed it
		return err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.memory.use(rules.Run.String())
	n.base = max(n.memory.Lifetime[rules.Run.String()], n.peer.Status().Mine)
	n.memory.Joined = n.cfg.Targets
	return n.memory.write(n.cfg.Data)
}
