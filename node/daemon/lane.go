package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/cost"
	"github.com/evoswarm/evoswarm/internal/mesh"
	"github.com/evoswarm/evoswarm/internal/peer"
	"github.com/evoswarm/evoswarm/internal/runspec"
	"github.com/evoswarm/evoswarm/internal/schedule"
	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/internal/store"
	"github.com/evoswarm/evoswarm/node/httpd"
)

// lane is one of the runs that a node works on at the same time, and the queue of those that come after it in its
// place. A lane has a host of its own, on its own ports, since a host is in one run; the key, the data folder, the
// page and the cores are the node's.
type lane struct {
	node   *Node
	number int // from 0, in the order of --train
	listen []string
	share  *schedule.Share // of the cores; nil: it has all of them

	mu    sync.Mutex        // guards what follows
	queue []runspec.Options // what is left to train; the first is the run that the lane works on
	mesh  *mesh.Mesh
	peer  *peer.Peer // nil while there is no run
	run   *store.Run // the peer's
	err   error      // why there is no run; nil: there is none to begin

	// What follows is guarded by the node's lock.
	lastPoint peer.Point // of the learning curve that was saved
	base      uint64     // evaluations of this computer in the run that were logged before this start

	hasDropped bool // whether the owner knows that older entries go; the peer's loop alone uses it
}

// unopened is the error of a run whose files cannot be used.
type unopened struct{ error }

func (u unopened) Unwrap() error { return u.error }

// begin opens the lane's host and starts working on its run, if there is one.
func (l *lane) begin(ctx context.Context, targets []target) error {
	genesis, err := l.ownRun()
	if err != nil {
		return err
	}
	m, err := l.openMesh(ctx, genesis)
	if err != nil {
		return err
	}
	trains, found := len(l.left()) > 0, false
	if !trains && len(targets) > 0 {
		sought, err := l.node.find(ctx, m, targets)
		if found = err == nil; found {
			genesis = sought
		} else if !errors.Is(err, mesh.ErrUnreachable) || !l.remembers() && l.awaited() == "" {
			m.Close()
			return err
		}
	}
	if run := l.awaited(); run != "" && !found && (genesis == nil || seedlog.LinkOf(genesis).String() != run) {
		l.node.note(fmt.Sprintf("nobody answers at %s: waiting for peers of the run to dial this node, such as tabs that knew it or have its page open",
			strings.Join(l.node.cfg.Targets, ", ")))
		genesis = nil
	}
	if genesis == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.mesh, l.peer, l.run, l.err = m, nil, nil, nil
		return nil
	}
	if !trains && !found && len(l.node.cfg.Targets) > 0 {
		l.node.note("nobody answers at " + strings.Join(l.node.cfg.Targets, ", ") + ": looking for the nodes that this one remembers")
	}
	if err := l.enter(ctx, m, genesis); err != nil {
		return err
	}
	if !trains && !found {
		l.node.note("continuing the run that was active here: " + l.working().Status().Env)
	}
	return nil
}

// left is what of the queue is left to train, the run that the lane works on first.
func (l *lane) left() []runspec.Options {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.queue
}

// advance goes to the next run of the queue, if there is one.
func (l *lane) advance() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) > 1 {
		l.queue = l.queue[1:]
	}
}

// openMesh opens the lane's host, for a run if that is known.
func (l *lane) openMesh(ctx context.Context, genesis []byte) (*mesh.Mesh, error) {
	n := l.node
	n.mu.Lock()
	peers := n.data.Peers()
	if genesis != nil {
		if own := n.data.RunPeers(seedlog.LinkOf(genesis)); len(own) > 0 || l.number > 0 {
			peers = own
		}
	}
	n.mu.Unlock()
	return mesh.New(ctx, mesh.Config{
		Key: n.data.Key(), Hub: len(l.listen) > 0, Listen: l.listen, Agent: "evonode/" + n.cfg.Version, Peers: peers,
		MDNS: n.cfg.MDNS, PortMap: n.cfg.Public, Announce: n.cfg.Announce, Secure: n.secure, Relays: n.cfg.Relays, Hosts: len(n.lanes), PerAddress: n.cfg.PerAddress, Reached: n.reached, Logger: n.cfg.Logger,
	})
}

// enter starts working on a run with a host, which it closes if that fails.
func (l *lane) enter(ctx context.Context, m *mesh.Mesh, genesis []byte) error {
	rules, run, err := l.open(genesis)
	if err != nil {
		m.Close()
		return err
	}
	n := l.node
	for _, note := range run.Notes() {
		n.note(note)
	}
	timing := coordinator.LAN()
	if n.cfg.WAN {
		timing = coordinator.WAN()
	}
	n.mu.Lock()
	paused, curve := n.memory.Paused, n.savedCurve(rules.Run)
	n.mu.Unlock()
	// The peer lives until Close, longer than the context that starts the node.
	p, err := peer.Start(context.Background(), peer.Config{
		Rules: rules, Key: n.data.Key(), Kind: coordinator.Native, Hub: len(l.listen) > 0,
		Mesh: m, Store: run, Evaluator: l.evaluator(ctx, rules),
		Timing: timing, Paused: paused, Logger: n.cfg.Logger, Curve: curve,
		Dropped: l.dropped,
		Reopen: func() (store.Store, error) {
			run, err := l.openBranched(rules)
			if err != nil {
				return nil, err
			}
			return run, nil
		},
	})
	if err != nil {
		return unopened{err} // the peer has closed the host
	}
	l.mu.Lock()
	l.mesh, l.peer, l.err = m, p, nil
	l.mu.Unlock()
	n.mu.Lock()
	defer n.mu.Unlock()
	l.base = max(n.memory.Lifetime[rules.Run.String()], p.Status().Mine)
	n.memory.use(l.number, rules.Run.String())
	n.memory.Joined = n.cfg.Targets
	return n.memory.write(n.cfg.Data)
}

// open opens what the data folder has of a run.
func (l *lane) open(genesis []byte) (*seedlog.Rules, *store.Run, error) {
	spec, err := seedlog.DecodeSpec(genesis)
	if err != nil {
		return nil, nil, err
	}
	rules, err := seedlog.NewRules(spec)
	if err != nil {
		return nil, nil, err
	}
	// A stranger's run must fit the limits of this computer; a run that is started here was chosen here.
	if len(l.left()) == 0 {
		if err := cost.Of(rules, l.node.cfg.Workers).Check(cost.StrangerLimits()); err != nil {
			return nil, nil, err
		}
	}
	run, err := l.openBranched(rules)
	return rules, run, err
}

// evaluator computes for a run, on the lane's part of the cores.
func (l *lane) evaluator(ctx context.Context, rules *seedlog.Rules) *peer.PoolEvaluator {
	cfg := &l.node.cfg
	var evaluator *peer.PoolEvaluator
	if l.share == nil {
		evaluator = peer.NewPoolEvaluator(rules, cfg.Workers)
	} else {
		evaluator = peer.NewSharingEvaluator(rules, cfg.Workers, l.share)
	}
	wait := cfg.GPU.Use(evaluator.Scheduler, rules.Plan, func(used bool, text string) {
		level := slog.LevelWarn
		if used {
			level = slog.LevelInfo
		}
		cfg.Logger.Log(context.Background(), level, text)
	})
	if cfg.GPU.Only() {
		wait(ctx) // until then the cores would compute
	}
	return evaluator
}

// current is what the lane works with; both may be nil.
func (l *lane) current() (*mesh.Mesh, *peer.Peer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.mesh, l.peer
}

// working is the peer; nil while there is no run.
func (l *lane) working() *peer.Peer {
	_, p := l.current()
	return p
}

// runID is the run that the lane works on, "" for none.
func (l *lane) runID() string {
	if p := l.working(); p != nil {
		return p.Status().Run
	}
	return ""
}

// down notes that the lane has no run, and why.
func (l *lane) down(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.mesh, l.peer, l.run, l.err = nil, nil, nil, err
}

// name is what the lane trains, for people.
func (l *lane) name() string {
	name := fmt.Sprintf("run %d", l.number+1)
	if queue := l.left(); len(queue) > 0 {
		name += " (" + queue[0].Env + ")"
	}
	return name
}

// close leaves the swarm and writes everything to disk.
func (l *lane) close(ctx context.Context) error {
	m, p := l.current()
	var err error
	if p != nil {
		err = p.Close(ctx)
		l.saveCurve()
		l.saveLifetime()
	} else if m != nil {
		err = m.Close()
	}
	return err
}

// Status implements [httpd.Run].
func (l *lane) Status() httpd.Status {
	n := l.node
	s := httpd.Status{Uptime: time.Since(n.started).Seconds(), Version: n.cfg.Version}
	if n.page != nil {
		s.Page, _ = pageURLs(n.page)
	}
	if p := l.working(); p != nil {
		s.Status = p.Status()
		s.Leader = s.Status.Leader
		s.SetSolved(p.Curve())
		n.countLifetime(&s, l)
		return s
	}
	s.Self = seedlog.PeerOf(n.data.Key()).String()
	s.State, s.Reason, s.Why = peer.Idle, peer.NoRun, "no run yet: start the node with --train ENV"
	awaited := l.awaited()
	l.mu.Lock()
	defer l.mu.Unlock()
	switch l.err {
	case nil:
		if awaited != "" {
			s.Why = "waiting for peers of the run to dial this node"
		}
	case errMoving:
		s.Why = l.err.Error()
	default:
		s.Why, s.Error = "the run does not start; it is tried again each minute", l.err.Error()
	}
	return s
}

// Roster implements [httpd.Run].
func (l *lane) Roster(ctx context.Context) (*peer.Roster, error) {
	p := l.working()
	if p == nil {
		return &peer.Roster{Members: []peer.Member{}}, nil
	}
	return p.Roster(ctx)
}

// Addresses implements [httpd.Run].
func (l *lane) Addresses() []string {
	m, _ := l.current()
	if m == nil {
		return nil
	}
	return m.Addrs()
}

// WriteLog implements [httpd.Run].
func (l *lane) WriteLog(w io.Writer) error {
	p := l.working()
	if p == nil {
		return peer.ErrClosed
	}
	return p.Log(w)
}

// Curve implements [httpd.Run].
func (l *lane) Curve() []peer.Point {
	p := l.working()
	if p == nil {
		return []peer.Point{}
	}
	return p.Curve()
}

// pausePatience bounds the wait for a peer to pause.
const pausePatience = 5 * time.Second

// pause tells the peer, and waits until its status says so.
func (l *lane) pause(paused bool) {
	p := l.working()
	if p == nil {
		return
	}
	updates, end := p.Watch()
	defer end()
	p.Pause(paused)
	late := time.After(pausePatience)
	for {
		select {
		case s, running := <-updates:
			if !running || (s.State == peer.Paused) == paused || s.Error != "" {
				return
			}
		case <-late:
			return
		}
	}
}

// savePeers saves where the run is found again.
func (l *lane) savePeers() {
	m, p := l.current()
	if m == nil {
		return
	}
	hubs := m.Hubs()
	if len(hubs) == 0 {
		return
	}
	n := l.node
	n.mu.Lock()
	defer n.mu.Unlock()
	var err error
	if l.number == 0 {
		err = n.data.SavePeers(hubs)
	}
	if p != nil && err == nil {
		var run seedlog.Link
		if run, err = seedlog.ParseLink(p.Status().Run); err == nil {
			err = n.data.SaveRunPeers(run, hubs)
		}
	}
	if err != nil {
		n.cfg.Logger.Warn("remembering peers", "error", err)
	}
}
