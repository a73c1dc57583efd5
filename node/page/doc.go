// Package page is evonode page: it writes the volunteer page into a folder, for any host of files.
//
// Floor 6, programs: only floor 6 imports it.
package page
