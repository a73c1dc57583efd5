package daemon

import (
	"strings"
	"testing"

	"github.com/evoswarm/evoswarm/internal/peer"
	"github.com/evoswarm/evoswarm/node/httpd"
)

// The status says how good the policy is, what the goal is, and whether it was reached.
func TestPrintStatus(t *testing.T) {
	value, goal := 470.25, 475.0
	s := httpd.Status{Status: peer.Status{Run: "bafy", Env: "CartPole-v1", State: peer.Training, Threshold: &goal}}
	for _, c := range []struct {
		curve []peer.Point
		want  string
	}{
		{nil, "policy       not evaluated yet (goal 475)\n"},
		{[]peer.Point{{Height: 3, Return: 80}, {Height: 9, Return: 470.25}}, "policy       return 470.2 at generation 9 (goal 475), not solved yet\n"},
		{[]peer.Point{{Height: 3, Return: 475}, {Height: 6, Return: 500}, {Height: 9, Return: 470.25}}, "policy       return 470.2 at generation 9 (goal 475), solved at generation 3\n"},
	} {
		if len(c.curve) > 0 {
			s.Return, s.ReturnHeight = &value, 9
		}
		s.SetSolved(c.curve)
		var b strings.Builder
		if err := printStatus(&b, s); err != nil || !strings.Contains(b.String(), c.want) {
			t.Errorf("got %v\n%swant %s", err, b.String(), c.want)
		}
	}
}

// The status says from where on the log is here, if that is not the beginning.
func TestPrintStatusOfACutLog(t *testing.T) {
	for first, want := range map[uint64]bool{1: false, 0: false, 321: true} {
		var b strings.Builder
		if err := printStatus(&b, httpd.Status{Status: peer.Status{Run: "bafy", First: first}}); err != nil || strings.Contains(b.String(), "log          from generation 321 on; what lies before was dropped (--keep)\n") != want {
			t.Errorf("from %d on: %v\n%s", first, err, b.String())
		}
	}
}

// The status says where others may reach the node, at its first addresses.
func TestPrintAddresses(t *testing.T) {
	for n, want := range []string{"", "address      /ip4/1\nup ", "address      /ip4/1\n             /ip4/2\nup ", "", "", "", "             /ip4/4\n             and 2 more (--json)\nup "} {
		var b strings.Builder
		err := printStatus(&b, httpd.Status{Addresses: []string{"/ip4/1", "/ip4/2", "/ip4/3", "/ip4/4", "/ip4/5", "/ip4/6"}[:n]})
		if err != nil || !strings.Contains(b.String(), want) || n == 0 && strings.Contains(b.String(), "address") {
			t.Errorf("%d addresses: %v\n%s", n, err, b.String())
		}
	}
}

// What a node says at its end is a command that continues.
func TestAgain(t *testing.T) {
	t.Setenv("XDG_DATA_HOME", "/home/a")
	for _, c := range []struct {
		cfg  Config
		want string
	}{
		{Config{Public: true, Data: "/home/a/evoswarm"}, "evonode --bootstrap"},
		{Config{Targets: []string{"http://h:8080/#bafy"}, Data: "/tmp/my data"}, "evonode join 'http://h:8080/#bafy' --data '/tmp/my data'"},
		{Config{Public: true, Targets: []string{"http://h:8080/"}, Data: "/d"}, "evonode --bootstrap http://h:8080/ --data /d"},
		{Config{Targets: []string{"bafy"}, DHT: true, Data: "/d"}, "evonode join bafy --dht --data /d"},
		{Config{Targets: []string{"bafy"}, DHT: true, DHTBootstrap: []string{"/a", "/b"}, Data: "/d"}, "evonode join bafy --dht-bootstrap /a --dht-bootstrap /b --data /d"},
		{Config{Public: true, Data: "/d", Keep: 64_000_000, Bounded: true}, "evonode --bootstrap --data /d --keep 64000000"},
	} {
		if got := again(c.cfg); got != c.want {
			t.Errorf("again gives %s, want %s", got, c.want)
		}
	}
}
