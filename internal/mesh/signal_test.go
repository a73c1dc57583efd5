//go:build !js

package mesh

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

func someSignal() *signal {
	return &signal{Kind: offering, Number: 7, Theirs: description{
		User: "ab+/", Password: "0123456789abcdefghijklmn", Fingerprint: bytes.Repeat([]byte{7}, 32),
		Places: []place{
			{Host: "7c1b8f6e-1c0a-4b6e-9d54-4c9f8a0e1d2f.local", Port: 40000, Priority: 2113937151},
			{Host: "203.0.113.7", Port: 1, Priority: 1}, {Host: "2001:db8::7", Port: 65535},
		}}}
}

func TestSignalRoundTrip(t *testing.T) {
	want := someSignal()
	got, err := decodeSignal(want.encode())
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	if n := len(want.encode()); n > maxAddressedGossip {
		t.Errorf("%d bytes go over one hub only", n)
	}
	if got, err := decodeSignal((&signal{Kind: refusing, Number: 7}).encode()); err != nil || got.Kind != refusing {
		t.Errorf("got %+v, %v", got, err)
	}
}

// What a stranger says gets into a description for the browser only if a browser could have said it.
func TestSignalsAreChecked(t *testing.T) {
	for name, spoil := range map[string]func(s *signal){
		"a kind that is none":          func(s *signal) { s.Kind = refusing + 1 },
		"no password":                  func(s *signal) { s.Theirs.Password = "" },
		"a long password":              func(s *signal) { s.Theirs.Password = strings.Repeat("a", maxSecret+1) },
		"a line in the user name":      func(s *signal) { s.Theirs.User = "abcd\r\na=candidate:1 1 udp 1 203.0.113.7 1 typ host" },
		"a line at its end":            func(s *signal) { s.Theirs.User = "abcd\n" },
		"a certificate cut short":      func(s *signal) { s.Theirs.Fingerprint = s.Theirs.Fingerprint[1:] },
		"too many places":              func(s *signal) { s.Theirs.Places = slices.Repeat(s.Theirs.Places[:1], maxPlaces+1) },
		"a place without a port":       func(s *signal) { s.Theirs.Places[0].Port = 0 },
		"a name that has to be looked": func(s *signal) { s.Theirs.Places[0].Host = "victim.example.com" },
		"a local name of letters":      func(s *signal) { s.Theirs.Places[0].Host = "7C1B8F6E-1C0A-4B6E-9D54-4C9F8A0E1D2F.local" },
		"a local name without a dash":  func(s *signal) { s.Theirs.Places[0].Host = "7c1b8f6e01c0a-4b6e-9d54-4c9f8a0e1d2f.local" },
		"a local name with more":       func(s *signal) { s.Theirs.Places[0].Host = "7c1b8f6e-1c0a-4b6e-9d54-4c9f8a0e1d2f0.local" },
		"a local name cut short":       func(s *signal) { s.Theirs.Places[0].Host = "7c1b8f6e-1c0a-4b6e-9d54-4c9f8a0e1d2.local" },
		"a local name elsewhere":       func(s *signal) { s.Theirs.Places[0].Host = "7c1b8f6e-1c0a-4b6e-9d54-4c9f8a0e1d2f" },
		"a line in a name":             func(s *signal) { s.Theirs.Places[0].Host += "\n" },
		"a zone":                       func(s *signal) { s.Theirs.Places[0].Host = "fe80::1%eth0\r\na=x" },
		"everybody's address":          func(s *signal) { s.Theirs.Places[0].Host = "224.0.0.251" },
		"no address":                   func(s *signal) { s.Theirs.Places[0].Host = "0.0.0.0" },
	} {
		s := someSignal()
		spoil(s)
		if _, err := decodeSignal(s.encode()); !errors.Is(err, errSignal) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	for name, data := range map[string][]byte{
		"nothing":            nil,
		"another message":    {1},
		"no words":           {signaled},
		"too many bytes":     append([]byte{signaled}, seedlog.Encode(strings.Repeat("a", maxSignalBytes))...),
		"a message cut":      someSignal().encode()[:40],
		"bytes that follow":  append(someSignal().encode(), 0),
		"lists within lists": append([]byte{signaled}, bytes.Repeat([]byte{0x81}, 1000)...),
	} {
		if _, err := decodeSignal(data); !errors.Is(err, errSignal) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func FuzzSignal(f *testing.F) {
	f.Add(someSignal().encode())
	f.Add([]byte{signaled})
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := decodeSignal(data)
		if err != nil || s.Kind == refusing {
			return
		}
		for _, text := range []string{s.Theirs.User, s.Theirs.Password} {
			if strings.ContainsAny(text, "\r\n ") {
				t.Errorf("%q would be a line of its own", text)
			}
		}
		for _, p := range s.Theirs.Places {
			if strings.ContainsAny(p.Host, "\r\n ") {
				t.Errorf("%q would be a line of its own", p.Host)
			}
		}
	})
}
