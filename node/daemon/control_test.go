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
	} {
		if got := again(c.cfg); got != c.want {
			t.Errorf("again gives %s, want %s", got, c.want)
		}
	}
}
