// Package wire is a network of namespaces of Linux whose packets pass through this process, which loses, delays and
// stops them as a test says. Processes in it have addresses, sockets and a kernel's TCP of their own. It needs root.
//
// Floor 6, programs: only tests and benchmarks import it.
package wire
