package worlds_test

import (
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/evoswarm/evoswarm/envs"
	_ "github.com/evoswarm/evoswarm/envs/all"
	"github.com/evoswarm/evoswarm/internal/translate"
	"github.com/evoswarm/evoswarm/internal/worlds"
)

var program = sync.OnceValues(func() (*translate.Program, error) { return translate.LoadWorlds(".") })

// TestMade makes the translation again. A change of step code needs go generate ./internal/worlds.
func TestMade(t *testing.T) {
	p, err := program()
	if err != nil {
		t.Fatal(err)
	}
	files, err := translate.Worlds(p)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("%s is not what its source translates to (first difference in line %d): go generate ./internal/worlds", name, firstDifference(string(got), want))
		}
	}
}

func firstDifference(a, b string) int {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return i + 1
		}
	}
	return min(len(x), len(y)) + 1
}

// TestTable holds the table to the environments of this module. MuJoCo's worlds, of version 5, are not in it yet: tabs
// and devices leave them to Go.
func TestTable(t *testing.T) {
	var got, want []string
	for _, w := range worlds.Table {
		got = append(got, w.ID)
	}
	for _, s := range envs.All() {
		if !strings.HasSuffix(s.ID, "-v5") {
			want = append(want, s.ID)
		}
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the table has %v, want %v", got, want)
	}
}
