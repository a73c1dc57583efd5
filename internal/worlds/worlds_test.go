package worlds_test

import (
	"encoding/json"
	"os"
	"reflect"
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

// TestModules holds what the page knows of the modules to the table.
func TestModules(t *testing.T) {
	text, err := os.ReadFile("modules.json")
	if err != nil {
		t.Fatal(err)
	}
	var got map[string][]string
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{}
	for _, w := range worlds.Table {
		name := worlds.Modules[w.Module()].Name
		want[name] = append(want[name], w.ID)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("modules.json has %v, want %v: go generate ./internal/worlds", got, want)
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

// TestTable holds the table to the environments of this module.
func TestTable(t *testing.T) {
	var got, want []string
	for _, w := range worlds.Table {
		got = append(got, w.ID)
		if w.Module() < 0 {
			t.Errorf("%s is in no module", w.ID)
		}
	}
	for _, s := range envs.All() {
		want = append(want, s.ID)
	}
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the table has %v, want %v", got, want)
	}
}
