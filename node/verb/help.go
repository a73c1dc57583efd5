package verb

import (
	"fmt"
	"strings"
)

const (
	helpWidth  = 110 // of lines, in columns
	helpIndent = "    "
	helpColumn = 24 // most of the names of flags and verbs, before what they do
)

// Help is the help of a verb, or of the program if it is the root.
func (p *Program) Help(v *Verb) string {
	var b strings.Builder
	b.WriteString(paragraphs(v.Intro))
	b.WriteString("\nUsage:\n")
	for _, u := range v.Usage {
		fmt.Fprintf(&b, "%s%s %s\n", helpIndent, p.Name, u)
	}
	if v.Details != "" {
		b.WriteString("\n" + paragraphs(v.Details))
	}
	if v == p.Root {
		b.WriteString(p.verbList())
	}
	b.WriteString(flagList(v))
	if v.Notes != "" {
		b.WriteString("\n" + paragraphs(v.Notes))
	}
	fmt.Fprintf(&b, "\nExample:\n%s$ %s\n", helpIndent, strings.ReplaceAll(v.Example, "\n", "\n"+helpIndent))
	return b.String()
}

// verbList lists the verbs in their groups.
func (p *Program) verbList() string {
	rows := map[string][][2]string{}
	var all [][2]string
	for _, g := range p.Groups {
		for _, v := range g.Verbs {
			row := [2]string{strings.TrimSpace(v.Name + " " + v.Args), v.Summary}
			rows[g.Title], all = append(rows[g.Title], row), append(all, row)
		}
	}
	column := columnOf(all)
	var b strings.Builder
	for _, g := range p.Groups {
		fmt.Fprintf(&b, "\n%s:\n%s", g.Title, table(rows[g.Title], column))
	}
	return b.String()
}

// flagList lists the flags of a verb.
func flagList(v *Verb) string {
	fs := NewFlags()
	v.Bind(fs)
	var rows [][2]string
	for _, f := range fs.List() {
		rows = append(rows, [2]string{f.String(), f.Doc})
	}
	if len(rows) == 0 {
		return ""
	}
	return "\nFlags:\n" + table(rows, columnOf(rows))
}

// String is a flag as people write it.
func (f Flag) String() string {
	name := "--" + f.Name
	if len(f.Name) == 1 {
		name = name[1:]
	}
	if f.Arg == "" || strings.HasPrefix(f.Arg, "=") {
		return name + f.Arg
	}
	return name + " " + f.Arg
}

// columnOf is where the second column of rows begins.
func columnOf(rows [][2]string) int {
	n := 0
	for _, r := range rows {
		if len(r[0]) <= helpColumn {
			n = max(n, len(r[0]))
		}
	}
	return len(helpIndent) + n + 2
}

// table prints two columns, the second one wrapped.
func table(rows [][2]string, column int) string {
	var b strings.Builder
	indent := strings.Repeat(" ", column)
	for _, r := range rows {
		name := helpIndent + r[0]
		if len(name)+2 > column {
			b.WriteString(name + "\n")
			name = ""
		}
		text := wrap(r[1], helpWidth-column)
		fmt.Fprintf(&b, "%-*s%s\n", column, name, strings.ReplaceAll(text, "\n", "\n"+indent))
	}
	return b.String()
}

// paragraphs wraps text: its paragraphs, between which lines are empty, and its lists, whose lines begin with
// spaces and are kept. It ends with a newline.
func paragraphs(text string) string {
	var b strings.Builder
	for _, block := range blocks(text) {
		if block.literal {
			b.WriteString(block.text + "\n")
		} else {
			b.WriteString(wrap(block.text, helpWidth) + "\n")
		}
	}
	return b.String()
}

// block is lines of a text that are wrapped together, or kept as they are.
type block struct {
	text    string
	literal bool
}

// blocks divides a text. An empty line is a literal block.
func blocks(text string) []block {
	var all []block
	for _, line := range strings.Split(strings.Trim(text, "\n"), "\n") {
		literal := line == "" || strings.HasPrefix(line, helpIndent)
		if n := len(all); n > 0 && all[n-1].literal == literal {
			all[n-1].text += "\n" + line
		} else {
			all = append(all, block{line, literal})
		}
	}
	return all
}

// wrap breaks text into lines of at most n characters, if its words allow.
func wrap(text string, n int) string {
	var b strings.Builder
	width := 0
	for _, word := range strings.Fields(text) {
		switch {
		case width == 0:
		case width+1+len(word) > n:
			b.WriteByte('\n')
			width = 0
		default:
			b.WriteByte(' ')
			width++
		}
		b.WriteString(word)
		width += len(word)
	}
	return b.String()
}

// Wrap breaks text into the lines of a help text.
func Wrap(text string) string { return wrap(text, helpWidth) }

// List joins words with commas to lines of a table, which begin with indent, but for the first one.
func List(words []string, indent string) string {
	text := strings.ReplaceAll(wrap(strings.Join(words, ", "), 92), "\n", "\n"+indent)
	return text
}
