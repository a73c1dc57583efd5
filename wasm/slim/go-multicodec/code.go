// Package multicodec has the one code of the table of multicodecs that libp2p names.
//
// The tab's program is built with it (wasm/slim): the table makes maps of its six hundred names at every start.
package multicodec

// Code is what a content id says of its content.
type Code uint64

// Libp2pKey says that it is a key.
const Libp2pKey Code = 0x72
