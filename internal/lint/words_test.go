package lint

import (
	"fmt"
	"go/scanner"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// retired are words that no comment, message or page may use, as regular expressions, and what to write instead. The
// field has other words for the first ones (docs/GLOSSARY.md); the next are no good English here; the last are British.
var retired = []struct{ words, instead string }{
	{`crews?`, "worker pool"},
	{`liars?`, "faulty peer"},
	{`accuse[ds]?|accusing|accusations?|convict(?:s|ed|ion)?`, "fraud proof, evidence"},
	{`grace`, "straggler wait"},
	{`look-(?:every|episodes)|looks? at the mean`, "evaluation interval, held-out evaluation"},
	{`barred`, "disqualified"},
	{`shelf|shelves`, "saved"},

	{`whoever`, "the peer that, anybody who"},
	{`stands? (?:on|behind|for)`, "follows, means, runs for election"},
	{`beside`, "next to, in addition to"},
	{`for good|for ever`, "permanently, forever"},
	{`go(?:es)? on`, "continue"},
	{`anew`, "again"},
	{`shall`, "must, should"},

	{`(?:\w*normal|\w*initial|optim|recogn|serial|organ|synchron|minim|maxim)is(?:e|es|ed|er|ers|ing|ation)`, "-ize"},
	{`neighbour(?:s|ing)?|colou?red by|colour(?:s|ed)?|behaviours?|favour(?:s|ite)?`, "-or"},
	{`centre[sd]?|metres?|licences?|learnt|grey`, "center, meter, license, learned, gray"},
}

// kept are the words that formats, old names and quotations keep, by file.
var kept = map[string][]string{
	"NOTICE.md":                      {"anew"},                        // licenses, as they are
	"internal/evolve/groups.go":      {"centres"},                     // name of a slot, in the bytes of states
	"internal/evolve/dises_test.go":  {"centres"},                     //
	"internal/runspec/table.go":      {"look-every", "look-episodes"}, // old names of flags
	"internal/runspec/draft_test.go": {"look-every"},                  //
	"node/settings/config_test.go":   {"look-every"},                  //
	"internal/store/indexeddb_js.go": {"shelf"},                       // name of a store in browsers' databases
}

// compiled are the patterns of retired.
var compiled = func() []*regexp.Regexp {
	var all []*regexp.Regexp
	for _, r := range retired {
		all = append(all, regexp.MustCompile(`(?i)\b(?:`+r.words+`)\b`))
	}
	return all
}()

// retiredIn returns the retired words in prose, each with what to write instead.
func retiredIn(prose string) map[string]string {
	found := map[string]string{}
	for i, pattern := range compiled {
		for _, word := range pattern.FindAllString(prose, -1) {
			found[strings.ToLower(word)] = retired[i].instead
		}
	}
	return found
}

func TestDocWords(t *testing.T) {
	const self = "internal/lint/words_test.go" // has them all
	used := map[string]bool{}
	check := func(file, place, prose string) {
		for word, instead := range retiredIn(prose) {
			if slices.Contains(kept[file], word) {
				used[file+" "+word] = true
				continue
			}
			t.Errorf("%s: %q is retired: write %s", place, word, instead)
		}
	}
	eachFile(t, ".go", func(file string, data []byte) {
		if file == self {
			return
		}
		files := token.NewFileSet()
		var s scanner.Scanner
		s.Init(files.AddFile(file, -1, len(data)), data, nil, scanner.ScanComments)
		for {
			pos, tok, text := s.Scan()
			switch tok {
			case token.EOF:
				return
			case token.COMMENT, token.STRING:
				check(file, files.Position(pos).String(), text)
			}
		}
	})
	eachFile(t, ".ts", func(file string, data []byte) { check(file, file, string(data)) })
	code := regexp.MustCompile("`[^`]*`")
	for file, p := range pages(t) {
		check(file, file, code.ReplaceAllString(p.text, ""))
	}
	for file, words := range kept { //lint:sorted each is reported
		for _, word := range words {
			if !used[file+" "+word] {
				t.Errorf("%s no longer has %q: take it off the list", file, word)
			}
		}
	}
}

func TestDocWordsFixture(t *testing.T) {
	for prose, want := range map[string]string{ //lint:sorted each is reported
		"// The Crew goes on, beside a liar.":                "map[beside:next to, in addition to crew:worker pool goes on:continue liar:faulty peer]",
		"gracefully, a screw, the accuser, go online, ErrGo": "map[]",
		"normalised colours of the centre":                   "map[centre:center, meter, license, learned, gray colours:-or normalised:-ize]",
	} {
		if got := fmt.Sprint(retiredIn(prose)); got != want {
			t.Errorf("%q: got %s, want %s", prose, got, want)
		}
	}
}

// maxColumns is the widest that a comment may be; tabs count four. New ones are wrapped at 110.
const maxColumns = 120

// TestDocWidth refuses lines of comments that are too wide.
func TestDocWidth(t *testing.T) {
	comment := regexp.MustCompile(`(?m)^\t*// .*$`)
	eachFile(t, ".go", func(file string, data []byte) {
		if strings.HasPrefix(string(data), "// Code generated") {
			return
		}
		for _, line := range comment.FindAllString(string(data), -1) {
			if width := utf8.RuneCountInString(line) + 3*strings.Count(line, "\t"); width > maxColumns {
				t.Errorf("%s: a comment of %d columns, at most %d: %s", file, width, maxColumns, strings.TrimSpace(line))
			}
		}
	})
}
