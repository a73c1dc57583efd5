//go:build !js

package mesh

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

const (
	maxAddressesBytes = 256 << 10
	maxAddresses      = 256 // of each run
	maxRuns           = 64
	resolveTimeout    = 15 * time.Second
)

// Resolve finds the addresses behind what a user typed: a multiaddr, or the URL of a volunteer page
// (http://host:port/), whose addresses.json is fetched. "#<run id>" or "#run=<run id>" after either pins the run.
// Errors wrap ErrAddress or ErrUnreachable and say what to do.
func Resolve(ctx context.Context, target string) (Addresses, error) {
	target, run := cutRun(target)
	if run != "" {
		if _, err := seedlog.ParseLink(run); err != nil {
			return Addresses{}, fmt.Errorf("%w: what follows # is no run id: %v", ErrAddress, err)
		}
	}
	var found Addresses
	var err error
	switch {
	case strings.HasPrefix(target, "/"):
		_, err = parseAddr(target)
		found.Addresses = []string{target}
	case strings.HasPrefix(target, "http://"), strings.HasPrefix(target, "https://"):
		found, err = fetchAddresses(ctx, target)
	default:
		err = fmt.Errorf("%w: %q is neither a URL nor a multiaddr; did you mean http://%s ?", ErrAddress, target, target)
	}
	if err != nil {
		return Addresses{}, err
	}
	if run != "" {
		if !found.choose(run) {
			return Addresses{}, fmt.Errorf("%w: the link is for run %s, the node there is in %s", ErrAddress, run, found.names())
		}
		found.Run, found.Pinned = run, true
	}
	return found, nil
}

// cutRun parts what a user typed from the run that it is pinned to, "" for any.
func cutRun(target string) (address, run string) {
	address, fragment, _ := strings.Cut(strings.TrimSpace(target), "#")
	return address, strings.TrimPrefix(fragment, "run=")
}

// RunOf is the run that a target is pinned to; "" if it is pinned to none.
func RunOf(target string) string {
	_, run := cutRun(target)
	if _, err := seedlog.ParseLink(run); err != nil {
		return ""
	}
	return run
}

// fetchAddresses asks the page's server.
func fetchAddresses(ctx context.Context, target string) (Addresses, error) {
	u, err := url.Parse(target)
	if err != nil || u.Host == "" {
		return Addresses{}, fmt.Errorf("%w: %q is no URL", ErrAddress, target)
	}
	u.RawQuery = ""
	if !strings.HasSuffix(u.Path, "/addresses.json") {
		u = u.JoinPath("addresses.json")
	}
	ctx, cancel := context.WithTimeout(ctx, resolveTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return Addresses{}, fmt.Errorf("%w: %q: %v", ErrAddress, target, err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return Addresses{}, fmt.Errorf("%w: %v; check the URL, and that the node runs with --http", ErrUnreachable, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return Addresses{}, fmt.Errorf("%w: %s answers %s; is this the address of an evoswarm page?", ErrUnreachable, u, resp.Status)
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAddressesBytes+1))
	if err != nil {
		return Addresses{}, fmt.Errorf("%w: %s: %v", ErrUnreachable, u, err)
	}
	var found Addresses
	if err := json.Unmarshal(data, &found); err != nil || len(data) > maxAddressesBytes || !found.bounded() {
		return Addresses{}, fmt.Errorf("%w: %s does not list addresses; is this the address of an evoswarm page?", ErrUnreachable, u)
	}
	if len(found.Addresses) == 0 {
		return Addresses{}, fmt.Errorf("%w: the node at %s lists no address; it must listen (evonode --bootstrap)", ErrUnreachable, u)
	}
	return found, nil
}

// bounded reports whether a list is of a size that is worth reading.
func (a *Addresses) bounded() bool {
	return len(a.Addresses) <= maxAddresses && len(a.Runs) <= maxRuns &&
		!slices.ContainsFunc(a.Runs, func(r RunAddresses) bool { return len(r.Addresses) > maxAddresses })
}

// names says which runs a node is in.
func (a *Addresses) names() string {
	var runs []string
	for _, r := range a.Runs {
		runs = append(runs, r.Run)
	}
	if len(runs) < 2 {
		return "run " + a.Run
	}
	return "runs " + strings.Join(runs, ", ")
}
