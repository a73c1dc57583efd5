package daemon

import (
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"
)

// ErrCertificate is returned for a certificate that browsers would refuse, or that cannot be read.
var ErrCertificate = errors.New("daemon: certificate for TLS")

// certificateEvery is the interval between two checks for renewed files.
const certificateEvery = time.Minute

// maxNames is how many names of a certificate are told to others; an address is told for each.
const maxNames = 4

// certificate is what browsers trust this node by, from two files in PEM. Who renews it replaces the files; no restart
// is needed.
type certificate struct {
	certFile, keyFile string
	now               func() time.Time
	failed            func(error) // told when newer files cannot be used

	mu      sync.Mutex
	current *tls.Certificate
	changed time.Time // of the files
	checked time.Time
}

// openCertificate reads the files, and refuses what browsers would.
func openCertificate(certFile, keyFile string, failed func(error)) (*certificate, error) {
	c := &certificate{certFile: certFile, keyFile: keyFile, now: time.Now, failed: failed}
	var err error
	if c.changed, err = c.lastChange(); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrCertificate, err)
	}
	if c.current, err = c.read(); err != nil {
		return nil, err
	}
	if len(c.names()) == 0 {
		return nil, fmt.Errorf("%w: %s names no host, or only with an asterisk; it needs the name under which browsers reach this node", ErrCertificate, certFile)
	}
	c.checked = c.now()
	return c, nil
}

func (c *certificate) read() (*tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return nil, fmt.Errorf("%w: %s with %s: %v", ErrCertificate, c.certFile, c.keyFile, err)
	}
	if now := c.now(); now.After(pair.Leaf.NotAfter) {
		return nil, fmt.Errorf("%w: %s expired on %s: renew it", ErrCertificate, c.certFile, pair.Leaf.NotAfter.Format(time.DateOnly))
	}
	return &pair, nil
}

// lastChange is when one of the files was written last.
func (c *certificate) lastChange() (time.Time, error) {
	var last time.Time
	for _, name := range []string{c.certFile, c.keyFile} {
		info, err := os.Stat(name)
		if err != nil {
			return last, err
		}
		if info.ModTime().After(last) {
			last = info.ModTime()
		}
	}
	return last, nil
}

// get returns the certificate for a connection, from newer files if there are any.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	if now.Sub(c.checked) < certificateEvery {
		return c.current, nil
	}
	c.checked = now
	changed, err := c.lastChange()
	if err == nil && changed.Equal(c.changed) {
		return c.current, nil
	}
	var renewed *tls.Certificate
	if err == nil {
		renewed, err = c.read()
	}
	if err != nil {
		c.failed(err) // one file may be written already and the other not yet
		return c.current, nil
	}
	c.current, c.changed = renewed, changed
	return c.current, nil
}

// config is for listeners.
func (c *certificate) config() *tls.Config {
	return &tls.Config{GetCertificate: c.get, MinVersion: tls.VersionTLS12}
}

// names lists the hosts that the certificate is for, some of them if there are many.
func (c *certificate) names() []string {
	var names []string
	for _, name := range c.current.Leaf.DNSNames {
		if !strings.HasPrefix(name, "*") {
			names = append(names, name)
		}
	}
	for _, ip := range c.current.Leaf.IPAddresses {
		names = append(names, ip.String())
	}
	return names[:min(len(names), maxNames)]
}
