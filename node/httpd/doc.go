// Package httpd is the HTTP side of a node: the volunteer page, what others may read of the node, and the socket in its
// data folder through which its owner controls it.
//
// The page's port is read-only and open to everybody: the page, /addresses.json, /healthz, /api/runs, /api/status,
// /api/peers, /api/curve and /api/log. /metrics has a port of its own, for the node's operator. Changes to the node go
// over a Unix socket that only its owner can open.
//
// A node may work on several runs: /api/runs lists them ([RunList]), and /api/status, /api/peers, /api/curve and
// /api/log are of the one that ?run=RUN names, else of the first. /addresses.json is of the one that newcomers are
// advised to take part in.
//
// /api/peers says who takes part, at most a second old: [internal/peer.Roster].
//
// /api/curve is a JSON array of the held-out evaluations of the mean policy, in order of height:
// [internal/peer.Point], with height, head (the entry's id), evaluations, steps and return. It has at most a
// few thousand points, thinned out as a run grows, and none of entries that are no longer canonical, so fetch
// all of it again rather than what is new. It survives a restart of the node.
package httpd
