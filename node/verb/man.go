package verb

import (
	"fmt"
	"strings"
)

// Man is the program's man page, in the macros of man(7).
func (p *Program) Man() string {
	var b strings.Builder
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"%s %s\" \"User Commands\"\n", strings.ToUpper(p.Name), p.Name, roff(Version()))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", p.Name, roff(lower(p.Title)))
	b.WriteString(".SH SYNOPSIS\n")
	p.manUsage(&b, p.Root)
	b.WriteString(".SH DESCRIPTION\n")
	manText(&b, p.Root.Intro+"\n\n"+p.Root.Details)
	b.WriteString(".SH OPTIONS\n")
	manFlags(&b, p.Root)
	manText(&b, p.Root.Notes)
	b.WriteString(".SH COMMANDS\n")
	for _, v := range p.Verbs() {
		fmt.Fprintf(&b, ".SS %s\n", roff(p.path(v)))
		p.manUsage(&b, v)
		b.WriteString(".PP\n")
		manText(&b, v.Intro+"\n\n"+v.Details)
		manFlags(&b, v)
		manText(&b, v.Notes)
		fmt.Fprintf(&b, ".PP\nExample:\n.PP\n.nf\n.RS 4\n$ %s\n.RE\n.fi\n", literal(v.Example))
	}
	b.WriteString(".SH EXIT STATUS\n0 when all went well, 1 after a failure, and 2 after wrong use.\n")
	return b.String()
}

func (p *Program) manUsage(b *strings.Builder, v *Verb) {
	b.WriteString(".nf\n")
	for _, u := range v.Usage {
		fmt.Fprintf(b, "\\fB%s\\fR %s\n", p.Name, literal(u))
	}
	b.WriteString(".fi\n")
}

func manFlags(b *strings.Builder, v *Verb) {
	fs := NewFlags()
	v.Bind(fs)
	for _, f := range fs.List() {
		name, arg, _ := strings.Cut(f.String(), " ")
		fmt.Fprintf(b, ".TP\n\\fB%s\\fR", roff(name))
		if arg != "" {
			fmt.Fprintf(b, " \\fI%s\\fR", roff(arg))
		}
		b.WriteString("\n" + literal(f.Doc) + "\n")
	}
}

// manText writes paragraphs, and lines that are kept as they are.
func manText(b *strings.Builder, text string) {
	for _, block := range blocks(text) {
		switch {
		case strings.TrimSpace(block.text) == "":
			b.WriteString(".PP\n")
		case block.literal:
			fmt.Fprintf(b, ".PP\n.nf\n%s\n.fi\n.PP\n", literal(strings.Trim(block.text, "\n")))
		default:
			b.WriteString(literal(block.text) + "\n")
		}
	}
}

// roff escapes text within a line.
func roff(text string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
}

// literal escapes lines: a period or quote at the beginning would make one a macro.
func literal(text string) string {
	lines := strings.Split(roff(text), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}

// lower writes a sentence as part of another one.
func lower(text string) string {
	return strings.ToLower(text[:1]) + strings.TrimSuffix(text[1:], ".")
}
