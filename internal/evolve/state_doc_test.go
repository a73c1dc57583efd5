package evolve_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/evoswarm/evoswarm/internal/evolve"
)

const specDoc = "../../docs/spec/seedlog.md"

// wide is a state with slots of every type.
func wide() *evolve.State {
	return &evolve.State{Gen: 258, Theta: []float32{1, -2}, Slots: []evolve.Slot{
		{Name: "adam/m", Values: []float32{0.5}},
		{Name: "group/scores", Reals: []float64{-3, 0.1}},
		{Name: "ga/tests", Words: []uint64{7}},
		{Name: "ga/genomes"},
	}}
}

// piece is a part of an encoded state and what it is.
type piece struct {
	length int
	means  string
}

// pieces lists the parts of an encoded wide.
func pieces(s *evolve.State) []piece {
	list := []piece{{16, `"evoswarm/state/1"`}, {8, fmt.Sprintf("generation %d", s.Gen)}, {4, fmt.Sprintf("%d parameters", len(s.Theta))}}
	for _, x := range s.Theta {
		list = append(list, piece{4, fmt.Sprint(x)})
	}
	list = append(list, piece{1, fmt.Sprintf("%d slots", len(s.Slots))})
	for _, slot := range s.Slots {
		list = append(list, piece{1, fmt.Sprintf("a name of %d", len(slot.Name))}, piece{len(slot.Name), fmt.Sprintf("%q", slot.Name)})
		switch {
		case slot.Reals != nil:
			list = append(list, piece{4, fmt.Sprintf("%d float64: 2^31 + %[1]d", len(slot.Reals))})
		case slot.Words != nil:
			list = append(list, piece{4, fmt.Sprintf("%d integers: 2^30 + %[1]d", len(slot.Words))})
		default:
			list = append(list, piece{4, fmt.Sprintf("%d float32", len(slot.Values))})
		}
		for _, x := range slot.Values {
			list = append(list, piece{4, fmt.Sprint(x)})
		}
		for _, x := range slot.Reals {
			list = append(list, piece{8, fmt.Sprint(x)})
		}
		for _, x := range slot.Words {
			list = append(list, piece{8, fmt.Sprint(x)})
		}
	}
	return list
}

// TestSpecShowsState: the specification shows every byte of a state with wide slots.
// With -update it is rewritten.
func TestSpecShowsState(t *testing.T) {
	b, err := wide().MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var listing strings.Builder
	at := 0
	for _, p := range pieces(wide()) {
		fmt.Fprintf(&listing, "%02x  %-50s %s\n", at, fmt.Sprintf("% x", b[at:at+p.length]), p.means)
		at += p.length
	}
	if at != len(b) {
		t.Fatalf("the listing has %d bytes, the state %d", at, len(b))
	}
	text, err := os.ReadFile(specDoc)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- begin state -->\n", "<!-- end state -->\n"
	head, rest, ok := bytes.Cut(text, []byte(begin))
	_, tail, ok2 := bytes.Cut(rest, []byte(end))
	if !ok || !ok2 {
		t.Fatalf("%s has no place for a state", specDoc)
	}
	want := string(head) + begin + "```\n" + listing.String() + "```\n" + end + string(tail)
	if flag.Lookup("update").Value.String() == "true" {
		if err := os.WriteFile(specDoc, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if string(text) != want {
		t.Errorf("%s does not show the bytes of a state (run with -update):\n%s", specDoc, listing.String())
	}
}
