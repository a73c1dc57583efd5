package verb

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Item is a part of a progress line. What counts most comes first: the last ones are dropped where the line
// is too long.
type Item struct {
	Text  string
	Color Color
}

// Items are items without a color.
func Items(texts ...string) (items []Item) {
	for _, t := range texts {
		items = append(items, Item{Text: t})
	}
	return items
}

// Return is the policy's return next to the goal: green once it is reached.
func Return(value, goal *float64) Item {
	i := Item{"return " + Number(value), Bold}
	if goal != nil {
		i.Text += fmt.Sprintf(" (goal %g)", *goal)
		if value != nil && *value >= *goal {
			i.Color = Green
		}
	}
	return i
}

// Color is the look of an item on a terminal.
type Color string

// The colors of items, as the parameters of the terminal's "select graphic rendition".
const (
	Bold  Color = "1"
	Dim   Color = "2"
	Green Color = "32"
	Red   Color = "31"
)

const (
	redrawEvery = 100 * time.Millisecond // at most, on a terminal
	plainEvery  = 10 * time.Second       // between plain lines elsewhere
	markEvery   = time.Second            // at most, between plain lines that mark something
)

// Line is a line of progress on standard error: rewritten in place on a terminal, a plain line now and then elsewhere.
// Methods may be called from several goroutines.
type Line struct {
	w        io.Writer
	terminal bool
	color    bool
	quiet    bool
	mu       sync.Mutex
	last     time.Time
	shown    int // width of what is on the terminal
}

// Line returns a line of progress. A quiet one shows nothing, as with --json.
func (s *IO) Line(quiet bool) *Line {
	return &Line{w: s.Err, terminal: s.Terminal, color: s.Color, quiet: quiet, last: time.Now()}
}

// Show replaces the line.
func (l *Line) Show(now time.Time, items ...Item) { l.show(now, plainEvery, items) }

// Mark replaces the line with one that says something new, such as the result of a held-out evaluation: where lines are
// plain, they come sooner.
func (l *Line) Mark(now time.Time, items ...Item) { l.show(now, markEvery, items) }

func (l *Line) show(now time.Time, every time.Duration, items []Item) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.terminal {
		every = redrawEvery
		if l.shown == 0 {
			every = 0
		}
	}
	if l.quiet || now.Sub(l.last) < every {
		return
	}
	l.last = now
	if !l.terminal {
		fmt.Fprintln(l.w, join(items, false))
		return
	}
	items = fit(items, l.width()-1)
	n := width(items)
	fmt.Fprintf(l.w, "\r%s%s", join(items, l.color), strings.Repeat(" ", max(0, l.shown-n)))
	l.shown = n
}

// width is that of the terminal.
func (l *Line) width() int {
	if f, ok := l.w.(*os.File); ok {
		if n := terminalWidth(f); n > 0 {
			return n
		}
	}
	return 80
}

// gap is what separates items.
const gap = "  "

// width is the number of columns that items take.
func width(items []Item) int {
	n := len(gap) * max(len(items)-1, 0)
	for _, i := range items {
		n += utf8.RuneCountInString(i.Text)
	}
	return n
}

// fit drops whole items from the end until the rest has room in n columns; the first one is cut if it has none alone.
func fit(items []Item, n int) []Item {
	for len(items) > 1 && width(items) > n {
		items = items[:len(items)-1]
	}
	if width(items) > n {
		text := []rune(items[0].Text)
		items = []Item{{string(text[:max(n, 0)]), items[0].Color}}
	}
	return items
}

func join(items []Item, color bool) string {
	var parts []string
	for _, i := range items {
		text := i.Text
		if color && i.Color != "" {
			text = "\x1b[" + string(i.Color) + "m" + text + "\x1b[m"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, gap)
}

// Clear takes the line off the terminal, so that something else can be printed.
func (l *Line) Clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clear()
}

func (l *Line) clear() {
	if l.shown > 0 {
		fmt.Fprintf(l.w, "\r%s\r", strings.Repeat(" ", l.shown))
		l.shown = 0
	}
}

// Write lets log records pass: the line makes room for them.
func (l *Line) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clear()
	return l.w.Write(p)
}
