package verb

import (
	"strings"
	"testing"
	"time"
)

// A line that is too long for the terminal loses whole items from its end.
func TestLineOnTerminal(t *testing.T) {
	var out strings.Builder
	s := &IO{Err: &out, Terminal: true}
	l := s.Line(false)
	now := time.Now()
	l.Show(now, Items("first", "line")...)
	l.Show(now.Add(time.Millisecond), Items("too soon")...)
	l.Show(now.Add(time.Second), Items("second")...)
	if _, err := l.Write([]byte("a record\n")); err != nil {
		t.Fatal(err)
	}
	want := "\rfirst  line\rsecond     \r      \ra record\n"
	if got := out.String(); got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
	out.Reset()
	l.Show(now.Add(2*time.Second), Items("return 212.4 (goal 475)", strings.Repeat("x", 54), "ETA 3m20s", "y")...)
	if got, want := out.String(), "\rreturn 212.4 (goal 475)  "+strings.Repeat("x", 54); got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
	l.Clear()
	out.Reset()
	l.Show(now.Add(3*time.Second), Items(strings.Repeat("x", 200))...)
	if got := len(out.String()); got != 80 {
		t.Errorf("a long item takes %d characters, want those of a terminal of 80 columns", got)
	}
}

// Colors take no columns, and are there only where they are shown.
func TestLineColor(t *testing.T) {
	goal, value := 475.0, 480.5
	for _, c := range []struct {
		color bool
		want  string
	}{{true, "\r\x1b[32mreturn 480.5 (goal 475)\x1b[m  x"}, {false, "\rreturn 480.5 (goal 475)  x"}} {
		var out strings.Builder
		s := &IO{Err: &out, Terminal: true, Color: c.color}
		l := s.Line(false)
		l.Show(time.Now(), Return(&value, &goal), Item{Text: "x"})
		if got := out.String(); got != c.want || l.shown != 26 {
			t.Errorf("printed %q in %d columns, want %q in 26", got, l.shown, c.want)
		}
	}
}

// Without a terminal a line comes every ten seconds, one with news sooner, and none with JSON.
func TestLineElsewhere(t *testing.T) {
	var out strings.Builder
	s := &IO{Err: &out}
	l := s.Line(false)
	begin := time.Now()
	for i := range 25 {
		l.Show(begin.Add(time.Duration(i)*time.Second+time.Millisecond), Items("x")...)
	}
	l.Mark(begin.Add(25*time.Second), Items("news")...)
	l.Mark(begin.Add(25*time.Second+time.Millisecond), Items("too soon")...)
	l.Clear()
	if got, want := out.String(), "x\nx\nnews\n"; got != want {
		t.Errorf("printed %q, want %q", got, want)
	}
	out.Reset()
	s.Line(true).Mark(begin.Add(time.Hour), Items("x")...)
	if out.Len() != 0 {
		t.Errorf("a quiet line printed %q", out.String())
	}
}
