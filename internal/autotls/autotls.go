//go:build !js

// Package autotls gets a node a certificate that browsers trust, without work for its owner.
//
// Floor 4, adapters: floors 5 and 6 import it.
//
// A forge, such as libp2p.direct, owns a domain in which each peer has a part, named by its key, and in that a name for
// each IP. The node proves its key to the forge, which dials it, then puts into the DNS what an ACME authority asks
// for. The private key of the certificate never leaves the node.
package autotls

import (
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/caddyserver/certmagic"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/peer"
	"go.uber.org/zap"
)

// Defaults are those of the public internet.
const (
	DefaultDomain    = "libp2p.direct"
	DefaultAuthority = certmagic.LetsEncryptProductionCA
)

// ErrNoPlace is told while the node knows no address at which a forge could dial it.
var ErrNoPlace = errors.New("this node knows no public address with TCP: open its port, have the router map it, or name it with --announce")

// ErrRenewal is told where a certificate is not renewed that browsers still trust.
var ErrRenewal = errors.New("it is not renewed")

const (
	placeEvery   = 2 * time.Second
	placePatient = time.Minute // until ErrNoPlace is told
)

// Config says for whom and from whom a certificate is.
type Config struct {
	Key       ed25519.PrivateKey // required: the node's
	Folder    string             // required: where certificates and the account at the authority are kept
	Agent     string
	Domain    string // of the forge; "": DefaultDomain
	Register  string // URL of the forge; "": https://registration.DOMAIN
	Authority string // URL of the ACME directory; "": DefaultAuthority
	// Roots are whom to trust about the authority's own server; nil: those of this computer.
	Roots *x509.CertPool
	// Addrs lists full addresses of the node.
	Addrs func() []string
	// Told hears that a certificate is there (nil), or why there is none. It must not block.
	Told func(error)
	// CheckEvery is how often it is looked whether the certificate has to be renewed; zero: 10 minutes.
	CheckEvery time.Duration
}

// Keeper keeps a certificate, and renews it. Its methods are safe for concurrent use.
type Keeper struct {
	cfg   Config
	names names
	cache *certmagic.Cache
	magic *certmagic.Config

	cancel context.CancelFunc
	wg     sync.WaitGroup
	closed sync.Once
}

// Start begins to look for a certificate: one that is kept, or a new one as soon as the node has an address.
func Start(cfg Config) (*Keeper, error) {
	if cfg.Domain == "" {
		cfg.Domain = DefaultDomain
	}
	if cfg.Register == "" {
		cfg.Register = "https://registration." + cfg.Domain
	}
	if cfg.Authority == "" {
		cfg.Authority = DefaultAuthority
	}
	key, err := crypto.UnmarshalEd25519PrivateKey(cfg.Key)
	if err != nil {
		return nil, fmt.Errorf("identity key: %w", err)
	}
	id, err := peer.IDFromPrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("identity key: %w", err)
	}
	k := &Keeper{cfg: cfg}
	if k.names, err = namesOf(id, cfg.Domain); err != nil {
		return nil, err
	}
	quiet := zap.NewNop()
	k.cache = certmagic.NewCache(certmagic.CacheOptions{
		GetConfigForCert:   func(certmagic.Certificate) (*certmagic.Config, error) { return k.magic, nil },
		RenewCheckInterval: cfg.CheckEvery, Logger: quiet,
	})
	k.magic = certmagic.New(k.cache, certmagic.Config{
		Storage: &certmagic.FileStorage{Path: cfg.Folder}, Logger: quiet, OnEvent: k.heard,
		OCSP: certmagic.OCSPConfig{DisableStapling: true},
	})
	issuer := certmagic.NewACMEIssuer(k.magic, certmagic.ACMEIssuer{
		CA: cfg.Authority, TrustedRoots: cfg.Roots, Agreed: true, Logger: quiet, DNS01Solver: &forge{url: cfg.Register, agent: cfg.Agent, key: key, addrs: k.addrs},
	})
	k.magic.Issuers = []certmagic.Issuer{issuer}
	ctx, cancel := context.WithCancel(context.Background())
	k.cancel = cancel
	k.wg.Go(func() { k.begin(ctx, issuer) })
	return k, nil
}

// Close stops renewing.
func (k *Keeper) Close() {
	k.closed.Do(func() {
		k.cancel()
		k.wg.Wait()
		k.cache.Stop()
	})
}

// TLS is for listeners. Handshakes fail until there is a certificate.
func (k *Keeper) TLS() *tls.Config {
	return &tls.Config{GetCertificate: k.magic.GetCertificate, MinVersion: tls.VersionTLS12}
}

// begin gets the certificate that is kept, or, once the node can be dialed, a new one. From then on certmagic keeps it.
func (k *Keeper) begin(ctx context.Context, issuer *certmagic.ACMEIssuer) {
	kept := k.magic.Storage.Exists(ctx, certmagic.StorageKeys.SiteCert(issuer.IssuerKey(), k.names.all))
	tick := time.NewTicker(placeEvery)
	defer tick.Stop()
	for begun, told := time.Now(), false; !kept && len(k.addrs()) == 0; {
		if !told && time.Since(begun) > placePatient {
			told = true
			k.cfg.Told(ErrNoPlace)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
	if err := k.magic.ManageAsync(ctx, []string{k.names.all}); err != nil {
		k.cfg.Told(err)
	}
}

// heard passes on what the owner should know.
func (k *Keeper) heard(_ context.Context, event string, data map[string]any) error {
	switch event {
	case "cached_managed_cert":
		if sans, _ := data["sans"].([]string); slices.Contains(sans, k.names.all) {
			k.cfg.Told(nil)
		}
	case "cert_failed":
		err, _ := data["error"].(error)
		if renewal, _ := data["renewal"].(bool); renewal && k.valid() {
			err = fmt.Errorf("%w: %w", ErrRenewal, err)
		}
		k.cfg.Told(err)
	}
	return nil
}

// valid reports whether browsers would trust the certificate now.
func (k *Keeper) valid() bool {
	return slices.ContainsFunc(k.cache.AllMatchingCertificates(k.names.all), func(c certmagic.Certificate) bool { return !c.Expired() })
}
