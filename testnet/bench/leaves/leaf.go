//go:build linux

package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p"
	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/p2p/security/noise"
	quic "github.com/libp2p/go-libp2p/p2p/transport/quic"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
	libp2pwebrtc "github.com/libp2p/go-libp2p/p2p/transport/webrtc"
	"github.com/libp2p/go-libp2p/p2p/transport/websocket"
	libp2pwebtransport "github.com/libp2p/go-libp2p/p2p/transport/webtransport"
	"google.golang.org/protobuf/proto"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/mesh"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// leaf is a tab as the hub sees it: a libp2p host over one transport, with hello, gossip and a status each second. It
// does not check what it hears, so that a thousand of them fit next to the hub.
type leaf struct {
	host   host.Host
	hub    peer.ID
	run    string
	gossip network.Stream // to the hub; a second one would replace it

	mu     sync.Mutex
	heard  span // messages of the hub
	delays []time.Duration
}

// span counts the numbered messages of an author, none of which should be missing.
type span struct{ First, Last, N uint64 }

func (s *span) add(n uint64) {
	if s.N == 0 {
		s.First = n
	}
	s.Last = max(s.Last, n)
	s.N++
}

// siteState is what the leaves of an address say of themselves.
type siteState struct {
	Linked, Lost int
	Errors       map[string]int
	Heard        []span          // each leaf's since the measurement began
	Delays       []time.Duration // of the probes, of all leaves
	Probes       int
	CPU          float64 // seconds of the measurement
}

// site starts leaves at one address, and measures from the first line on standard input to the second.
func site() error {
	in := bufio.NewScanner(os.Stdin)
	in.Scan() // there is a network
	if err := join(); err != nil {
		return err
	}
	info, err := peer.AddrInfoFromString(*to)
	if err != nil {
		return err
	}
	var (
		mu     sync.Mutex
		leaves []*leaf
		state  = siteState{Errors: make(map[string]int)}
		group  sync.WaitGroup
		turn   = make(chan struct{}, 16) // that connect at a time
	)
	for i := range *count {
		group.Go(func() {
			turn <- struct{}{}
			defer func() { <-turn }()
			l, err := connect(i, *info)
			for n := 1; err != nil && n < tries; n++ {
				l, err = connect(i, *info)
			}
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				state.Errors[cause(err)]++
				return
			}
			leaves = append(leaves, l)
		})
	}
	group.Wait()
	state.Linked = len(leaves)
	answer(state)
	if !in.Scan() {
		return nil
	}
	for _, l := range leaves {
		l.mu.Lock()
		l.heard, l.delays = span{}, nil
		l.mu.Unlock()
	}
	before, end := cpu(), make(chan struct{})
	probed := make(chan int)
	go func() { probed <- probe(leaves, end) }()
	in.Scan()
	state.CPU = cpu() - before
	close(end)
	state.Probes = <-probed
	time.Sleep(3 * time.Second) // what is on its way
	for _, l := range leaves {
		l.mu.Lock()
		state.Heard = append(state.Heard, l.heard)
		state.Delays = append(state.Delays, l.delays...)
		l.mu.Unlock()
		if l.host.Network().Connectedness(l.hub) != network.Connected {
			state.Lost++
		}
	}
	answer(state)
	in.Scan()
	return nil
}

// tries of a leaf to connect.
const tries = 3

// join gives this process's network its address.
func join() error {
	for _, line := range []string{"link set lo up", "addr add " + *at + "/8 dev eth0", "link set eth0 up"} {
		if out, err := exec.Command("ip", strings.Fields(line)...).CombinedOutput(); err != nil {
			return fmt.Errorf("ip %s: %w: %s", line, err, out)
		}
	}
	return nil
}

// cause is the part of an error that says why.
func cause(err error) string {
	lines := strings.Split(err.Error(), "\n")
	text := strings.TrimSpace(lines[len(lines)-1])
	if at := strings.LastIndexAny(text, ":]"); at >= 0 {
		text = strings.TrimSpace(text[at+1:])
	}
	return text
}

func connect(i int, hub peer.AddrInfo) (*leaf, error) {
	key, err := crypto.UnmarshalEd25519PrivateKey(keyOf(*first + i))
	if err != nil {
		return nil, err
	}
	transport := map[mesh.Way]libp2p.Option{
		mesh.TCP: libp2p.Transport(tcp.NewTCPTransport), mesh.WebSocket: libp2p.Transport(websocket.New), mesh.QUIC: libp2p.Transport(quic.NewTransport),
		mesh.WebTransport: libp2p.Transport(libp2pwebtransport.New), mesh.WebRTC: libp2p.Transport(libp2pwebrtc.New),
	}[mesh.WayOf(*to)]
	h, err := libp2p.New(libp2p.Identity(key), libp2p.NoListenAddrs, transport, libp2p.Security(noise.ID, noise.New), libp2p.DisableMetrics(),
		libp2p.DisableRelay(), libp2p.ResourceManager(&network.NullResourceManager{}))
	if err != nil {
		return nil, err
	}
	l := &leaf{host: h, hub: hub.ID, run: *run}
	h.SetStreamHandler(l.protocol("leaf"), l.hear)
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	err = h.Connect(ctx, hub)
	if err == nil {
		err = l.greet(ctx)
	}
	if err == nil {
		err = l.subscribe(ctx)
	}
	if err != nil {
		return nil, errors.Join(h.Close(), err)
	}
	return l, nil
}

func (l *leaf) protocol(what string) protocol.ID {
	return protocol.ID("/evoswarm/" + l.run + "/" + what + "/2")
}

// greet says hello, as a tab.
func (l *leaf) greet(ctx context.Context) error {
	s, err := l.host.NewStream(ctx, l.hub, "/evoswarm/hello/2")
	if err != nil {
		return err
	}
	defer s.Close()
	_ = s.SetDeadline(time.Now().Add(time.Minute))
	if _, err := s.Write(seedlog.Encode([]any{coordinator.Tab, false, "leaves/1", l.run, []byte{}, []string{}, []string{}, false, false})); err != nil {
		return err
	}
	_ = s.CloseWrite()
	_, err = io.Copy(io.Discard, s)
	return err
}

// subscribe asks for gossip, on the stream that carries this leaf's own.
func (l *leaf) subscribe(ctx context.Context) error {
	s, err := l.host.NewStream(ctx, l.hub, l.protocol("leaf"))
	if err != nil {
		return err
	}
	rpc := &pb.RPC{}
	for _, about := range []string{"control", "entries"} {
		rpc.Subscriptions = append(rpc.Subscriptions, &pb.RPC_SubOpts{Subscribe: proto.Bool(true), Topicid: proto.String(string(l.protocol(about)))})
	}
	if err := send(s, rpc); err != nil {
		return err
	}
	l.gossip = s
	direct, err := l.host.NewStream(ctx, l.hub, l.protocol("direct"))
	if err != nil {
		return err
	}
	go func() {
		link, err := seedlog.ParseLink(l.run)
		for ; err == nil; time.Sleep(time.Second) {
			data := coordinator.EncodeMessage(&coordinator.Status{Kind: coordinator.Tab, Head: link})
			_, err = direct.Write(append(binary.AppendUvarint(nil, uint64(len(data))), data...))
		}
	}()
	return nil
}

func send(w io.Writer, rpc *pb.RPC) error {
	data, err := proto.Marshal(rpc)
	if err == nil {
		_, err = w.Write(append(binary.AppendUvarint(nil, uint64(len(data))), data...))
	}
	return err
}

// probes are statuses whose height is the time at which they were sent, in microseconds.
const probesFrom = 1 << 50

// hear counts what the hub hands to this leaf.
func (l *leaf) hear(s network.Stream) {
	in := bufio.NewReader(s)
	var frame []byte
	for {
		n, err := binary.ReadUvarint(in)
		if err != nil || n > 1<<20 {
			_ = s.Reset()
			return
		}
		frame = slices.Grow(frame[:0], int(n))[:n]
		if _, err := io.ReadFull(in, frame); err != nil {
			return
		}
		now := time.Now()
		var rpc pb.RPC
		if proto.Unmarshal(frame, &rpc) != nil {
			continue
		}
		l.mu.Lock()
		for _, m := range rpc.GetPublish() {
			if string(m.GetFrom()) == string(l.hub) && len(m.GetSeqno()) == 8 {
				l.heard.add(binary.BigEndian.Uint64(m.GetSeqno()))
			}
			decoded, err := coordinator.DecodeMessage(m.GetData())
			if st, ok := decoded.(*coordinator.Status); err == nil && ok && st.Height > probesFrom {
				l.delays = append(l.delays, now.Sub(time.UnixMicro(int64(st.Height))))
			}
		}
		l.mu.Unlock()
	}
}

// probe has the leaves publish probes in turn, until end; it returns how many.
func probe(leaves []*leaf, end <-chan struct{}) (n int) {
	if !*probes {
		return 0
	}
	link, err := seedlog.ParseLink(*run)
	if err != nil {
		return 0
	}
	for i := 0; ; i++ {
		l := leaves[i%len(leaves)]
		if l.publish(coordinator.EncodeMessage(&coordinator.Status{Kind: coordinator.Tab, Head: link, Height: uint64(time.Now().UnixMicro())})) == nil {
			n++
		}
		select {
		case <-end:
			return n
		case <-time.After(500 * time.Millisecond):
		}
	}
}

// publish signs a message about control and gives it to the hub.
func (l *leaf) publish(data []byte) error {
	topic := string(l.protocol("control"))
	m := &pb.Message{From: []byte(l.host.ID()), Data: data, Seqno: binary.BigEndian.AppendUint64(nil, uint64(time.Now().UnixNano())), Topic: &topic}
	body, err := proto.Marshal(m)
	if err != nil {
		return err
	}
	if m.Signature, err = l.host.Peerstore().PrivKey(l.host.ID()).Sign(append([]byte("libp2p-pubsub:"), body...)); err != nil {
		return err
	}
	return send(l.gossip, &pb.RPC{Publish: []*pb.Message{m}})
}
