// Package store holds what must outlive a process: the blocks of a run on all branches, the protocol's hard state, the
// canonical seed log as a file, the learning curve, and a node's identity and known addresses.
//
// Floor 4, adapters: floors 5 and 6 import it.
//
// A peer sees one interface, [Store]. [Memory] keeps everything in memory, [Run] in a folder of a [Disk] with
// fsync, and in a browser tab IndexedDB does (indexeddb_js.go). [Log] is the file of a run on one machine,
// without branches.
//
// What [Store.Save] and [Log.Sync] returned for is durable: it survives a loss of power at any later moment.
// Nothing else is promised, and only what was never promised may be cut when a file is opened again.
package store
