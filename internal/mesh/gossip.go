package mesh

import (
	"context"
	"fmt"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/evoswarm/evoswarm/coordinator"
)

const (
	maxRPCBytes   = coordinator.MaxGossipBytes + 16<<10 // of one gossipsub frame: a message and its signature
	maxControl    = 64 << 10
	outboundQueue = 128 // frames waiting for one neighbor; the default of 32 drops for slow tabs
	subscribed    = 1024
	gossipBeat    = 500 * time.Millisecond
	hubDegree     = 1000 // a hub's mesh covers all its leaves: with the default of 6 only 57 % get a message
	maxTopics     = 16
)

func topicOf(run string) string { return "/evoswarm/" + run + "/gossip/1" }

// joinTopic starts gossip in the run.
func (m *Mesh) joinTopic(run string) error {
	ps, err := pubsub.NewGossipSub(m.ctx, m.host, m.gossipOptions(run)...)
	if err != nil {
		return fmt.Errorf("starting gossip: %w", err)
	}
	replays := newReplays()
	validate := func(_ context.Context, via peer.ID, msg *pubsub.Message) pubsub.ValidationResult {
		return m.judge(replays, via, msg)
	}
	if err := ps.RegisterTopicValidator(topicOf(run), pubsub.ValidatorEx(validate), pubsub.WithValidatorInline(true)); err != nil {
		return fmt.Errorf("starting gossip: %w", err)
	}
	topic, err := ps.Join(topicOf(run))
	if err != nil {
		return fmt.Errorf("starting gossip: %w", err)
	}
	sub, err := topic.Subscribe(pubsub.WithBufferSize(subscribed))
	if err != nil {
		return fmt.Errorf("starting gossip: %w", err)
	}
	m.mu.Lock()
	m.pubsub, m.topic = ps, topic
	m.mu.Unlock()
	m.spawn(func() { m.listen(sub) })
	return nil
}

// gossipOptions make hubs cover their leaves and leaves publish to all their hubs. Only hubs score neighbors,
// for invalid messages and broken protocol, never for slowness (throttled tabs) or shared IPs (NAT).
func (m *Mesh) gossipOptions(run string) []pubsub.Option {
	params := pubsub.DefaultGossipSubParams()
	params.HeartbeatInterval = gossipBeat
	if m.cfg.Hub {
		params.D, params.Dlo, params.Dhi, params.Dout, params.Dscore = hubDegree, hubDegree*9/10, 2*hubDegree, 0, hubDegree
	}
	proto := protocol.ID("/evoswarm/" + run + "/meshsub/1.2.0")
	features := func(f pubsub.GossipSubFeature, p protocol.ID) bool {
		return p == proto && (f == pubsub.GossipSubFeatureMesh || f == pubsub.GossipSubFeatureIdontwant)
	}
	filter := pubsub.WrapLimitSubscriptionFilter(pubsub.NewAllowlistSubscriptionFilter(topicOf(run)), maxTopics)
	options := []pubsub.Option{
		pubsub.WithGossipSubParams(params),
		pubsub.WithGossipSubProtocols([]protocol.ID{proto}, features),
		pubsub.WithMessageSignaturePolicy(pubsub.StrictSign),
		pubsub.WithSubscriptionFilter(filter),
		pubsub.WithMaxMessageSize(maxRPCBytes),
		pubsub.WithMaxControlMessageSize(maxControl),
		pubsub.WithPeerOutboundQueueSize(outboundQueue),
		pubsub.WithFloodPublish(true),
		pubsub.WithPeerExchange(false),
		pubsub.WithBlacklist(m.bans),
	}
	if m.cfg.Hub {
		options = append(options, pubsub.WithPeerScore(scores(topicOf(run))))
	}
	return options
}

// scores makes a neighbor pay for invalid messages and for breaking the gossip protocol.
func scores(topic string) (*pubsub.PeerScoreParams, *pubsub.PeerScoreThresholds) {
	decay := pubsub.ScoreParameterDecay(10 * time.Minute)
	return &pubsub.PeerScoreParams{
			SkipAtomicValidation:   true,
			AppSpecificScore:       func(peer.ID) float64 { return 0 },
			DecayInterval:          time.Second,
			DecayToZero:            0.01,
			RetainScore:            banTime,
			BehaviourPenaltyWeight: -10, BehaviourPenaltyThreshold: 6, BehaviourPenaltyDecay: decay,
			Topics: map[string]*pubsub.TopicScoreParams{topic: {
				SkipAtomicValidation: true, TopicWeight: 1, TimeInMeshQuantum: time.Second,
				InvalidMessageDeliveriesWeight: -100, InvalidMessageDeliveriesDecay: decay,
			}},
		}, &pubsub.PeerScoreThresholds{
			SkipAtomicValidation: true, GossipThreshold: -500, PublishThreshold: -1000, GraylistThreshold: -2500, AcceptPXThreshold: 100, OpportunisticGraftThreshold: 0,
		}
}

// judge decides about a gossiped message: one that can never be valid is rejected and counted against the peer that
// handed it over; one that was heard before is ignored.
func (m *Mesh) judge(replays *replays, via peer.ID, msg *pubsub.Message) pubsub.ValidationResult {
	decoded, err := decodeGossip(msg.Message)
	if err != nil {
		if via != m.host.ID() {
			m.offend(via, err.Error())
		}
		return pubsub.ValidationReject
	}
	if !replays.fresh(msg.GetFrom(), msg.GetSeqno()) || m.bans.banned(msg.GetFrom()) {
		return pubsub.ValidationIgnore
	}
	msg.ValidatorData = decoded
	return pubsub.ValidationAccept
}

func decodeGossip(msg *pb.Message) (coordinator.Message, error) {
	if len(msg.GetData()) > coordinator.MaxGossipBytes {
		return nil, fmt.Errorf("%w: %d bytes of gossip", coordinator.ErrMessage, len(msg.GetData()))
	}
	if _, err := PeerOf(peer.ID(msg.GetFrom())); err != nil {
		return nil, fmt.Errorf("%w: %v", coordinator.ErrMessage, err)
	}
	if len(msg.GetSeqno()) != 8 {
		return nil, fmt.Errorf("%w: sequence number of %d bytes", coordinator.ErrMessage, len(msg.GetSeqno()))
	}
	return coordinator.DecodeMessage(msg.GetData())
}

// listen hands gossip of others to the queue of events.
func (m *Mesh) listen(sub *pubsub.Subscription) {
	defer sub.Cancel()
	for {
		msg, err := sub.Next(m.ctx)
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
			m.events.gossip(Received{From: from, Via: via, Message: decoded})
		}
	}
}

// Gossip publishes an encoded message to all peers of the run.
func (m *Mesh) Gossip(data []byte) error {
	if len(data) > coordinator.MaxGossipBytes {
		return fmt.Errorf("gossip of %d bytes, at most %d can be sent", len(data), coordinator.MaxGossipBytes)
	}
	m.mu.Lock()
	topic := m.topic
	m.mu.Unlock()
	if topic == nil || m.ctx.Err() != nil {
		return ErrClosed
	}
	if err := topic.Publish(m.ctx, data); err != nil {
		return fmt.Errorf("publishing: %w", err)
	}
	return nil
}
