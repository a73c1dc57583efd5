package daemon

import (
	"crypto/x509"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evoswarm/evoswarm/internal/autotls"
	"github.com/evoswarm/evoswarm/internal/mesh"
)

// AutoTLS says from whom a node has a certificate made. Zero values are those of the public internet.
type AutoTLS struct {
	Domain    string         // of the forge
	Register  string         // URL of the forge
	Authority string         // URL of the ACME directory
	Roots     *x509.CertPool // whom to trust about the authority's own server; nil: whom this computer trusts
}

// openAutoTLS has a certificate made, or takes the one that is kept.
func (n *Node) openAutoTLS() (err error) {
	n.certificates, err = autotls.Start(autotls.Config{
		Key: n.data.Key(), Folder: filepath.Join(n.cfg.Data, "certificates"), Agent: "evonode/" + n.cfg.Version,
		Domain: n.cfg.AutoTLS.Domain, Register: n.cfg.AutoTLS.Register, Authority: n.cfg.AutoTLS.Authority, Roots: n.cfg.AutoTLS.Roots,
		Addrs: n.placed, Told: n.heardOfCertificate,
	})
	if err == nil {
		n.secure = mesh.Secure{TLS: n.certificates.TLS(), Name: n.certificates.Name}
	}
	return err
}

// placed lists where others find the node in any of its runs.
func (n *Node) placed() []string {
	var addrs []string
	for _, l := range n.lanes {
		addrs = append(addrs, l.Addresses()...)
	}
	return addrs
}

// heardOfCertificate tells the owner that there is a certificate, or why not, once for each kind of reason.
func (n *Node) heardOfCertificate(err error) {
	kind, todo := "there", ""
	switch {
	case err == nil:
	case errors.Is(err, autotls.ErrNoPlace):
		kind, err = "no place", autotls.ErrNoPlace
	case errors.Is(err, autotls.ErrRefused):
		kind, todo = "refused", "; check that its TCP port is open to the internet"
	default:
		kind, todo = "failed", "; check that this computer reaches the forge and the authority"
	}
	if before := n.certified.Swap(&kind); before != nil && *before == kind {
		return
	}
	if err == nil {
		n.tell("pages from https reach this node over TLS, too (/addresses.json has the address)")
		return
	}
	said := strings.Join(strings.Fields(err.Error()), " ")
	n.tell(fmt.Sprintf("the certificate for pages from https: %.400s%s. It is tried again, and all else works without", said, todo))
}

// setForge reads DOMAIN or DOMAIN,URL of a forge.
func (a *AutoTLS) setForge(text string) error {
	domain, url, given := strings.Cut(text, ",")
	if err := autotls.CheckDomain(domain); err != nil {
		return err
	}
	if given && !isWebURL(url) {
		return fmt.Errorf("%q is no URL of a forge, such as https://registration.%s", url, autotls.DefaultDomain)
	}
	a.Domain, a.Register = domain, url
	return nil
}

// setAuthority reads the URL of an ACME directory.
func (a *AutoTLS) setAuthority(url string) error {
	if !isWebURL(url) {
		return fmt.Errorf("%q is no URL of an ACME directory, such as %s", url, autotls.DefaultAuthority)
	}
	a.Authority = url
	return nil
}

func isWebURL(url string) bool {
	return slices.ContainsFunc([]string{"http://", "https://"}, func(p string) bool { return strings.HasPrefix(url, p) && len(url) > len(p) })
}
