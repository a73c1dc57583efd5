package verb

import (
	"fmt"
	"regexp"
	"strings"
)

const completionDetails = `    bash    source <(evonode completion bash)       in ~/.bashrc
    zsh     source <(evonode completion zsh)        in ~/.zshrc, after compinit
    fish    evonode completion fish | source        in ~/.config/fish/config.fish

A packager writes the output to where the shell looks for it: share/bash-completion/completions/evonode,
share/zsh/site-functions/_evonode, share/fish/vendor_completions.d/evonode.fish.`

// completeWords is the argument with which the scripts ask for candidates: evonode completion words -- WORD ... LAST.
const completeWords = "words"

// completionScripts ask the program for candidates, each on a line with a tab and what it does behind it.
// Where there are none, the shell completes names of files.
var completionScripts = map[string]string{
	"bash": `# Tab completion of evonode for bash.
_evonode() {
    local IFS=$'\n' line
    COMPREPLY=()
    for line in $(evonode completion words -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null); do
        COMPREPLY+=("${line%%$'\t'*}")
    done
}
complete -o default -F _evonode evonode
`,
	"zsh": `#compdef evonode
# Tab completion of evonode for zsh.
_evonode() {
    local -a found
    local line
    for line in ${(f)"$(evonode completion words -- "${(@)words[2,CURRENT]}" 2>/dev/null)"}; do
        found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
    done
    if (( $#found )); then
        _describe evonode found
    else
        _files
    fi
}
if [ "$funcstack[1]" = _evonode ]; then
    _evonode
else
    compdef _evonode evonode
fi
`,
	"fish": `# Tab completion of evonode for fish.
function __evonode_complete
    set -l tokens (commandline -opc) (commandline -ct)
    set -l found (evonode completion words -- $tokens[2..-1] 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c evonode -f -a '(__evonode_complete)'
`,
}

// printCandidates prints what the last of the words may be.
func (p *Program) printCandidates(s *IO, words []string) {
	for _, c := range p.candidates(words) {
		fmt.Fprintf(s.Out, "%s\t%s\n", c.word, c.about)
	}
}

// candidate is a word that may come next.
type candidate struct{ word, about string }

// candidates lists what the last of words, of which the user may have typed a part, may be; none: the name of a file.
func (p *Program) candidates(words []string) (all []candidate) {
	if len(words) == 0 {
		return nil
	}
	last, before := words[len(words)-1], words[:len(words)-1]
	for _, c := range p.following(before, last) {
		if strings.HasPrefix(c.word, last) {
			all = append(all, c)
		}
	}
	return all
}

// following lists what may follow words; last is what the user has typed of it.
func (p *Program) following(words []string, last string) []candidate {
	dash := strings.HasPrefix(last, "-")
	v := p.Root
	if len(words) > 0 {
		if found, err := p.find(words[0]); err == nil {
			v, words = found, words[1:]
		} else if !strings.HasPrefix(words[0], "-") {
			return nil
		}
	} else if !dash {
		return p.verbCandidates()
	}
	fs := NewFlags()
	v.Bind(fs)
	if dash {
		return flagCandidates(fs)
	}
	arguments := 0
	for i, word := range words {
		f := fs.find(word)
		if f != nil && f.takesNext(word) && i == len(words)-1 {
			return p.values(f.Arg)
		}
		if !strings.HasPrefix(word, "-") && (i == 0 || !fs.takes(words[i-1])) {
			arguments++
		}
	}
	switch {
	case arguments > 0 && v.Words != nil:
		return p.values(lastWord(v.Usage, words))
	case arguments > 0:
		return nil
	case v.Words != nil:
		return plain(v.Words)
	}
	if last == "" && files.MatchString(v.Args) {
		return nil // more often a file than a name
	}
	return p.values(v.Args)
}

// files finds placeholders of files.
var files = regexp.MustCompile(`\b(LOG|MODEL|CSV|FILE)\b`)

// lastWord is the placeholder that follows words in the form of use that has them: ENV of "env show ENV".
func lastWord(usage []string, words []string) string {
	for _, u := range usage {
		fields := strings.Fields(u)
		if len(fields) > 2 && fields[1] == words[0] {
			return fields[2]
		}
	}
	return ""
}

func (p *Program) verbCandidates() (all []candidate) {
	for _, v := range p.Verbs() {
		all = append(all, candidate{v.Name, v.Summary})
	}
	return all
}

func flagCandidates(fs *Flags) (all []candidate) {
	for _, f := range fs.List() {
		name, _, _ := strings.Cut(f.String(), " ")
		all = append(all, candidate{name, f.Doc})
	}
	return append(all, candidate{"--help", "explain this command"})
}

// choice is a word of a placeholder that is typed as it is, such as links in links|digests|claims.
var choice = regexp.MustCompile(`^[a-z][a-z0-9-]*$`)

// values lists what a placeholder may be: the first word of args.
func (p *Program) values(args string) (all []candidate) {
	args, _, _ = strings.Cut(strings.Trim(args, "[]"), " ")
	if args == "COMMAND" {
		return p.verbCandidates()
	}
	for _, part := range strings.Split(args, "|") {
		if names := p.Values[part]; names != nil {
			all = append(all, plain(names())...)
		} else if choice.MatchString(part) {
			all = append(all, candidate{part, ""})
		}
	}
	return all
}

func plain(words []string) (all []candidate) {
	for _, w := range words {
		all = append(all, candidate{w, ""})
	}
	return all
}

// find returns the flag that word is, nil if it is none.
func (fs *Flags) find(word string) *Flag {
	name := strings.TrimLeft(word, "-")
	if name == word {
		return nil
	}
	name, _, _ = strings.Cut(name, "=")
	for i := range fs.list {
		if fs.list[i].Name == name {
			return &fs.list[i]
		}
	}
	return nil
}

// takes reports whether word is a flag whose value is the next word.
func (fs *Flags) takes(word string) bool {
	f := fs.find(word)
	return f != nil && f.takesNext(word)
}

// takesNext reports whether the flag's value is the word after it.
func (f *Flag) takesNext(word string) bool {
	return f.Arg != "" && !strings.HasPrefix(f.Arg, "=") && !strings.Contains(word, "=")
}
