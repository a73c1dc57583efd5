//go:build !js

package mesh

import (
	"context"
	"fmt"
	"net/netip"
)

// directory is the block by which shares of the book are counted of what a directory names: no neighbor is there.
var directory = netip.PrefixFrom(netip.IPv4Unspecified(), 32)

// Suggest notes full addresses of hubs that a directory of strangers names, such as a DHT. They get no more of the book
// than what one stranger tells of, and hello shows whether they are in the run.
func (m *Mesh) Suggest(addrs []string) {
	for _, text := range addrs {
		info, err := parseAddr(text)
		if err == nil && info.ID != m.host.ID() && dialable(info.Addrs[0]) {
			m.book.add(*info, directory, false)
		}
	}
}

// Visit exchanges hello at a full address that a directory names. Unlike what Dial reaches, the peer is not kept
// connected, and it is left at once if it works on another run.
func (m *Mesh) Visit(ctx context.Context, addr, run string) (Hello, error) {
	_, hello, err := m.meetAt(ctx, addr)
	if err == nil && hello.Run != run {
		m.Leave(hello.Peer)
		err = fmt.Errorf("%w: %s is in another run", ErrUnreachable, addr)
	}
	return hello, err
}
