// Package contribution is the certificate of what somebody did for a run: the file that a tab writes, and how
// it is checked against the log.
//
// Floor 6, programs: only floor 6 imports it.
package contribution
