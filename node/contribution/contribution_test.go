package contribution

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"strings"
	"testing"

	"github.com/evoswarm/evoswarm/internal/rollout"
	"github.com/evoswarm/evoswarm/internal/runspec"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// grown is the log of a run on one machine of n entries, and what it holds of its only key.
func grown(t *testing.T, n int) (key ed25519.PrivateKey, log []byte, c seedlog.Contribution) {
	t.Helper()
	rules, err := runspec.New(runspec.Options{Env: "CartPole-v1", Strategy: "snes"})
	if err != nil {
		t.Fatal(err)
	}
	key = seedlog.SoloKey(rules.Spec)
	var file bytes.Buffer
	w := seedlog.NewWriter(&file)
	if _, err := w.WriteBeginning(rules); err != nil {
		t.Fatal(err)
	}
	pool, state, parent := rollout.NewPool(rules.Plan, 1), rules.Initial(), seedlog.Parent{Link: rules.Run}
	c = seedlog.Contribution{Run: rules.Run, Peer: rules.Origin, Head: rules.Run}
	for range n {
		claims, err := rules.Measure(pool, state, parent.Link, key, rules.Spec.Generation.Evaluations/rules.EvaluationsPerChunk(), nil)
		if err != nil {
			t.Fatal(err)
		}
		entry, next := rules.NewEntry(state, parent, 1, rules.Origin, claims)
		if _, err := w.AppendEntry(entry, seedlog.NewSeal(entry, key, nil), claims); err != nil {
			t.Fatal(err)
		}
		_, link := entry.Encode()
		parent, state = rules.After(parent, link, entry, claims), next
		c.Height, c.Head, c.Evaluations, c.Steps = entry.Height, link, c.Evaluations+entry.Evaluations, c.Steps+entry.Steps
	}
	c.Sign(key)
	return key, file.Bytes(), c
}

// TestCheck: a certificate is true if the log holds what it says of the key, up to the entry that it names.
func TestCheck(t *testing.T) {
	key, log, c := grown(t, 4)
	counted, err := Check(&c, bytes.NewReader(log))
	if err != nil || counted.Evaluations != c.Evaluations || counted.All != c.Evaluations || counted.Env != "CartPole-v1" {
		t.Errorf("got %+v, %v", counted, err)
	}
	_, _, early := grown(t, 2)
	if _, err := Check(&early, bytes.NewReader(log)); err != nil {
		t.Errorf("of an earlier entry: %v", err)
	}
	_, short, _ := grown(t, 3)
	if _, err := Check(&c, bytes.NewReader(short)); !errors.Is(err, ErrContradicted) {
		t.Errorf("with a log that ends before: %v", err)
	}
	for name, change := range map[string]func(c *seedlog.Contribution){
		"more evaluations": func(c *seedlog.Contribution) { c.Evaluations++ },
		"fewer":            func(c *seedlog.Contribution) { c.Evaluations-- },
		"more steps":       func(c *seedlog.Contribution) { c.Steps++ },
		"another entry":    func(c *seedlog.Contribution) { c.Head = early.Head },
		"another run":      func(c *seedlog.Contribution) { c.Run = early.Head },
		"an earlier entry": func(c *seedlog.Contribution) { c.Height-- },
	} {
		bad := c
		change(&bad)
		bad.Sign(key)
		if _, err := Check(&bad, bytes.NewReader(log)); !errors.Is(err, ErrContradicted) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, other, _ := ed25519.GenerateKey(nil)
	foreign := c
	foreign.Peer = seedlog.PeerOf(other)
	foreign.Sign(other)
	if _, err := Check(&foreign, bytes.NewReader(log)); !errors.Is(err, ErrContradicted) {
		t.Errorf("of a key that did nothing: %v", err)
	}
}

// TestFile: a certificate comes back as it was written, and one that was changed anywhere is refused.
func TestFile(t *testing.T) {
	_, _, c := grown(t, 1)
	var b bytes.Buffer
	if err := Write(&b, &c); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	got, err := Read(strings.NewReader(text))
	if err != nil || got.Evaluations != c.Evaluations || got.Peer != c.Peer || got.Head != c.Head || got.Run != c.Run || got.Steps != c.Steps {
		t.Errorf("got %+v, %v", got, err)
	}
	for name, bad := range map[string]string{
		"empty": "", "no JSON": "evoswarm", "another version": strings.Replace(text, `"version": 1`, `"version": 2`, 1),
		"no key": strings.Replace(text, c.Peer.String(), "00", 1), "no run": strings.Replace(text, c.Run.String(), "bafy", 1),
		"no head": strings.Replace(text, c.Head.String(), "", 1), "large": strings.Repeat(" ", maxFile) + text,
	} {
		if got, err := Read(strings.NewReader(bad)); !errors.Is(err, ErrFile) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if got, err := Read(strings.NewReader(strings.Replace(text, `"evaluations": `, `"evaluations": 1`, 1))); !errors.Is(err, seedlog.ErrSignature) {
		t.Errorf("with more evaluations: %+v, %v", got, err)
	}
	if got, err := Read(strings.NewReader(strings.Replace(text, c.Peer.String(), strings.Repeat("ab", 32), 1))); !errors.Is(err, seedlog.ErrSignature) {
		t.Errorf("with another key: %+v, %v", got, err)
	}
}
