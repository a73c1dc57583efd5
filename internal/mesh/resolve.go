package mesh

// Addresses is what a node serves to newcomers as /addresses.json.
type Addresses struct {
	Version   int      `json:"version"`   // of this form: 1
	Run       string   `json:"run"`       // run id; empty: the node is in no run, or the target did not say
	Addresses []string `json:"addresses"` // full multiaddrs
	// Pinned says that Run came with the target itself (a join link), not from the node that answered.
	Pinned bool `json:"-"`
}
