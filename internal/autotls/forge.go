//go:build !js

package autotls

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	httppeeridauth "github.com/libp2p/go-libp2p/p2p/http/auth"
	"github.com/mholt/acmez/v3"
	"github.com/mholt/acmez/v3/acme"
)

// ErrRefused is told where the forge does not do what it is asked for, most often since it cannot dial the node.
var ErrRefused = errors.New("the forge refuses")

const (
	registerTimeout = time.Minute // it dials the node meanwhile
	publishTimeout  = 2 * time.Minute
	lookFirst       = time.Second // doubles
	lookSlow        = 30 * time.Second
	maxReply        = 1 << 10
)

// forge answers to an authority by the DNS of a forge.
type forge struct {
	url   string
	agent string
	key   crypto.PrivKey
	addrs func() []string
}

var (
	_ acmez.Solver = (*forge)(nil)
	_ acmez.Waiter = (*forge)(nil)
)

// Present has the forge publish the answer, after it has dialed this node.
func (f *forge) Present(ctx context.Context, challenge acme.Challenge) error {
	addrs := f.addrs()
	if len(addrs) == 0 {
		return ErrNoPlace
	}
	ctx, cancel := context.WithTimeout(ctx, registerTimeout)
	defer cancel()
	body, err := json.Marshal(struct {
		Value     string   `json:"value"`
		Addresses []string `json:"addresses"`
	}{challenge.DNS01KeyAuthorization(), addrs})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimSuffix(f.url, "/")+"/v1/_acme-challenge", bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("User-Agent", f.agent)
	client := &httppeeridauth.ClientPeerIDAuth{PrivKey: f.key}
	_, resp, err := client.AuthenticatedDo(http.DefaultClient, req)
	if err != nil {
		return fmt.Errorf("asking the forge at %s: %w", f.url, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		said, _ := io.ReadAll(io.LimitReader(resp.Body, maxReply))
		return fmt.Errorf("%w: %s: %.300q", ErrRefused, resp.Status, said)
	}
	return nil
}

// Wait looks until the DNS has the answer, so that the authority does not look in vain. Where this computer's DNS does
// not show it in time, the authority may still see it.
func (f *forge) Wait(ctx context.Context, challenge acme.Challenge) error {
	looking, cancel := context.WithTimeout(ctx, publishTimeout)
	defer cancel()
	for pause := lookFirst; ; pause = min(2*pause, lookSlow) {
		found, err := net.DefaultResolver.LookupTXT(looking, challenge.DNS01TXTRecordName())
		if err == nil && slices.Contains(found, challenge.DNS01KeyAuthorization()) {
			return nil
		}
		select {
		case <-looking.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

// CleanUp does nothing: the forge forgets the answer by itself.
func (f *forge) CleanUp(context.Context, acme.Challenge) error { return nil }
