package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/evoswarm/evoswarm/internal/mesh"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

var (
	// ErrNoRun is returned if the nodes to join have no run.
	ErrNoRun = errors.New("daemon: no run there")
	// ErrOtherRun is returned if the nodes to join have another run than the one asked for.
	ErrOtherRun = errors.New("daemon: another run there")
	// ErrSolo is returned for the run of a single machine, whose key is public.
	ErrSolo = errors.New("daemon: a run of one machine cannot be joined")
)

// dialPatience bounds the dialing of one address.
const dialPatience = 10 * time.Second

// target is what the user asked to join, resolved.
type target struct {
	text string
	mesh.Addresses
}

// resolve finds the addresses behind what the user typed; a run alone has none before the DHT is asked. It fails only
// if it fails for all of them.
func (n *Node) resolve(ctx context.Context) ([]target, error) {
	var targets []target
	var errs []error
	for _, text := range n.cfg.Targets {
		if run := bareRun(text); run != "" {
			if !n.cfg.DHT {
				return nil, fmt.Errorf("%w: %s is a run, but not where it is: give an address, or have the DHT asked with --dht", mesh.ErrAddress, text)
			}
			targets = append(targets, target{text, mesh.Addresses{Run: run, Pinned: true}})
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, dialPatience)
		found, err := mesh.Resolve(ctx, text)
		cancel()
		if errors.Is(err, mesh.ErrAddress) {
			return nil, err // a typing error: say so at once
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		targets = append(targets, target{text, found})
	}
	if len(targets) == 0 {
		return nil, errors.Join(errs...)
	}
	return targets, nil
}

// find meets one of the targets, or, where none answers, peers of their runs that the DHT names, if there is one. It
// returns the genesis block of the run.
func (n *Node) find(ctx context.Context, m *mesh.Mesh, targets []target) ([]byte, error) {
	placed := slices.DeleteFunc(slices.Clone(targets), func(t target) bool { return len(t.Addresses.Addresses) == 0 })
	var err error
	if len(placed) > 0 {
		genesis, unmet := meet(ctx, m, placed)
		if !errors.Is(unmet, mesh.ErrUnreachable) || n.directory == nil {
			return genesis, unmet
		}
		err = unmet
	}
	genesis, unfound := n.seek(ctx, m, targets)
	if genesis != nil {
		return genesis, nil
	}
	return nil, errors.Join(unfound, err)
}

// meet dials the targets until one of them names its run, and returns that run's genesis block.
func meet(ctx context.Context, m *mesh.Mesh, targets []target) (genesis []byte, err error) {
	var errs []error
	for _, t := range targets {
		genesis, err := meetOne(ctx, m, t)
		if err == nil {
			return genesis, nil
		}
		errs = append(errs, err)
	}
	return nil, errors.Join(errs...)
}

// meetOne dials the addresses of one target in turn.
func meetOne(ctx context.Context, m *mesh.Mesh, t target) ([]byte, error) {
	err := fmt.Errorf("%w: %s names no address", mesh.ErrUnreachable, t.text)
	self, _ := mesh.IDOf(m.Self()) // it has a key
	for _, a := range t.Addresses.Addresses {
		if strings.HasSuffix(a, "/p2p/"+self.String()) {
			err = fmt.Errorf("%w: %s is this node itself", mesh.ErrUnreachable, a) // it came back with its own link
			continue
		}
		dialing, cancel := context.WithTimeout(ctx, dialPatience)
		hello, dialErr := m.Dial(dialing, a)
		cancel()
		if dialErr != nil {
			err = dialErr
			continue
		}
		genesis, err := checkHello(t, hello)
		if err != nil {
			m.Leave(hello.Peer) // at another address it may have the run
		}
		return genesis, err
	}
	return nil, err
}

// checkHello takes the genesis of the run that was asked for, or of any if none was.
func checkHello(t target, hello mesh.Hello) ([]byte, error) {
	if hello.Run == "" {
		return nil, fmt.Errorf("%w: %s", ErrNoRun, t.text)
	}
	if t.Pinned && t.Run != hello.Run {
		return nil, fmt.Errorf("%w: %s is in run %s, not in %s", ErrOtherRun, t.text, hello.Run, t.Run)
	}
	spec, err := seedlog.DecodeSpec(hello.Genesis)
	if err != nil {
		return nil, err
	}
	if spec.Solo() {
		return nil, fmt.Errorf("%w: %s", ErrSolo, hello.Run)
	}
	return hello.Genesis, nil
}
