// Package httpd is the HTTP side of a node: the volunteer page, what others may read of the node, and the socket in its
// data folder through which its owner steers it.
//
// What is served over TCP is read-only and open to everybody: the page, /addresses.json, /healthz, /metrics,
// /api/status and /api/log. What changes the node goes over a Unix socket that only its owner can open.
package httpd
