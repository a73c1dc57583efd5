package daemon

import (
	"context"
	"errors"
	"fmt"
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

// resolve finds the addresses behind what the user typed. It fails only if it fails for all of them.
func resolve(ctx context.Context, texts []string) ([]target, error) {
	var targets []target
	var errs []error
	for _, text := range texts {
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
	for _, a := range t.Addresses.Addresses {
		dialing, cancel := context.WithTimeout(ctx, dialPatience)
		hello, dialErr := m.Dial(dialing, a)
		cancel()
		if dialErr != nil {
			err = dialErr
			continue
		}
		return checkHello(t, hello)
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
