package mesh

import (
	"fmt"

	ma "github.com/multiformats/go-multiaddr"
	manet "github.com/multiformats/go-multiaddr/net"
)

// Dialable reports whether this program can dial a full address, as [Mesh.Addrs] and [Mesh.Hubs] list them:
// natively all of them, in a tab those that its page may use. Whether a peer answers there is another
// question.
func Dialable(addr string) bool {
	info, err := parseAddr(addr)
	return err == nil && dialable(info.Addrs[0])
}

func dialable(a ma.Multiaddr) bool { return !manet.IsIPUnspecified(a) && canDial(a) }

// CheckAddr says what is wrong with an address that somebody typed or was given in a link; nil if it can be dialed from
// here. Whether a peer answers there is another question.
func CheckAddr(addr string) error {
	info, err := parseAddr(addr)
	if err != nil {
		return err
	}
	if !dialable(info.Addrs[0]) {
		return fmt.Errorf("%w: %s: %s", ErrAddress, addr, whyNot(info.Addrs[0]))
	}
	return nil
}
