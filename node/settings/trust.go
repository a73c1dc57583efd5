package settings

import (
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/node/verb"
)

const (
	keyDigits = 2 * len(seedlog.Peer{})
	// maxTrustBytes bounds a file of keys: as many as a run may have, with a comment for each.
	maxTrustBytes = seedlog.MaxTrusted * 256
	trustHint     = "give the keys of the nodes with commas, or a file with one in each line; evonode key prints that of a node"
)

// ParseTrust reads --trust: the keys of nodes, with commas between them, or the path of a file that has one in each
// line. What follows a # there is a comment.
func ParseTrust(text string) ([]seedlog.Peer, error) {
	if isKey(strings.TrimSpace(strings.Split(text, ",")[0])) {
		return trusted("--trust", strings.Split(text, ","))
	}
	f, err := os.Open(text)
	if err != nil {
		return nil, verb.Wrong(fmt.Errorf("--trust %q is neither a list of keys nor a file that can be read: %w", text, err), trustHint)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxTrustBytes+1))
	if err != nil {
		return nil, verb.Wrong(fmt.Errorf("--trust %q: %w", text, err), trustHint)
	}
	if len(data) > maxTrustBytes {
		return nil, verb.Misused(fmt.Sprintf("%s has more than %d bytes", text, maxTrustBytes), trustHint)
	}
	lines := strings.Split(string(data), "\n")
	for i, line := range lines {
		lines[i], _, _ = strings.Cut(line, "#")
	}
	return trusted(text, lines)
}

// isKey reports whether text has the form of a key.
func isKey(text string) bool {
	_, err := hex.DecodeString(text)
	return err == nil && len(text) == keyDigits
}

// trusted reads the keys that come from a list or a file; empty items are none.
func trusted(from string, items []string) (keys []seedlog.Peer, err error) {
	for i, item := range items {
		item = strings.TrimSpace(item)
		if item == "" {
			continue
		}
		if !isKey(item) {
			return nil, verb.Misused(fmt.Sprintf("%s: item %d, %.80q, is no key: a key has %d hexadecimal digits", from, i+1, item, keyDigits), trustHint)
		}
		var key seedlog.Peer
		hex.Decode(key[:], []byte(item)) // isKey has read it
		if slices.Contains(keys, key) {
			return nil, verb.Misused(fmt.Sprintf("%s: item %d, %s, is there twice", from, i+1, item), "leave one of them out")
		}
		keys = append(keys, key)
	}
	switch {
	case len(keys) == 0:
		return nil, verb.Misused(from+" has no key", trustHint)
	case len(keys) >= seedlog.MaxTrusted: // and the origin
		return nil, verb.Misused(fmt.Sprintf("%s has %d keys; a run trusts %d at most, that of the node that starts it included", from, len(keys), seedlog.MaxTrusted), trustHint)
	}
	return keys, nil
}
