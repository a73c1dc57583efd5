//go:build !js

package mesh

import "testing"

const somebody = "/p2p/12D3KooWD3eckifWpRn9wQpMG9R9hX3sD158z7EqHWmweQAJU5SA"

// certhash names a certificate that nobody has.
const certhash = "/certhash/uEiAkH5a4DPGKUuOBjYw0CgwjvcJCJMD2K_1aluKR_tpevQ"

func TestDialable(t *testing.T) {
	for addr, want := range map[string]bool{
		"/ip4/203.0.113.7/tcp/4001" + somebody:                                                      true,
		"/ip4/203.0.113.7/tcp/4001/ws" + somebody:                                                   true,
		"/dns/example.com/tcp/443/tls/ws" + somebody:                                                true,
		"/ip6/::1/udp/4001/quic-v1" + somebody:                                                      true,
		"/ip4/0.0.0.0/tcp/4001" + somebody:                                                          false,
		"/ip4/203.0.113.7/udp/4001/quic-v1/webtransport" + somebody:                                 false,
		"/ip4/203.0.113.7/udp/4001/webrtc-direct" + somebody:                                        false,
		"/ip4/203.0.113.7/udp/4001/quic-v1/webtransport" + certhash + certhash + somebody:           true,
		"/ip4/203.0.113.7/udp/4001/webrtc-direct" + certhash + somebody:                             true,
		"/ip4/203.0.113.7/udp/4001/webrtc-direct/certhash/uFiAAAAAAAAAAAAAAAAAAAAAAAAAA" + somebody: false, // no multihash
		"/ip4/203.0.113.7/tcp/4001" + somebody + "/p2p-circuit":                                     false,
		"/ip4/203.0.113.7/tcp/4001":                                                                 false, // of nobody
		"/ws":                                                                                       false,
		"":                                                                                          false,
		"/ip4/203.0.113.7/tcp/4001" + somebody + "/p2p-circuit" + somebody:                          true,
		"/ip4/203.0.113.7/tcp/4001/p2p-circuit" + somebody:                                          false, // of no relay
	} {
		if got := Dialable(addr); got != want {
			t.Errorf("%q: got %v, want %v", addr, got, want)
		}
	}
}
