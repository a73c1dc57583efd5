package store

// Limits of the remembered addresses.
const (
	MaxPeers      = 256 // addresses
	maxAddressLen = 1024
)

// boundPeers returns the first addresses within the limits, each once.
func boundPeers(addresses []string) []string {
	kept := []string{}
	seen := map[string]bool{}
	for _, a := range addresses {
		if a != "" && len(a) <= maxAddressLen && len(kept) < MaxPeers && !seen[a] {
			seen[a] = true
			kept = append(kept, a)
		}
	}
	return kept
}
