package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// printJSON prints v as one line.
func (s *IO) printJSON(v any) error {
	e := json.NewEncoder(s.Out)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// fixed is the unit of fixed-point fitness: 2^-20.
const fixed = 1 << 20

// fitness turns a fixed-point fitness into a return, and the reserved invalid one into nil (null in JSON).
func fitness(f int64, invalid int64) *float64 {
	if f == invalid {
		return nil
	}
	x := float64(f) / fixed
	return &x
}

// number prints a return that may be missing.
func number(x *float64) string {
	if x == nil {
		return "-"
	}
	return fmt.Sprintf("%.1f", *x)
}

// liveLine shows one line of progress: rewritten in place on a terminal, and a plain line every few seconds otherwise.
type liveLine struct {
	w        io.Writer
	terminal bool
	every    time.Duration // between plain lines; 0: none
	mu       sync.Mutex
	last     time.Time
	shown    int // width of what stands on the terminal
}

// show replaces the line. On a terminal it is redrawn at most ten times a second.
func (l *liveLine) show(now time.Time, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.terminal {
		if now.Sub(l.last) < 100*time.Millisecond {
			return
		}
		l.last = now
		text = fit(text, l.w)
		fmt.Fprintf(l.w, "\r%s%s", text, strings.Repeat(" ", max(0, l.shown-len(text))))
		l.shown = len(text)
		return
	}
	if l.every > 0 && now.Sub(l.last) >= l.every {
		l.last = now
		fmt.Fprintln(l.w, text)
	}
}

// fit cuts text to the width of the terminal that w is: what is wider would not be overwritten in place.
func fit(text string, w io.Writer) string {
	width := 80
	if f, ok := w.(*os.File); ok {
		if n := terminalWidth(f); n > 0 {
			width = n
		}
	}
	if len(text) >= width {
		text = text[:max(width-1, 0)]
	}
	return text
}

// clear takes the line off the terminal, so that something else can be printed.
func (l *liveLine) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.terminal && l.shown > 0 {
		fmt.Fprintf(l.w, "\r%s\r", strings.Repeat(" ", l.shown))
		l.shown = 0
	}
}
