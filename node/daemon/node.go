package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"syscall"
	"time"

	"github.com/evoswarm/evoswarm/internal/mesh"
	"github.com/evoswarm/evoswarm/internal/peer"
	"github.com/evoswarm/evoswarm/internal/runspec"
	"github.com/evoswarm/evoswarm/internal/store"
	"github.com/evoswarm/evoswarm/node/httpd"
	"github.com/evoswarm/evoswarm/node/settings"
)

// Config says what a node is to do.
type Config struct {
	Data    string   // folder; required
	Targets []string // addresses and URLs to join
	Public  bool     // whether to listen, serve the page and be found

	Train []runspec.Options // runs to start or to continue, one after the other; none: that of the targets, else the last one
	Exact bool              // continue a run of this folder only if all its settings are those of Train, not just its environment
	Fresh bool              // always start a new run

	HTTP      string // where the page is served; "": the default of a public node
	HTTPGiven bool   // whether the user chose it: then no other port will do
	Metrics   string // where /metrics is served; "": nowhere
	Listen    []string
	Workers   int // cores to lend; 0: all
	GPU       settings.GPU
	Keep      int64 // bytes that branches which lost may take, of each run
	WAN       bool
	MDNS      bool
	Version   string
	Logger    *slog.Logger
}

// Announcement is what a node prints once it is up.
type Announcement struct {
	Page      string   `json:"page"` // URL on this computer, "" for none
	Join      string   `json:"join"` // command for another computer, "" if it could not reach this one
	Run       string   `json:"run"`  // CID, "" for none
	Env       string   `json:"env"`
	Strategy  string   `json:"strategy"`
	Addresses []string `json:"addresses"` // of this node, for peers
	Metrics   string   `json:"metrics"`   // URL of /metrics, "" for none
	Notes     []string `json:"notes"`     // what the user should know
}

// Node is a running node.
type Node struct {
	cfg     Config
	started time.Time
	data    *store.Disk
	mesh    *mesh.Mesh
	peer    *peer.Peer // nil while there is no run
	page    net.Listener
	metrics net.Listener
	hub     bool
	servers []*http.Server
	notes   []string

	mu     sync.Mutex // guards what follows, and writing to the data folder
	memory memory
	run    *store.Run // the peer's; nil while there is no run
	// lastPoint is the last point of the learning curve that was saved.
	lastPoint peer.Point

	base uint64      // evaluations of this computer in the run that were logged before this start
	news chan string // what the owner should know now

	queue []runspec.Options // what is left of Config.Train; the first is the run that this node works on
	over  chan struct{}     // closed when there is another run to work on

	stop     chan struct{} // closed by Stop
	stopOnce sync.Once
}

// Start starts a node. If ctx ends before the node is up, Start fails; afterwards ctx has no effect: see [Node.Wait].
func Start(ctx context.Context, cfg Config) (*Node, error) {
	n := &Node{cfg: cfg, started: time.Now(), stop: make(chan struct{}), over: make(chan struct{}), queue: cfg.Train, news: make(chan string, maxNews)}
	if err := n.start(ctx); err != nil {
		n.release()
		return nil, err
	}
	return n, nil
}

func (n *Node) start(ctx context.Context) (err error) {
	targets, unreachable := resolve(ctx, n.cfg.Targets)
	if unreachable != nil && !errors.Is(unreachable, mesh.ErrUnreachable) {
		return unreachable
	}
	if n.data, err = store.Open(n.cfg.Data); err != nil {
		return err
	}
	if n.memory, err = readMemory(n.cfg.Data); err != nil {
		return err
	}
	if unreachable != nil && !n.remembers() {
		return unreachable
	}
	if err := errors.Join(n.openPage(), n.openMetrics()); err != nil {
		return err
	}
	if err := n.openMesh(ctx); err != nil {
		return err
	}
	genesis, err := n.findRun(ctx, targets)
	if err != nil {
		return err
	}
	if genesis != nil {
		if err := n.enter(ctx, genesis); err != nil {
			return err
		}
	}
	if err := n.serve(); err != nil {
		return err
	}
	if n.peer != nil {
		go n.watchEnd()
	}
	return nil
}

// openPage takes the page's port before anything else starts.
func (n *Node) openPage() (err error) {
	address := n.cfg.HTTP
	if address == "" {
		if n.cfg.HTTPGiven || !n.cfg.Public {
			return nil
		}
		address = DefaultHTTP
	}
	var note string
	n.page, note, err = listenHTTP(address, n.cfg.HTTPGiven)
	n.note(note)
	return err
}

// openMetrics takes the port of /metrics, if there is to be one.
func (n *Node) openMetrics() (err error) {
	if n.cfg.Metrics == "" {
		return nil
	}
	n.metrics, err = net.Listen("tcp", n.cfg.Metrics)
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%w: %s, for metrics", ErrBusy, n.cfg.Metrics)
	}
	return err
}

func (n *Node) openMesh(ctx context.Context) error {
	var listen []string
	if n.cfg.Public || len(n.cfg.Listen) > 0 {
		var note string
		var err error
		if listen, note, err = peerPorts(n.cfg.Listen); err != nil {
			return err
		}
		n.note(note)
	}
	n.hub = len(listen) > 0
	var err error
	n.mesh, err = mesh.New(ctx, mesh.Config{
		Key: n.data.Key(), Hub: n.hub, Listen: listen, Agent: "evonode/" + n.cfg.Version, Peers: n.data.Peers(),
		MDNS: n.cfg.MDNS, PortMap: n.cfg.Public, Logger: n.cfg.Logger,
	})
	return err
}

// serve starts the HTTP side and the control socket.
func (n *Node) serve() error {
	control, err := httpd.ListenControl(n.cfg.Data)
	if err != nil {
		return err
	}
	n.listen(control, httpd.NewControlHandler(n))
	if n.page != nil {
		n.listen(n.page, httpd.NewHandler(n))
	}
	if n.metrics != nil {
		n.listen(n.metrics, httpd.NewMetricsHandler(n))
	}
	go n.remember()
	return nil
}

func (n *Node) listen(l net.Listener, h http.Handler) {
	server := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 32 << 10,
		ErrorLog: slog.NewLogLogger(n.cfg.Logger.Handler(), slog.LevelDebug)}
	n.servers = append(n.servers, server)
	go func() {
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			n.cfg.Logger.Error("serving HTTP", "address", l.Addr(), "error", err)
		}
	}()
}

// rememberEvery is how often the node saves what only helps its next start.
const rememberEvery = 30 * time.Second

// remember saves which hubs answered and the learning curve, until the node stops.
func (n *Node) remember() {
	tick := time.NewTicker(rememberEvery)
	defer tick.Stop()
	for {
		select {
		case <-n.stop:
			return
		case <-tick.C:
			n.savePeers()
			n.saveCurve()
			n.saveLifetime()
		}
	}
}

func (n *Node) savePeers() {
	n.mu.Lock()
	defer n.mu.Unlock()
	hubs := n.mesh.Hubs()
	if len(hubs) == 0 {
		return
	}
	if err := n.data.SavePeers(hubs); err != nil {
		n.cfg.Logger.Warn("remembering peers", "error", err)
	}
}

// Rest is what is left to train after the present run.
func (n *Node) Rest() []runspec.Options { return n.queue[min(1, len(n.queue)):] }

// Announcement describes the node as it came up.
func (n *Node) Announcement() Announcement {
	s := n.Status()
	a := Announcement{Run: s.Run, Env: s.Env, Strategy: s.Strategy, Addresses: n.mesh.Addrs(), Notes: n.notes}
	elsewhere := ""
	if n.page != nil {
		a.Page, elsewhere = pageURLs(n.page)
	}
	if n.metrics != nil {
		a.Metrics = "http://" + n.metrics.Addr().String() + "/metrics"
	}
	pin := ""
	if s.Run != "" && len(n.queue) < 2 { // else others follow to the next run
		pin = "#" + s.Run
	}
	switch {
	case elsewhere != "":
		a.Join = "evonode join " + elsewhere + pin
	case len(a.Addresses) > 0:
		a.Join = "evonode join " + a.Addresses[0] + pin
	}
	return a
}

// Wait returns when the node has to end: because ctx ended, because its owner stopped it, or with the error that did.
func (n *Node) Wait(ctx context.Context) error {
	var done <-chan struct{} // never, while there is no run
	if n.peer != nil {
		done = n.peer.Done()
	}
	select {
	case <-ctx.Done():
		return nil
	case <-n.stop:
		return nil
	case <-done:
		return n.peer.Err()
	}
}

// Close hands over leadership, leaves the swarm, writes everything to disk and frees the data folder. ctx
// bounds the leaving. The control socket answers until all of that is done.
func (n *Node) Close(ctx context.Context) error {
	n.Stop()
	n.savePeers()
	if n.page != nil {
		n.servers[1].Close()
	}
	var err error
	if n.peer != nil {
		err = n.peer.Close(ctx)
		n.saveCurve()
		n.saveLifetime()
	}
	n.release()
	return err
}

// release frees what a node holds, even one that failed to start.
func (n *Node) release() {
	if n.peer != nil {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		n.peer.Close(ctx) // no-op after Close
	} else if n.mesh != nil {
		n.mesh.Close()
	}
	for _, s := range n.servers {
		s.Close()
	}
	for _, l := range []net.Listener{n.page, n.metrics} {
		if l != nil {
			l.Close()
		}
	}
	if n.data != nil {
		httpd.RemoveControl(n.cfg.Data)
		n.data.Close()
	}
}

func (n *Node) note(text string) {
	if text != "" {
		n.notes = append(n.notes, text)
	}
}

// Status implements [httpd.Node].
func (n *Node) Status() httpd.Status {
	s := httpd.Status{Uptime: time.Since(n.started).Seconds(), Version: n.cfg.Version}
	if n.page != nil {
		s.Page, _ = pageURLs(n.page)
	}
	if n.peer != nil {
		s.Status = n.peer.Status()
		s.Leader = s.Status.Leader
		s.SetSolved(n.peer.Curve())
		n.countLifetime(&s)
		return s
	}
	s.Self = n.mesh.Self().String()
	s.State, s.Reason, s.Why = peer.Idle, peer.NoRun, "no run yet: start the node with --train ENV"
	return s
}

// Roster implements [httpd.Node] and [httpd.Control].
func (n *Node) Roster(ctx context.Context) (*peer.Roster, error) {
	if n.peer == nil {
		return &peer.Roster{Members: []peer.Member{}}, nil
	}
	return n.peer.Roster(ctx)
}

// Addresses implements [httpd.Node].
func (n *Node) Addresses() []string { return n.mesh.Addrs() }

// WriteLog implements [httpd.Node].
func (n *Node) WriteLog(w io.Writer) error {
	if n.peer == nil {
		return peer.ErrClosed
	}
	return n.peer.Log(w)
}

// SetPaused implements [httpd.Control]: the next status has the new state. It survives a restart.
func (n *Node) SetPaused(paused bool) error {
	n.mu.Lock()
	n.memory.Paused = paused
	err := n.memory.write(n.cfg.Data)
	n.mu.Unlock()
	if n.peer != nil {
		n.pause(paused)
	}
	return err
}

// pausePatience bounds the wait for a peer to pause.
const pausePatience = 5 * time.Second

// pause tells the peer, and waits until its status says so.
func (n *Node) pause(paused bool) {
	updates, end := n.peer.Watch()
	defer end()
	n.peer.Pause(paused)
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

// Stop implements [httpd.Control].
func (n *Node) Stop() { n.stopOnce.Do(func() { close(n.stop) }) }

// Watch returns a channel with the newest status, and a function that ends it. Without a run the channel is nil.
func (n *Node) Watch() (<-chan peer.Status, func()) {
	if n.peer == nil {
		return nil, func() {}
	}
	return n.peer.Watch()
}
