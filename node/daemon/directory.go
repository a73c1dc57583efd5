package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/evoswarm/evoswarm/internal/dht"
	"github.com/evoswarm/evoswarm/internal/mesh"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// Where its owner asked for it, a node has a DHT name it to others of its run, and looks for them there. What it finds
// are addresses to try.

// errNobody is returned where the DHT names nobody of a run that answers.
var errNobody = fmt.Errorf("%w: the DHT names nobody of the run that answers", mesh.ErrUnreachable)

// Pauses between two exchanges with the DHT.
const (
	consultAlone = 30 * time.Second // at first, without a hub; it doubles
	consultEvery = 10 * time.Minute // at most, and with a hub
	consultMoved = time.Minute      // after this node's addresses have changed
	consultTick  = time.Second
)

// openDirectory enters the DHT, if there is to be one.
func (n *Node) openDirectory() (err error) {
	if n.cfg.DHT {
		n.directory, err = dht.New(dht.Config{Key: n.data.Key(), Bootstrap: n.cfg.DHTBootstrap, Agent: "evonode/" + n.cfg.Version})
	}
	return err
}

// bareRun is the run that a target names without saying where it is; "" if it is another kind of target.
func bareRun(text string) string {
	run := strings.TrimPrefix(strings.TrimSpace(text), "#")
	if _, err := seedlog.ParseLink(run); err != nil {
		return ""
	}
	return run
}

// pinnedRun is the run that a target is pinned to; "" if it is pinned to none.
func pinnedRun(text string) string {
	if run := bareRun(text); run != "" {
		return run
	}
	return mesh.RunOf(text)
}

// seek looks in the DHT for nodes of a run of the targets, and returns the genesis block that the first one gave.
func (n *Node) seek(ctx context.Context, m *mesh.Mesh, targets []target) ([]byte, error) {
	var errs []error
	for _, t := range targets {
		if !t.Pinned {
			continue
		}
		found, err := n.directory.Exchange(ctx, t.Run, nil)
		if err != nil {
			errs = append(errs, fmt.Errorf("%w: %w", mesh.ErrUnreachable, err))
			continue
		}
		for hello := range visitAll(ctx, m, t.Run, found) {
			genesis, err := checkHello(t, hello)
			if err == nil {
				return genesis, nil
			}
			errs = append(errs, err)
		}
		errs = append(errs, fmt.Errorf("%w (%d addresses of run %s)", errNobody, len(found), t.Run))
	}
	return nil, errors.Join(errs...)
}

// visitAll says hello at all addresses at once, and returns the answers of peers of a run as they come.
func visitAll(ctx context.Context, m *mesh.Mesh, run string, addrs []string) <-chan mesh.Hello {
	hellos := make(chan mesh.Hello, len(addrs))
	var visiting sync.WaitGroup
	for _, a := range addrs {
		visiting.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, dialPatience)
			defer cancel()
			if hello, err := m.Visit(ctx, a, run); err == nil {
				hellos <- hello
			}
		})
	}
	go func() {
		visiting.Wait()
		close(hellos)
	}()
	return hellos
}

// consultation is an exchange with the DHT.
type consultation struct {
	run string
	own []string
	at  time.Time
}

// consult has the DHT name this node to others of the lane's run, and tries those whom it names, until the node stops.
func (l *lane) consult() {
	ctx, cancel := l.node.untilStop()
	defer cancel()
	var last consultation
	wait, alone := consultAlone, false
	for sleep(ctx, consultTick) {
		m, p := l.current()
		run := l.awaited()
		if p != nil {
			run = p.Status().Run
		}
		if m == nil || run == "" {
			continue
		}
		if now := !m.HasHub(); now != alone {
			alone, wait = now, consultAlone
		}
		own := m.Addrs()
		passed := time.Since(last.at)
		due := alone && passed >= wait || passed >= consultEvery || passed >= consultMoved && !slices.Equal(own, last.own)
		if run == last.run && !due {
			continue
		}
		if run == last.run && alone {
			wait = min(2*wait, consultEvery)
		}
		last = consultation{run, own, time.Now()}
		found, err := l.node.directory.Exchange(ctx, run, own)
		l.node.heardOfDirectory(ctx, err)
		l.node.cfg.Logger.Info("asked the DHT for nodes of the run", "run", run, "addresses", len(found), "error", err)
		if p != nil {
			m.Suggest(found)
			continue
		}
		for range visitAll(ctx, m, run, found) {
			continue // who waits for peers of the run asks all that are connected
		}
	}
}

// heardOfDirectory tells the owner once that the DHT does not answer, and once that it does again.
func (n *Node) heardOfDirectory(ctx context.Context, err error) {
	down := errors.Is(err, dht.ErrDown) && ctx.Err() == nil
	if n.directoryDown.Swap(down) == down {
		return
	}
	if down {
		n.tell("the DHT does not answer: this node works on without, and tries it again; others still find it by its addresses")
	} else {
		n.tell("the DHT answers again")
	}
}
