//go:build !js

package mesh

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

const (
	maxAddressesBytes = 256 << 10
	maxAddresses      = 256
	resolveTimeout    = 15 * time.Second
)

// Resolve finds the addresses behind what a user typed: a multiaddr, or the URL of a volunteer page
// (http://host:port/), whose addresses.json is fetched. "#<run id>" or "#run=<run id>" after either pins the run.
// Errors wrap ErrAddress or ErrUnreachable and say what to do.
func Resolve(ctx context.Context, target string) (Addresses, error) {
	target, fragment, _ := strings.Cut(strings.TrimSpace(target), "#")
	run := strings.TrimPrefix(fragment, "run=")
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
		if found.Run != "" && found.Run != run {
			return Addresses{}, fmt.Errorf("%w: the link is for run %s, the node there is in run %s", ErrAddress, run, found.Run)
		}
		found.Run, found.Pinned = run, true
	}
	return found, nil
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
	if err := json.Unmarshal(data, &found); err != nil || len(data) > maxAddressesBytes || len(found.Addresses) > maxAddresses {
		return Addresses{}, fmt.Errorf("%w: %s does not list addresses; is this the address of an evoswarm page?", ErrUnreachable, u)
	}
	if len(found.Addresses) == 0 {
		return Addresses{}, fmt.Errorf("%w: the node at %s lists no address; it must listen (evonode --bootstrap)", ErrUnreachable, u)
	}
	return found, nil
}
