package lint

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// faultRows is how many faults docs/FAULTS.md has a row for.
const faultRows = 51

// named matches a test as the matrix names it: its package, and the function.
var namedTest = regexp.MustCompile("`([a-z0-9/]+)` (Test[A-Za-z0-9]+)")

// faultMatrix says what is wrong with the table of a page: rows that are missing or out of order, rows without a
// promise, a test or a figure, and tests that exists does not know.
func faultMatrix(text string, rows int, exists func(pkg, test string) bool) (wrong []string) {
	next := 1
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 5 || !strings.ContainsAny(cells[0], "0123456789") {
			continue
		}
		row := strings.TrimSpace(cells[0])
		if row != fmt.Sprint(next) {
			wrong = append(wrong, fmt.Sprintf("row %s where row %d belongs", row, next))
		}
		next++
		for i, what := range []string{"number", "fault", "promise", "test", "measured figure"} {
			if strings.TrimSpace(cells[i]) == "" {
				wrong = append(wrong, fmt.Sprintf("row %s has no %s", row, what))
			}
		}
		tests := namedTest.FindAllStringSubmatch(cells[3], -1)
		if len(tests) == 0 {
			wrong = append(wrong, fmt.Sprintf("row %s names no test", row))
		}
		for _, m := range tests {
			if !exists(m[1], m[2]) {
				wrong = append(wrong, fmt.Sprintf("row %s names %s of %s, which does not exist", row, m[2], m[1]))
			}
		}
	}
	if next != rows+1 {
		wrong = append(wrong, fmt.Sprintf("%d rows, want %d", next-1, rows))
	}
	return wrong
}

func TestFaultMatrix(t *testing.T) {
	data, err := os.ReadFile(filepath.Join(root, "docs", "FAULTS.md"))
	if err != nil {
		t.Fatal(err)
	}
	sources := make(map[string]string)
	exists := func(pkg, test string) bool {
		if _, ok := sources[pkg]; !ok {
			files, _ := filepath.Glob(filepath.Join(root, filepath.FromSlash(pkg), "*_test.go"))
			for _, f := range files {
				source, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				sources[pkg] += string(source)
			}
		}
		return strings.Contains(sources[pkg], "\nfunc "+test+"(")
	}
	for _, w := range faultMatrix(string(data), faultRows, exists) {
		t.Error(w)
	}
}

func TestFaultMatrixFixture(t *testing.T) {
	exists := func(pkg, test string) bool { return pkg == "a/b" && test == "TestC" }
	head := "| row | fault | promise | tests | measured |\n|---|---|---|---|---|\n"
	good := "| 1 | x | y | `a/b` TestC (`make d`) | 3 |\n"
	for text, want := range map[string]string{ //lint:sorted each is reported
		head + good: "[]",
		head:        "[0 rows, want 1]",
		head + "| 2 | x | y | `a/b` TestC | 3 |\n":      "[row 2 where row 1 belongs]",
		head + "| 1 | x | y | `a/b` TestD | 3 |\n":      "[row 1 names TestD of a/b, which does not exist]",
		head + "| 1 | x | y | soon | 3 |\n":             "[row 1 names no test]",
		head + "| 1 | x | y | `a/b` TestC | |\n":        "[row 1 has no measured figure]",
		head + good + "| 2 | x | | `a/b` TestC | 3 |\n": "[row 2 has no promise 2 rows, want 1]",
	} {
		if got := fmt.Sprint(faultMatrix(text, 1, exists)); got != want {
			t.Errorf("%q: got %s, want %s", text, got, want)
		}
	}
}
