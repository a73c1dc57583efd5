package daemon

import (
	"math"
	"strings"
	"testing"

	"github.com/evoswarm/evoswarm/internal/peer"
)

func TestPrintRoster(t *testing.T) {
	roster := peer.Roster{Entries: 50, Others: 3, Members: []peer.Member{
		{Key: strings.Repeat("a1", 32), Leads: true, Here: true, Kind: "node", Hub: true, Height: 1000, Lately: 750, Evaluations: 9000},
		{Key: strings.Repeat("b2", 32), Self: true, Here: true, Kind: "node", Height: 1000, Lately: 250, Evaluations: 400},
		{Key: strings.Repeat("c3", 32), Here: true, Kind: "tab", Height: 988},
		{Key: strings.Repeat("d4", 32), Evaluations: 12},
		{Key: strings.Repeat("e5", 32), Here: true, Kind: "node", Height: math.MaxUint64},
	}}
	for _, test := range []struct {
		name   string
		roster peer.Roster
		own    peer.Ledger
		want   string
	}{
		{"all", roster, peer.Ledger{Computed: 400, Logged: 300, Waiting: 40, Late: 20, Replaced: 40}, `
who                    of the last 50 generations  logged  head
a1a1a1a1  node, leads  75 %                        9000    1000
b2b2b2b2  this node    25 %                        400     1000
c3c3c3c3  tab          0 %                         0       988 (12 behind)
d4d4d4d4  not heard    0 %                         12      
e5e5e5e5  node         0 %                         0       18446744073709551615
and 3 others

computed here since the start: 400 evaluations, of them 75 % logged, 10 % waiting, 5 % too late, 10 % logged on a branch that lost
`},
		{"alone at the genesis", peer.Roster{Members: roster.Members[2:3]}, peer.Ledger{}, `
who            of the last 0 generations  logged  head
c3c3c3c3  tab  0 %                        0       988 (12 behind)

computed here since the start: 0 evaluations, of them 0 % logged, 0 % waiting, 0 % too late
`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var b strings.Builder
			if err := printRoster(&b, test.roster, test.own, 1000); err != nil {
				t.Fatal(err)
			}
			if got := "\n" + b.String(); got != test.want {
				t.Errorf("got%swant%s", got, test.want)
			}
		})
	}
}
