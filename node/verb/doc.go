// Package verb is the frame of a command line: what a verb of evonode is, and all that verbs share. A [Verb]
// is a value in the room that it serves; a [Program] is the table of them. Help, the list of verbs, Tab
// completion and the man page are printed from that table.
//
// # Rules of the interface
//
// Results go to standard output, everything else to standard error. Messages are in lower case, begin with
// "evonode: " and end without a full stop; a failure is followed by a line "hint: ..." that says what to do
// next. With --json each result is one JSON object per line, and a failure is printed to standard output as
// well, as {"error":"...","hint":"..."}.
//
// Long work shows its progress on standard error: one line that is rewritten on a terminal, else a plain line every ten
// seconds. With --json it shows none.
//
// The exit status is 0 when the command did what was asked, 1 when it failed, and 2 when it was used wrongly (an
// unknown verb, flag, environment or strategy, a value out of range).
//
// Flags may come before and after arguments, with one dash or two.
package verb
