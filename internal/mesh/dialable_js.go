package mesh

import (
	"strings"
	"syscall/js"

	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
)

func canDial(a ma.Multiaddr) bool { return maySocket(a, overTLS) }

// overTLS tells whether the page was loaded over TLS; a worker has the origin of its page.
var overTLS = strings.HasPrefix(js.Global().Get("origin").String(), "https:")

// maySocket reports whether a page may open a WebSocket there: browsers let one that was loaded over TLS open none
// without, except to its own computer.
func maySocket(a ma.Multiaddr, overTLS bool) bool {
	url, err := socketURL(a)
	return err == nil && (!overTLS || strings.HasPrefix(url, "wss:") || manet.IsIPLoopback(a))
}
