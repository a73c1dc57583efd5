package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/evoswarm/evoswarm/internal/autotls"
	"github.com/evoswarm/evoswarm/internal/dht"
	"github.com/evoswarm/evoswarm/internal/mesh"
	"github.com/evoswarm/evoswarm/internal/runspec"
	"github.com/evoswarm/evoswarm/internal/schedule"
	"github.com/evoswarm/evoswarm/internal/store"
	"github.com/evoswarm/evoswarm/node/httpd"
	"github.com/evoswarm/evoswarm/node/settings"
)

// Config says what a node is to do.
type Config struct {
	Data    string   // folder; required
	Targets []string // addresses and URLs to join
	Public  bool     // whether to listen, serve the page and be found

	// Train has queues of runs to start or to continue: the first of each at the same time, the rest as those before
	// them end. None: the run of the targets, else those that the node worked on last.
	Train [][]runspec.Options
	Exact bool // continue a run of this folder only if all its settings are those of Train, not just its environment
	Fresh bool // always start a new run

	HTTP      string // where the page is served; "": the default of a public node
	HTTPGiven bool   // whether the user chose it: then no other port will do
	Metrics   string // where /metrics is served; "": nowhere
	Listen    []string
	TLSCert   string // file of a certificate for WebSocket over TLS; "": none
	TLSKey    string
	AutoTLS   *AutoTLS // has a certificate for that made; nil: not
	Announce  []string // addresses at which others can dial the node besides
	Relays    []string // full addresses of nodes that lead others to this one if nobody can dial it
	// PerAddress is how many connections an IP address may have; 0: the default.
	PerAddress int

	DHT          bool     // whether a DHT is asked for nodes of the run, and told of this one
	DHTBootstrap []string // full addresses of servers of a private DHT; none: the public one of IPFS

	Workers int // cores to lend; 0: all
	GPU     settings.GPU
	Keep    int64 // bytes that a run may take; without Bounded those that branches which lost may
	Bounded bool  // whether Keep bounds the run, where its log can be cut
	WAN     bool
	MDNS    bool
	Version string
	Logger  *slog.Logger
}

// Announcement is what a node prints once it is up.
type Announcement struct {
	Page      string   `json:"page"` // URL on this computer, "" for none
	Join      string   `json:"join"` // command for another computer, "" if it could not reach this one
	Run       string   `json:"run"`  // CID, "" for none
	Env       string   `json:"env"`
	Strategy  string   `json:"strategy"`
	Addresses []string `json:"addresses"`         // of this node, for peers
	Metrics   string   `json:"metrics"`           // URL of /metrics, "" for none
	Notes     []string `json:"notes"`             // what the user should know
	Awaited   string   `json:"awaited,omitempty"` // run of which nobody answers, "" for none
	// Runs are those that the node works on, where it is more than one; what is above is the first one's.
	Runs []AnnouncedRun `json:"runs,omitempty"`
}

// AnnouncedRun is one of several runs.
type AnnouncedRun struct {
	Run       string   `json:"run"`
	Env       string   `json:"env"`
	Strategy  string   `json:"strategy"`
	Join      string   `json:"join"` // command that takes part in this run
	Addresses []string `json:"addresses"`
}

// Node is a running node.
type Node struct {
	cfg     Config
	started time.Time
	data    *store.Disk
	lanes   []*lane // one at least; in the order of Config.Train
	secure  mesh.Secure
	page    net.Listener
	metrics net.Listener
	servers []*http.Server

	certificates *autotls.Keeper // nil: none
	certified    atomic.Pointer[string]

	directory     *dht.Client // nil: none
	directoryDown atomic.Bool // whether the owner knows that it does not answer

	mu     sync.Mutex // guards what follows, what of lanes says so, and writing to the data folder
	memory memory
	notes  []string // what the owner was not told yet

	news   chan string // what the owner should know now
	moved  chan string // why a lane has moved on to another run
	failed chan error  // what ends the node

	stop     chan struct{} // closed by Stop
	stopOnce sync.Once
	living   sync.WaitGroup // lanes
}

// Start starts a node. If ctx ends before the node is up, Start fails; afterwards ctx has no effect: see [Node.Wait].
func Start(ctx context.Context, cfg Config) (*Node, error) {
	n := &Node{cfg: cfg, started: time.Now(), stop: make(chan struct{}), news: make(chan string, maxNews),
		moved: make(chan string, maxNews), failed: make(chan error, 1)}
	if err := n.start(ctx); err != nil {
		n.release()
		return nil, err
	}
	return n, nil
}

func (n *Node) start(ctx context.Context) (err error) {
	targets, unreachable := n.resolve(ctx)
	if unreachable != nil && !errors.Is(unreachable, mesh.ErrUnreachable) {
		return unreachable
	}
	if n.data, err = store.Open(n.cfg.Data); err != nil {
		return err
	}
	if n.memory, err = readMemory(n.cfg.Data); err != nil {
		return err
	}
	n.plan()
	if unreachable != nil && !n.lanes[0].remembers() && n.lanes[0].awaited() == "" {
		return unreachable
	}
	if err := errors.Join(n.openPage(), n.openMetrics(), n.openSecure(), n.openDirectory()); err != nil {
		return err
	}
	if err := n.beginLanes(ctx, targets); err != nil {
		return err
	}
	if err := n.serve(); err != nil {
		return err
	}
	for _, l := range n.lanes {
		n.living.Go(l.live)
		if n.directory != nil {
			n.living.Go(l.consult)
		}
	}
	return nil
}

// plan makes the lanes: one for each queue, or for each run that the node had when it ended.
func (n *Node) plan() {
	for _, queue := range n.cfg.Train {
		n.lanes = append(n.lanes, &lane{node: n, queue: queue})
	}
	if len(n.lanes) == 0 {
		n.lanes = []*lane{{node: n}}
		n.memory.Also = slices.DeleteFunc(n.memory.Also, func(run string) bool {
			spec, err := n.spec(run)
			return err == nil && spec == nil || len(n.cfg.Targets) > 0
		})
		for range min(len(n.memory.Also), maxAtOnce-1) {
			n.lanes = append(n.lanes, &lane{node: n})
		}
	}
	n.memory.Also = n.memory.Also[:min(len(n.memory.Also), len(n.lanes)-1)]
	if len(n.lanes) == 1 {
		return
	}
	workers := n.cfg.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	cores := schedule.NewCores(workers)
	for i, l := range n.lanes {
		l.number, l.share = i, cores.Share()
	}
}

// beginLanes starts all lanes. One of several whose run cannot be opened does not keep the others waiting.
func (n *Node) beginLanes(ctx context.Context, targets []target) error {
	var errs []error
	for _, l := range n.lanes {
		if err := n.openPorts(l); err != nil {
			return err
		}
		err := l.begin(ctx, targets)
		var bad unopened
		if err != nil && !errors.As(err, &bad) {
			return err
		}
		if err != nil {
			errs = append(errs, err)
			l.down(err)
			n.note(fmt.Sprintf("%s does not start, and is tried again each minute: %v", l.name(), err))
		}
	}
	if len(errs) == len(n.lanes) {
		return errors.Join(errs...)
	}
	return nil
}

// openPorts chooses where a lane listens.
func (n *Node) openPorts(l *lane) (err error) {
	if !n.cfg.Public && len(n.cfg.Listen) == 0 {
		return nil
	}
	if err := checkAnnounced(n.cfg.Announce, len(n.lanes)); err != nil {
		return err
	}
	var note string
	l.listen, note, err = peerPorts(n.cfg.Listen, n.secure.TLS != nil, l.number)
	n.note(note)
	return err
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

// openSecure reads the certificate of listeners with TLS, if there is one.
func (n *Node) openSecure() error {
	if n.cfg.TLSCert == "" && n.cfg.AutoTLS == nil {
		return nil
	}
	if !n.cfg.Public && len(n.cfg.Listen) == 0 {
		return fmt.Errorf("%w: --tls-cert and --auto-tls are for a node that listens: add --listen, or --bootstrap", errListen)
	}
	if n.cfg.AutoTLS != nil {
		return n.openAutoTLS()
	}
	c, err := openCertificate(n.cfg.TLSCert, n.cfg.TLSKey, func(err error) { n.cfg.Logger.Warn("the renewed certificate is not used", "error", err) })
	if err == nil {
		n.secure = mesh.Secure{TLS: c.config(), Names: c.names()}
	}
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
			for _, l := range n.lanes {
				l.savePeers()
				l.saveCurve()
				l.saveLifetime()
			}
		}
	}
}

// reached says where others find the node over relays.
func (n *Node) reached(addrs []string) {
	if len(addrs) > 0 {
		n.tell("others reach this node over a relay, at " + addrs[0] + " (/addresses.json has them all)")
	}
}

// Announcement describes the node as it came up, or as it is after a run was followed by another; each note is in one.
func (n *Node) Announcement() Announcement {
	s := n.lanes[0].Status()
	a := Announcement{Run: s.Run, Env: s.Env, Strategy: s.Strategy, Addresses: n.lanes[0].Addresses()}
	if n.lanes[0].working() == nil {
		a.Awaited = n.lanes[0].awaited()
	}
	n.mu.Lock()
	a.Notes, n.notes = n.notes, nil
	n.mu.Unlock()
	elsewhere := ""
	if n.page != nil {
		a.Page, elsewhere = pageURLs(n.page)
	}
	if n.metrics != nil {
		a.Metrics = "http://" + n.metrics.Addr().String() + "/metrics"
	}
	if len(n.lanes) == 1 {
		a.Join = n.lanes[0].join(elsewhere, s.Run != "" && len(n.lanes[0].left()) < 2) // else others follow to the next run
		return a
	}
	if elsewhere != "" {
		a.Join = "evonode join " + elsewhere // wherever peers are missed most
	}
	for _, l := range n.lanes {
		s := l.Status()
		a.Runs = append(a.Runs, AnnouncedRun{s.Run, s.Env, s.Strategy, l.join(elsewhere, s.Run != ""), l.Addresses()})
	}
	return a
}

// join is the command that takes part in the run of a lane, or in those that follow it, too; "" where nobody else
// could.
func (l *lane) join(page string, pinned bool) string {
	where := page
	if where == "" {
		if addresses := l.Addresses(); len(addresses) > 0 {
			where = addresses[0]
		}
	}
	switch {
	case where == "":
		return ""
	case pinned:
		where += "#" + l.runID()
	}
	return "evonode join " + where
}

// Wait returns when the node has to end: because ctx ended, because its owner stopped it, or with the error that did.
func (n *Node) Wait(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return nil
	case <-n.stop:
		return nil
	case err := <-n.failed:
		return err
	}
}

// Close hands over leadership, leaves the swarm, writes everything to disk and frees the data folder. ctx
// bounds the leaving. The control socket answers until all of that is done.
func (n *Node) Close(ctx context.Context) error {
	n.Stop()
	n.living.Wait()
	for _, l := range n.lanes {
		l.savePeers()
	}
	if n.page != nil {
		n.servers[1].Close()
	}
	errs := make([]error, len(n.lanes))
	var leaving sync.WaitGroup
	for i, l := range n.lanes {
		leaving.Go(func() { errs[i] = l.close(ctx) })
	}
	leaving.Wait()
	n.release()
	return errors.Join(errs...)
}

// release frees what a node holds, even one that failed to start.
func (n *Node) release() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	for _, l := range n.lanes {
		if m, p := l.current(); p != nil {
			p.Close(ctx) // no-op after Close
		} else if m != nil {
			m.Close()
		}
	}
	for _, s := range n.servers {
		s.Close()
	}
	if n.directory != nil {
		n.directory.Close()
	}
	if n.certificates != nil {
		n.certificates.Close()
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
		n.mu.Lock()
		defer n.mu.Unlock()
		n.notes = append(n.notes, text)
	}
}

// Status implements [httpd.Node]: that of the first run, and of all where there are several.
func (n *Node) Status() httpd.Status {
	if len(n.lanes) == 1 {
		return n.lanes[0].Status()
	}
	var all []httpd.Status
	for _, l := range n.lanes {
		all = append(all, l.Status())
	}
	s := all[0]
	s.Active = all
	return s
}

// Runs implements [httpd.Node] and [httpd.Control].
func (n *Node) Runs() []httpd.Run {
	var runs []httpd.Run
	for _, l := range n.lanes {
		runs = append(runs, l)
	}
	return runs
}

// SetPaused implements [httpd.Control]: the next status has the new state. It survives a restart.
func (n *Node) SetPaused(paused bool) error {
	n.mu.Lock()
	n.memory.Paused = paused
	err := n.memory.write(n.cfg.Data)
	n.mu.Unlock()
	for _, l := range n.lanes {
		l.pause(paused)
	}
	return err
}

// Stop implements [httpd.Control].
func (n *Node) Stop() { n.stopOnce.Do(func() { close(n.stop) }) }
