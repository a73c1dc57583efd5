// Package cli is the command line of evonode: what users type and what they see.
//
// # Rules of the interface
//
// Results go to standard output, everything else to standard error. Progress is shown only where standard error is a
// terminal. Messages are in lower case, begin with "evonode: " and end without a full stop; a failure is followed by a
// line "hint: ..." that says what to do next. With --json each result is one JSON object per line, and a failure is
// printed to standard output as well, as {"error":"...","hint":"..."}.
//
// The exit status is 0 when the command did what was asked, 1 when it failed, and 2 when it was used wrongly (an
// unknown command, flag, world or strategy, a value out of range).
//
// Flags may stand before and after arguments, with one dash or two.
package cli
