package daemon

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// writeCertificate writes a certificate for names, which lasts until some time, and returns its files.
func writeCertificate(t *testing.T, dir string, until time.Time, names ...string) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: until.Add(-90 * 24 * time.Hour), NotAfter: until, DNSNames: names,
		IPAddresses: []net.IP{net.IPv4(203, 0, 113, 7)}}
	if len(names) == 0 {
		template.IPAddresses = nil
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for name, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: encoded}} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

func TestCertificatesThatBrowsersRefuse(t *testing.T) {
	later := time.Now().Add(time.Hour)
	good, goodKey := writeCertificate(t, t.TempDir(), later, "example.com")
	_, otherKey := writeCertificate(t, t.TempDir(), later, "example.com")
	old, oldKey := writeCertificate(t, t.TempDir(), time.Now().Add(-time.Hour), "example.com")
	nobody, nobodyKey := writeCertificate(t, t.TempDir(), later)
	for name, c := range map[string]struct{ cert, key, want string }{
		"no file":      {filepath.Join(t.TempDir(), "none"), goodKey, "no such file"},
		"another key":  {good, otherKey, "does not match"},
		"no PEM":       {goodKey, goodKey, goodKey},
		"expired":      {old, oldKey, "expired on"},
		"without name": {nobody, nobodyKey, "names no host"},
	} {
		_, err := openCertificate(c.cert, c.key, nil)
		if !errors.Is(err, ErrCertificate) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	c, err := openCertificate(good, goodKey, nil)
	if err != nil || !slices.Equal(c.names(), []string{"example.com", "203.0.113.7"}) {
		t.Errorf("got %v, %v", c, err)
	}
}

// A certificate that is renewed in its files is used without a restart; one that is being written, or is broken, is
// not.
func TestRenewedCertificateIsUsed(t *testing.T) {
	dir := t.TempDir()
	cert, key := writeCertificate(t, dir, time.Now().Add(time.Hour), "example.com")
	var failed error
	c, err := openCertificate(cert, key, func(err error) { failed = err })
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	c.now = func() time.Time { return now }
	first, _ := c.get(nil)
	touch := func() {
		now = now.Add(2 * certificateEvery)
		for _, name := range []string{cert, key} {
			if err := os.Chtimes(name, now, now); err != nil {
				t.Fatal(err)
			}
		}
	}
	whole, err := os.ReadFile(key)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(key, whole[:20], 0o600); err != nil {
		t.Fatal(err)
	}
	touch()
	if got, err := c.get(nil); err != nil || got != first || !errors.Is(failed, ErrCertificate) {
		t.Errorf("a broken file gives another certificate, %v; %v", err, failed)
	}
	writeCertificate(t, dir, time.Now().Add(48*time.Hour), "example.com")
	touch()
	if got, err := c.get(nil); err != nil || bytes.Equal(got.Certificate[0], first.Certificate[0]) {
		t.Errorf("the renewed certificate is not used: %v", err)
	}
}
