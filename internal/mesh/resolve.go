package mesh

import "context"

// Addresses is what a node tells a newcomer, as /addresses.json.
type Addresses struct {
	Run       string   `json:"run"`       // run id; empty: the node is in no run, or the target did not say
	Addresses []string `json:"addresses"` // full multiaddrs
	Version   string   `json:"version"`   // of the node's program
	// Pinned says that Run came with the target itself (a join link), not from the node that answered.
	Pinned bool `json:"-"`
}

// Resolve finds the addresses behind what a user typed: a multiaddr, or the URL of a volunteer page
// (http://host:port/), whose /addresses.json is fetched. "#<run id>" after either pins the run. Errors wrap ErrAddress
// or ErrUnreachable and say what to do.
func Resolve(ctx context.Context, target string) (Addresses, error) {
	return Addresses{}, ErrAddress
}
