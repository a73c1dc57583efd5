package lint

import (
	"cmp"
	"flag"
	"fmt"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var updateTree = flag.Bool("update-tree", false, "write internal/README.md and the floor of each room into its package comment")

// floors names the floors, by number.
var floors = []string{"numbers", "environments", "learning", "protocol", "adapters", "drivers", "programs"}

// floorLine is the paragraph of a room's package comment that says where the room is.
func floorLine(floor int) string {
	if floor == exempt {
		return "On no floor: only tests import it."
	}
	first, last := floor, len(floors)-1
	if floor == 4 {
		first++ // adapters do not import each other
	}
	who := fmt.Sprintf("floors %d to %d import it.", first, last)
	switch {
	case first == last:
		who = fmt.Sprintf("only floor %d imports it.", last)
	case first == last-1:
		who = fmt.Sprintf("floors %d and %d import it.", first, last)
	}
	return fmt.Sprintf("Floor %d, %s: %s", floor, floors[floor], who)
}

// packageComment returns the file and the comment of a folder's package; "" for a folder without one.
func packageComment(t *testing.T, dir string) (file, text string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.PackageClauseOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if f.Doc != nil {
			return name, f.Doc.Text()
		}
	}
	return "", ""
}

// TestFloorsInComments checks that the comment of each room's package says its floor, as its second paragraph.
func TestFloorsInComments(t *testing.T) {
	for room, floor := range rooms {
		file, text := packageComment(t, filepath.Join(root, filepath.FromSlash(room)))
		if file == "" || room == "." {
			continue // a folder of packages, or the library, whose comment is for others
		}
		want := floorLine(floor)
		parts := strings.Split(strings.TrimSpace(text), "\n\n")
		if len(parts) > 1 && parts[1] == want {
			continue
		}
		if !*updateTree {
			t.Errorf("%s: the second paragraph of the package comment must be %q: go test ./internal/lint -run 'Floors|Tree' -update-tree writes it", file, want)
			continue
		}
		if err := insertFloor(file, want); err != nil {
			t.Error(err)
		}
	}
}

// insertFloor writes line as the second paragraph of the package comment of a file, in place of the one of
// another floor.
func insertFloor(file, line string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	lines := strings.Split(string(data), "\n")
	at := slices.IndexFunc(lines, func(s string) bool { return strings.HasPrefix(s, "// Package ") })
	for strings.HasPrefix(lines[at], "// ") {
		at++
	}
	if at+1 < len(lines) && (strings.HasPrefix(lines[at+1], "// Floor ") || strings.HasPrefix(lines[at+1], "// On no floor")) {
		lines[at+1] = "// " + line
	} else {
		lines = slices.Insert(lines, at, "//", "// "+line)
	}
	return os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o644)
}

// treeMap is internal/README.md: the rooms below internal by floor, with what their packages say of themselves.
func treeMap(t *testing.T) string {
	t.Helper()
	var names []string
	for room := range rooms {
		if strings.HasPrefix(room, "internal/") {
			names = append(names, room)
		}
	}
	place := func(room string) int { // what is on no floor comes last
		if floor := rooms[room]; floor != exempt {
			return floor
		}
		return len(floors)
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(place(a)-place(b), strings.Compare(a, b)) })
	var b strings.Builder
	b.WriteString("# Rooms by floor\n\nImports go down only. The floors above and between (envs on 1, coordinator on 3, programs on 6) and what each floor may\n" +
		"import are in [docs/ARCHITECTURE.md](../docs/ARCHITECTURE.md). `go test ./internal/lint -run 'Floors|Tree' -update-tree` writes this file.\n\n" +
		"| floor | room | what it does |\n|---|---|---|\n")
	for _, room := range names {
		_, text := packageComment(t, filepath.Join(root, filepath.FromSlash(room)))
		floor := "tests"
		if f := rooms[room]; f != exempt {
			floor = fmt.Sprintf("%d %s", f, floors[f])
		}
		name := strings.TrimPrefix(room, "internal/")
		what := strings.TrimPrefix(new(doc.Package).Synopsis(text), "Package "+name+" ")
		fmt.Fprintf(&b, "| %s | [%s](%s) | %s |\n", floor, name, name, what)
	}
	return b.String()
}

// TestTree holds internal/README.md and the table in docs/ARCHITECTURE.md to the rooms.
func TestTree(t *testing.T) {
	path, want := filepath.Join(root, "internal", "README.md"), treeMap(t)
	if *updateTree {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("internal/README.md differs from the rooms (%v): go test ./internal/lint -run 'Floors|Tree' -update-tree writes it", err)
	}
	text, err := os.ReadFile(filepath.Join(root, "docs", "ARCHITECTURE.md"))
	if err != nil {
		t.Fatal(err)
	}
	for room, floor := range rooms {
		if floor == exempt || room == "." {
			continue
		}
		row := ""
		for line := range strings.SplitSeq(string(text), "\n") {
			if strings.HasPrefix(line, fmt.Sprintf("| %d %s |", floor, floors[floor])) {
				row = line
			}
		}
		if name := room[strings.LastIndexByte(room, '/')+1:]; !strings.Contains(row, name) {
			t.Errorf("docs/ARCHITECTURE.md: the row of floor %d lacks %s", floor, room)
		}
	}
	for dir := range rooms {
		if info, err := os.Stat(filepath.Join(root, filepath.FromSlash(dir))); err != nil || !info.IsDir() {
			t.Errorf("floors_test.go names %s, which is no folder", dir)
		}
	}
	entries, err := os.ReadDir(filepath.Join(root, "internal"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if _, ok := rooms["internal/"+e.Name()]; e.IsDir() && !ok {
			t.Errorf("internal/%s has no row in floors_test.go", e.Name())
		}
	}
}
