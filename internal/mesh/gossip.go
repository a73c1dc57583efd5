package mesh

import (
	"context"
	"fmt"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

const (
	maxRPCBytes   = coordinator.MaxGossipBytes + 16<<10 // of one gossipsub frame: a message and its signature
	maxControl    = 64 << 10
	outboundQueue = 128 // frames waiting for one neighbor; the default of 32 drops for slow tabs
	checkQueue    = 256 // messages waiting for the check of their signature; what neighbors put in is bounded before
	subscribed    = 1024
	gossipBeat    = 500 * time.Millisecond
	hubDegree     = 4 // other hubs that a hub hands messages on to; its own go to all its neighbors
	lazyDegree    = 2 // other hubs that it tells now and then which messages it has
	maxTopics     = 16
	readAtOnce    = 16 << 10 // from a gossip stream
)

// joinTopics starts gossip in the run.
func (m *Mesh) joinTopics(run string) error {
	ps, err := pubsub.NewGossipSub(m.ctx, &meteredHost{m.host, m}, m.gossipOptions(run)...)
	if err != nil {
		return fmt.Errorf("starting gossip: %w", err)
	}
	m.mu.Lock()
	m.pubsub = ps
	m.mu.Unlock()
	for _, s := range subjects {
		validate := func(_ context.Context, via peer.ID, msg *pubsub.Message) pubsub.ValidationResult {
			return m.judge(s, via, msg)
		}
		if err := ps.RegisterTopicValidator(s.topic(run), pubsub.ValidatorEx(validate), pubsub.WithValidatorInline(true)); err != nil {
			return fmt.Errorf("starting gossip: %w", err)
		}
		topic, err := ps.Join(s.topic(run))
		if err != nil {
			return fmt.Errorf("starting gossip: %w", err)
		}
		m.mu.Lock()
		m.topics[s] = topic
		m.mu.Unlock()
		if err := m.subscribe(s, topic); err != nil {
			return err
		}
	}
	return nil
}

// subscribe has gossip about a subject come.
func (m *Mesh) subscribe(s subject, topic *pubsub.Topic) error {
	sub, err := topic.Subscribe(pubsub.WithBufferSize(subscribed))
	if err != nil {
		return fmt.Errorf("starting gossip: %w", err)
	}
	ctx, stop := context.WithCancel(m.ctx)
	m.mu.Lock()
	m.hearing[s] = stop
	m.mu.Unlock()
	m.spawn(func() {
		defer stop()
		m.listen(ctx, sub)
	})
	return nil
}

// HearEntries says whether this peer needs gossip about new entries, which it does at first. A leaf that does not is
// sent none.
func (m *Mesh) HearEntries(on bool) error {
	m.mu.Lock()
	topic, stop := m.topics[aboutEntries], m.hearing[aboutEntries]
	m.hearing[aboutEntries] = nil
	m.mu.Unlock()
	if stop != nil {
		stop()
	}
	if !on || topic == nil {
		return nil
	}
	return m.subscribe(aboutEntries, topic)
}

// gossipOptions make hubs hand messages to a few other hubs and to all their leaves, and leaves to all their hubs. To
// gossipsub a neighbor with a protocol of no features is one of floodsub, which is no part of its mesh and gets
// everything. Such are leaves, and strangers with any libp2p's own gossipsub: they hear all, and displace no hub. Only
// hubs score neighbors, for invalid messages and broken protocol, never for slowness (throttled tabs)
// or shared IPs (NAT).
func (m *Mesh) gossipOptions(run string) []pubsub.Option {
	params := pubsub.DefaultGossipSubParams()
	params.HeartbeatInterval = gossipBeat
	params.D, params.Dlo, params.Dhi, params.Dout, params.Dscore = hubDegree, hubDegree-1, 2*hubDegree, 1, hubDegree/2
	params.Dlazy, params.GossipFactor, params.HistoryGossip = lazyDegree, 0, 2
	proto, protocols := gossipProtocol(run), []protocol.ID{leafProtocol(run)}
	if m.cfg.Hub {
		protocols = append([]protocol.ID{proto, leafProtocol(run)}, stockGossip...)
	}
	features := func(f pubsub.GossipSubFeature, p protocol.ID) bool {
		return p == proto && (f == pubsub.GossipSubFeatureMesh || f == pubsub.GossipSubFeatureIdontwant)
	}
	var topics []string
	for _, s := range subjects {
		topics = append(topics, s.topic(run))
	}
	filter := pubsub.WrapLimitSubscriptionFilter(pubsub.NewAllowlistSubscriptionFilter(topics...), maxTopics)
	options := []pubsub.Option{
		pubsub.WithGossipSubParams(params),
		pubsub.WithGossipSubProtocols(protocols, features),
		pubsub.WithMessageSignaturePolicy(pubsub.StrictSign),
		pubsub.WithSubscriptionFilter(filter),
		pubsub.WithMaxMessageSize(maxRPCBytes),
		pubsub.WithMaxControlMessageSize(maxControl),
		pubsub.WithPeerOutboundQueueSize(outboundQueue),
		pubsub.WithFloodPublish(true),
		pubsub.WithPeerExchange(false),
		pubsub.WithBlacklist(m.bans),
		pubsub.WithAppSpecificRpcInspector(m.inspect),
		pubsub.WithPeerFilter(func(id peer.ID, _ string) bool { return m.meshes(id, proto) }),
		pubsub.WithValidateQueueSize(checkQueue),
	}
	if m.cfg.Hub {
		options = append(options, pubsub.WithPeerScore(scores(topics)))
	}
	return options
}

// scores makes a neighbor pay for invalid messages and for breaking the gossip protocol.
func scores(topics []string) (*pubsub.PeerScoreParams, *pubsub.PeerScoreThresholds) {
	decay := pubsub.ScoreParameterDecay(10 * time.Minute)
	each := make(map[string]*pubsub.TopicScoreParams)
	for _, topic := range topics {
		each[topic] = &pubsub.TopicScoreParams{
			SkipAtomicValidation: true, TopicWeight: 1, TimeInMeshQuantum: time.Second,
			InvalidMessageDeliveriesWeight: -100, InvalidMessageDeliveriesDecay: decay,
		}
	}
	return &pubsub.PeerScoreParams{
			SkipAtomicValidation:   true,
			AppSpecificScore:       func(peer.ID) float64 { return 0 },
			DecayInterval:          time.Second,
			DecayToZero:            0.01,
			RetainScore:            banTime,
			BehaviourPenaltyWeight: -10, BehaviourPenaltyThreshold: 6, BehaviourPenaltyDecay: decay,
			Topics: each,
		}, &pubsub.PeerScoreThresholds{
			SkipAtomicValidation: true, GossipThreshold: -500, PublishThreshold: -1000, GraylistThreshold: -2500, AcceptPXThreshold: 100, OpportunisticGraftThreshold: 0,
		}
}

// meshes reports whether a neighbor may have a place in a hub's mesh, offer messages and ask for them: one that speaks
// the mesh's protocol, and that said hello in this run or was dialed. Others are handed everything, and what they ask
// of gossipsub is not heard: a place that a stranger has is one that a hub has not.
func (m *Mesh) meshes(id peer.ID, proto protocol.ID) bool {
	if !m.isLinked(id) && !m.neighbors.proven(id) {
		return false
	}
	spoken, err := m.host.Peerstore().SupportsProtocols(id, proto)
	return err == nil && len(spoken) > 0
}

// inspect leaves out of a gossip frame what was heard before and what is more than the neighbor's share, before a
// signature is checked. It runs in gossipsub's loop.
func (m *Mesh) inspect(via peer.ID, rpc *pubsub.RPC) error {
	kept := rpc.Publish[:0]
	for _, msg := range rpc.GetPublish() {
		if m.heard.known(peer.ID(msg.GetFrom()), msg.GetSeqno()) || !m.neighbors.take(via, gossipMessages, 1) {
			continue
		}
		kept = append(kept, msg)
	}
	rpc.Publish = kept
	return nil
}

// meteredHost is the host as gossipsub sees it: streams are read only as fast as their neighbors' shares allow, so that
// what is too much waits at the sender, and those of a peer that dialed again only once its old ones are forgotten.
type meteredHost struct {
	host.Host
	m *Mesh
}

// NewStream opens a stream. Gossipsub opens one to a peer once it has forgotten the peer's last one.
func (h *meteredHost) NewStream(ctx context.Context, p peer.ID, protocols ...protocol.ID) (network.Stream, error) {
	h.m.forgotten(p)
	s, err := h.Host.NewStream(ctx, p, protocols...)
	if err == nil && isTab(s.Conn().RemoteMultiaddr()) {
		s = &tabStream{s, h.m}
	}
	return s, err
}

// SetStreamHandler wraps the handler.
func (h *meteredHost) SetStreamHandler(id protocol.ID, handle network.StreamHandler) {
	h.Host.SetStreamHandler(id, h.metered(handle))
}

// SetStreamHandlerMatch wraps the handler.
func (h *meteredHost) SetStreamHandlerMatch(id protocol.ID, match func(protocol.ID) bool, handle network.StreamHandler) {
	h.Host.SetStreamHandlerMatch(id, match, h.metered(handle))
}

func (h *meteredHost) metered(handle network.StreamHandler) network.StreamHandler {
	return func(s network.Stream) {
		h.m.awaitForgotten(s.Conn().RemotePeer())
		handle(&meteredStream{s, h.m})
	}
}

type meteredStream struct {
	network.Stream
	m *Mesh
}

// Read charges what it read, and returns when that is paid.
func (s *meteredStream) Read(b []byte) (int, error) {
	n, err := s.Stream.Read(b[:min(len(b), readAtOnce)])
	if n > 0 && !s.m.neighbors.pay(s.m.ctx, s.Conn().RemotePeer(), gossipBytes, n) {
		return 0, errSpent
	}
	return n, err
}

// judge decides about a gossiped message whose signature is right: one that can never be valid is rejected and counted
// against the peer that handed it over; one that was heard before or is more than its author's share is ignored.
func (m *Mesh) judge(in subject, via peer.ID, msg *pubsub.Message) pubsub.ValidationResult {
	rule, decoded, err := m.decodeGossip(in, msg.Message)
	if err != nil {
		if via != m.host.ID() {
			m.offend(via, err.Error())
		}
		return pubsub.ValidationReject
	}
	author := peer.ID(msg.GetFrom())
	if via != m.host.ID() && !m.heard.fresh(author, msg.GetSeqno(), msg.Data[0], rule.rate, via, m.neighbors.block(via)) {
		return pubsub.ValidationIgnore
	}
	if m.bans.banned(author) {
		return pubsub.ValidationIgnore
	}
	msg.ValidatorData = decoded
	return pubsub.ValidationAccept
}

// decodeGossip reads a message; nil without an error: it is addressed to another peer.
func (m *Mesh) decodeGossip(in subject, msg *pb.Message) (gossipRule, coordinator.Message, error) {
	rule, err := ruleOf(msg.GetData())
	if err != nil {
		return rule, nil, err
	}
	if rule.subject != in {
		return rule, nil, fmt.Errorf("%w: type %d in the topic of %s", coordinator.ErrMessage, msg.Data[0], in)
	}
	if _, err := PeerOf(peer.ID(msg.GetFrom())); err != nil {
		return rule, nil, fmt.Errorf("%w: %v", coordinator.ErrMessage, err)
	}
	if len(msg.GetSeqno()) != 8 {
		return rule, nil, fmt.Errorf("%w: sequence number of %d bytes", coordinator.ErrMessage, len(msg.GetSeqno()))
	}
	data := msg.GetData()
	if data[0] == addressed {
		if len(data) < addressedHeader {
			return rule, nil, fmt.Errorf("%w: addressed to nobody", coordinator.ErrMessage)
		}
		if seedlog.Peer(data[1:addressedHeader]) != m.self {
			return rule, nil, nil
		}
		data = data[addressedHeader:]
	}
	decoded, err := coordinator.DecodeMessage(data)
	return rule, decoded, err
}

// listen hands gossip of others to the queue of events.
func (m *Mesh) listen(ctx context.Context, sub *pubsub.Subscription) {
	defer sub.Cancel()
	for {
		msg, err := sub.Next(ctx)
		if err != nil {
			return
		}
		if msg.ReceivedFrom == m.host.ID() {
			continue
		}
		from, err1 := PeerOf(msg.GetFrom())
		via, err2 := PeerOf(msg.ReceivedFrom)
		decoded, ok := msg.ValidatorData.(coordinator.Message)
		if err1 == nil && err2 == nil && ok {
			m.events.gossip(Received{From: from, Via: via, Source: m.neighbors.block(msg.ReceivedFrom), Message: decoded}, len(msg.GetData()))
		}
	}
}

// Gossip publishes an encoded message to all peers of the run that its type concerns.
func (m *Mesh) Gossip(data []byte) error {
	if len(data) > 0 && data[0] == addressed {
		return fmt.Errorf("%w: no message", coordinator.ErrMessage)
	}
	return m.publish(data)
}

func (m *Mesh) publish(data []byte) error {
	rule, err := ruleOf(data)
	if err != nil {
		return err
	}
	m.mu.Lock()
	topic := m.topics[rule.subject]
	m.mu.Unlock()
	if topic == nil || m.ctx.Err() != nil {
		return ErrClosed
	}
	if err := topic.Publish(m.ctx, data); err != nil {
		return fmt.Errorf("publishing: %w", err)
	}
	return nil
}
