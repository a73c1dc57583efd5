package mutants

// foreign are those of how other programs with libp2p take part.
var foreign = []Mutant{
	{"gossip under our own names alone", "internal/mesh/gossip.go",
		"append([]protocol.ID{proto, leafProtocol(run)}, stockGossip...)",
		"[]protocol.ID{proto, leafProtocol(run)}",
		"any libp2p's own gossipsub hears a run", "internal/mesh TestStockGossip"},
	{"a place in the mesh for who speaks gossipsub's own names", "internal/mesh/gossip.go",
		"	return err == nil && len(spoken) > 0\n",
		"	return err == nil && len(spoken) >= 0\n",
		"strangers displace no hub", "internal/mesh TestStrangersGetNoPlaces"},
	{"a place in the mesh without a hello", "internal/mesh/gossip.go",
		"	if !m.isLinked(id) && !m.neighbors.proven(id) {\n",
		"	if false {\n",
		"strangers displace no hub", "internal/mesh TestStrangersGetNoPlaces"},
	{"any number of connections from an address", "internal/mesh/host_native.go",
		"ConnLimitPerSubnet{{PrefixLength: 32, ConnCount: perIP}}",
		"ConnLimitPerSubnet{{PrefixLength: 32, ConnCount: 100 * perIP}}",
		"a node's owner says how many connections an address has", "internal/mesh TestConnectionsOfAnAddress"},
}
