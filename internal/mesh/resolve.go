package mesh

import "slices"

// Addresses is what a node serves to newcomers as /addresses.json.
type Addresses struct {
	Version   int      `json:"version"`   // of this form: 1
	Run       string   `json:"run"`       // run id; empty: the node is in no run, or the target did not say
	Addresses []string `json:"addresses"` // full multiaddrs
	// Runs are all runs of the node, each at addresses of its own. Those above are of the one that it advises.
	Runs []RunAddresses `json:"runs"`
	// Pinned says that Run came with the target itself (a join link), not from the node that answered.
	Pinned bool `json:"-"`
}

// RunAddresses says where a run of a node is.
type RunAddresses struct {
	Run       string   `json:"run"`
	Addresses []string `json:"addresses"`
}

// choose takes the addresses of one of the runs; false: the node does not have it.
func (a *Addresses) choose(run string) bool {
	i := slices.IndexFunc(a.Runs, func(r RunAddresses) bool { return r.Run == run })
	if i >= 0 {
		a.Run, a.Addresses = run, a.Runs[i].Addresses
	}
	return a.Run == "" || a.Run == run
}
