package translate_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evoswarm/evoswarm/internal/translate"
)

// TestRefused holds the translator to what it must refuse: lines marked `// want: text`, and no others.
func TestRefused(t *testing.T) {
	kernels := []string{"internal/kernel.Dense"}
	for _, c := range []struct {
		dir     string
		options translate.Options
	}{
		{"refused", translate.Options{Externs: kernels}},
		{"bound", translate.Options{
			Interface: "internal/translate/testdata/bound.Env", Methods: map[string]string{"Reset": "Begin", "Step": "Act"},
			Worlds: []translate.World{{Name: "one", Type: "internal/translate/testdata/bound.State"}},
		}},
	} {
		t.Run(c.dir, func(t *testing.T) {
			p, err := translate.Load(".", nil, []string{"translate", "purego"}, "./testdata/"+c.dir)
			if err != nil {
				t.Fatal(err)
			}
			found, _, err := p.Check(c.options, func(path, file string) bool { return strings.HasSuffix(path, "/testdata/"+c.dir) })
			if err != nil {
				t.Fatal(err)
			}
			compareWithMarks(t, filepath.Join("testdata", c.dir, c.dir+".go"), found)
		})
	}
}

func compareWithMarks(t *testing.T, file string, found translate.Refusals) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := map[int]string{}
	for i, line := range strings.Split(string(data), "\n") {
		if _, text, ok := strings.Cut(line, "// want: "); ok {
			want[i+1] = strings.TrimSpace(text)
		}
	}
	seen := map[int]bool{}
	for _, r := range found {
		if !strings.HasSuffix(r.File, filepath.ToSlash(file)) {
			t.Errorf("not in the fixture: %v", r)
			continue
		}
		text, marked := want[r.Line]
		if !marked {
			t.Errorf("not marked: %v", r)
		}
		seen[r.Line] = seen[r.Line] || strings.Contains(r.What, text)
	}
	for line, text := range want {
		if !seen[line] {
			t.Errorf("%s:%d: not found: %s", file, line, text)
		}
	}
	if t.Failed() {
		for _, r := range found {
			fmt.Println(r)
		}
	}
}
