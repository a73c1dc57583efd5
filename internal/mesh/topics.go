package mesh

import (
	"fmt"
	"strconv"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/evoswarm/evoswarm/coordinator"
)

// version is that of the protocol: of the messages, and of what peers expect of each other. Peers of different
// versions do not talk; each says so in words. See docs/spec/protocol.md, section 1.
const version = 2

// Names on the wire. All but these hold the run, so that swarms of different runs never mix.
var (
	// helloProtocol is spoken before the run is known: one question, one answer, then the stream is closed.
	helloProtocol = protocol.ID("/evoswarm/hello/" + strconv.Itoa(version))
	// olderHello are the names that programs of earlier versions answer to.
	olderHello = []protocol.ID{"/evoswarm/hello/1"}
	// stockGossip are the names of gossipsub that programs of others speak, newest first. Who speaks no other is handed
	// what leaves are, and is no part of the hubs' mesh, which speaks gossipProtocol. Runs are apart by their topics.
	stockGossip = []protocol.ID{pubsub.GossipSubID_v12, pubsub.GossipSubID_v11, pubsub.GossipSubID_v10}
)

func runProtocol(run, what string) protocol.ID {
	return protocol.ID("/evoswarm/" + run + "/" + what + "/" + strconv.Itoa(version))
}

// directProtocol carries messages of a run in one direction: each is preceded by its length as an unsigned varint.
func directProtocol(run string) protocol.ID { return runProtocol(run, "direct") }

// gossipProtocol carries gossipsub 1.2 between hubs.
func gossipProtocol(run string) protocol.ID { return runProtocol(run, "gossip") }

// leafProtocol carries gossip between a leaf and its hubs: each hands the other all that is new to it.
func leafProtocol(run string) protocol.ID { return runProtocol(run, "leaf") }

// tabsProtocol is a question for other tabs, of one byte, and its answer: keys.
func tabsProtocol(run string) protocol.ID { return runProtocol(run, "tabs") }

// subject is one of the topics of a run's gossip. Peers read only the subjects that concern them.
type subject string

const (
	aboutControl subject = "control" // who is there, who leads, who is faulty: everybody
	aboutEntries subject = "entries" // new entries: everybody
)

var subjects = []subject{aboutControl, aboutEntries}

func (s subject) topic(run string) string { return string(runProtocol(run, string(s))) }

// addressed is the first byte of a message that the mesh carries for one receiver: see relay.go.
const addressed = 0

// addressedHeader is the length of what precedes such a message in gossip: that byte and the receiver.
const addressedHeader = 1 + 32

// gossipRule bounds a type of message in gossip: its size, and how many of one author are heard.
type gossipRule struct {
	subject subject
	bytes   int
	rate    limit
}

// gossipRules are by the number of the type (docs/spec/protocol.md, section 2). Other types are only sent directly:
// nobody may have the whole swarm answer a question at once. The rates are several times what an honest peer sends.
var gossipRules = map[byte]gossipRule{
	addressed: {aboutControl, addressedHeader + maxAddressedGossip, limit{5, 50}},
	1:         {aboutControl, 16 << 10, limit{20, 200}},                  // Status: five a second, votes included
	5:         {aboutEntries, coordinator.MaxGossipBytes, limit{20, 80}}, // Announce: four a second at most
	8:         {aboutControl, coordinator.MaxGossipBytes, limit{2, 64}},  // FraudProof
	9:         {aboutControl, 16 << 10, limit{10, 60}},                   // VoteRequest
	12:        {aboutControl, 64, limit{1, 5}},                           // Leave
	13:        {aboutControl, 4 << 10, limit{1, 20}},                     // Vouch
	14:        {aboutControl, coordinator.MaxGossipBytes, limit{1, 16}},  // Equivocation
	15:        {aboutControl, 16 << 10, limit{10, 60}},                   // Mandate: one a second, more while votes come in
	16:        {aboutControl, 1 << 10, limit{1, 16}},                     // DoubleVote
	21:        {aboutEntries, 9 << 10, limit{20, 80}},                    // Advance: one with each Announce
}

// ruleOf says how a message in gossip is bounded. Errors wrap coordinator.ErrMessage.
func ruleOf(data []byte) (gossipRule, error) {
	if len(data) == 0 {
		return gossipRule{}, fmt.Errorf("%w: empty gossip", coordinator.ErrMessage)
	}
	rule, ok := gossipRules[data[0]]
	switch {
	case !ok:
		return rule, fmt.Errorf("%w: messages of type %d are not gossiped", coordinator.ErrMessage, data[0])
	case len(data) > rule.bytes:
		return rule, fmt.Errorf("%w: %d bytes of gossip of type %d, at most %d", coordinator.ErrMessage, len(data), data[0], rule.bytes)
	}
	return rule, nil
}
