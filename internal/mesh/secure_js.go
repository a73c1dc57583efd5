package mesh

// Secure is empty: a tab cannot listen.
type Secure struct{}
