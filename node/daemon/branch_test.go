package daemon

import (
	"strings"
	"testing"

	"github.com/evoswarm/evoswarm/internal/store"
)

func TestReplacedText(t *testing.T) {
	for _, test := range []struct {
		entries, evaluations, own, come uint64
		kept                            bool
		want                            string
	}{
		{37, 100, 100, 120, true, "37 generations that this computer made while it was alone were replaced by 120 others of the swarm; they are kept as branch h1-ab (evonode branch list)"},
		{1, 4, 4, 1, true, "1 generation that this computer made while it was alone was replaced by another of the swarm; it is kept as branch h1-ab (evonode branch list)"},
		{2, 100, 25, 3, false, "2 generations, with 25 of their 100 evaluations made here, were replaced by 3 others of the swarm; they are not kept: --keep leaves no room"},
		{1, 100, 25, 0, true, "1 generation, with 25 of its 100 evaluations made here, was taken back, since a claim was false; it is kept as branch h1-ab (evonode branch list)"},
	} {
		r := store.Replaced{Branch: store.Branch{Name: "h1-ab", Entries: test.entries, Evaluations: test.evaluations, Own: test.own}, Come: test.come, Kept: test.kept}
		if got := replacedText(r); got != test.want {
			t.Errorf("got  %s\nwant %s", got, test.want)
		}
	}
}

// What nobody here made is not worth a line, and what nobody reads does not block the node.
func TestNewsAreBounded(t *testing.T) {
	n := &Node{news: make(chan string, maxNews)}
	n.replaced(store.Replaced{Branch: store.Branch{Entries: 1, Evaluations: 4}, Come: 1})
	if len(n.news) != 0 {
		t.Errorf("others' work was told: %s", <-n.news)
	}
	for range 2 * maxNews {
		n.replaced(store.Replaced{Branch: store.Branch{Entries: 1, Evaluations: 4, Own: 4}, Come: 1})
	}
	if len(n.news) != maxNews {
		t.Errorf("%d lines wait", len(n.news))
	}
}

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{ //lint:sorted each alone
		"0": 0, "7": 7, "256MB": 256e6, "1.5 gb": 15e8, "2KiB": 2048, " 3b ": 3, "1tib": 1 << 40,
	} {
		if got, err := parseSize(text); err != nil || got != want {
			t.Errorf("%q is %d, %v, want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "MB", "-1", "-1MB", "nan", "inf", "1e300GB", "9999999999GB", "12PB", "1 2", "0x10"} {
		if got, err := parseSize(text); err == nil {
			t.Errorf("%q is %d", text, got)
		} else if !strings.Contains(err.Error(), "is no size") {
			t.Error(err)
		}
	}
}
