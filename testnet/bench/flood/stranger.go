//go:build linux

package main

import (
	"context"
	"crypto/ed25519"
	"encoding/binary"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p"
	pb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
	"google.golang.org/protobuf/proto"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// attacker is one key of the stranger.
type attacker struct {
	host host.Host
	hub  peer.AddrInfo
	run  string
	key  ed25519.PrivateKey
	sent *atomic.Uint64
	lost *atomic.Int64
}

// stranger sends what -kind says with all its keys.
func stranger() error {
	info, err := peer.AddrInfoFromString(*to)
	if err != nil {
		return err
	}
	r := rules()
	var sent atomic.Uint64
	var lost atomic.Int64
	var connected sync.WaitGroup
	for i := range *keys {
		connected.Go(func() {
			a := &attacker{hub: *info, run: r.Run.String(), key: keyOf(*number + i), sent: &sent, lost: &lost}
			if a.connect() == nil {
				go a.attack(r, i)
			}
		})
	}
	connected.Wait()
	report(func() sample { return sample{Sent: sent.Load(), Lost: int(lost.Load())} })
	return nil
}

func (a *attacker) connect() error {
	key, err := crypto.UnmarshalEd25519PrivateKey(a.key)
	if err != nil {
		return err
	}
	if a.host, err = libp2p.New(libp2p.Identity(key), libp2p.NoListenAddrs, libp2p.Transport(tcp.NewTCPTransport), libp2p.DisableMetrics(),
		libp2p.ResourceManager(&network.NullResourceManager{})); err != nil {
		return err
	}
	a.host.Network().Notify(&network.NotifyBundle{DisconnectedF: func(network.Network, network.Conn) { a.lost.Add(1) }})
	if err := a.host.Connect(forever(), a.hub); err != nil {
		return err
	}
	a.sayHello()
	return nil
}

func (a *attacker) open(id protocol.ID) (network.Stream, error) {
	ctx, cancel := context.WithTimeout(forever(), 10*time.Second)
	defer cancel()
	return a.host.NewStream(ctx, a.hub.ID, id)
}

func (a *attacker) sayHello() {
	s, err := a.open("/evoswarm/hello/2")
	if err != nil {
		return
	}
	defer s.Close()
	_ = s.SetDeadline(time.Now().Add(10 * time.Second))
	_, _ = s.Write(seedlog.Encode([]any{0, true, "", a.run, []byte{}, []string{}, []string{}, false, false}))
	_ = s.CloseWrite()
	_, _ = io.Copy(io.Discard, s)
	a.sent.Add(1)
}

// attack sends until the process ends, on new streams and connections as the hub closes them.
func (a *attacker) attack(r *seedlog.Rules, i int) {
	kinds := []string{"gossip", "direct", "claims", "hello", "parcels"}
	k := *kind
	if k == "all" {
		k = kinds[i%len(kinds)]
	}
	for {
		switch k {
		case "gossip":
			a.stream("gossip", a.gossip(i))
		case "direct":
			a.stream("direct", a.messages(r, i))
		case "claims":
			a.stream("direct", a.claims(r))
		case "parcels":
			a.stream("direct", a.parcels())
		case "hello":
			a.sayHello()
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// stream writes frames for as long as the hub reads.
func (a *attacker) stream(what string, next func() []byte) {
	s, err := a.open(protocol.ID("/evoswarm/" + a.run + "/" + what + "/2"))
	if err != nil {
		return
	}
	defer s.Reset()
	for {
		data := next()
		if _, err := s.Write(append(binary.AppendUvarint(nil, uint64(len(data))), data...)); err != nil {
			return
		}
		a.sent.Add(1)
	}
}

// gossip makes frames of status messages of authors made up for them, each signed.
func (a *attacker) gossip(i int) func() []byte {
	topic := "/evoswarm/" + a.run + "/control/2"
	author, number := 0, uint64(time.Now().UnixNano())
	return func() []byte {
		author, number = author+1, number+1
		key := keyOf(10_000 + (i*64+author)%50_000)
		private, err := crypto.UnmarshalEd25519PrivateKey(key)
		if err != nil {
			panic(err) // a key made here
		}
		id, err := peer.IDFromPrivateKey(private)
		if err != nil {
			panic(err)
		}
		m := &pb.Message{From: []byte(id), Data: a.status(), Seqno: binary.BigEndian.AppendUint64(nil, number), Topic: &topic}
		body, err := proto.Marshal(m)
		if err != nil {
			panic(err)
		}
		m.Signature = ed25519.Sign(key, append([]byte("libp2p-pubsub:"), body...))
		frame, err := proto.Marshal(&pb.RPC{Publish: []*pb.Message{m}})
		if err != nil {
			panic(err)
		}
		return frame
	}
}

func (a *attacker) status() []byte {
	run, err := seedlog.ParseLink(a.run)
	if err != nil {
		panic(err)
	}
	return coordinator.EncodeMessage(&coordinator.Status{Hub: true, Head: run, Height: rand.Uint64N(1 << 20), Weight: rand.Uint64N(1 << 30)})
}

// messages are questions that cost the hub more than the stranger, and false news.
func (a *attacker) messages(r *seedlog.Rules, i int) func() []byte {
	pull := coordinator.EncodeMessage(&coordinator.Pull{Locator: []seedlog.Link{r.Run}})
	want := &coordinator.Want{}
	for n := range 256 {
		want.Claims = append(want.Claims, seedlog.LinkOf(binary.BigEndian.AppendUint64(nil, uint64(n))))
	}
	wants := coordinator.EncodeMessage(want)
	n := i
	return func() []byte {
		n++
		return [][]byte{pull, wants, a.status()}[n%3]
	}
}

// claims are 64 with good signatures on the genesis, again and again.
func (a *attacker) claims(r *seedlog.Rules) func() []byte {
	var blocks [][]byte
	chunk := r.Spec.Generation.Chunk
	for k := range min(r.Spec.Generation.Quota, 64) {
		steps := make([]uint64, chunk)
		for i := range steps {
			steps[i] = 9
		}
		data, _ := seedlog.NewClaim(r.Run, r.Run, a.key, k, make([]int64, int(chunk)*r.Signs()), steps).Encode()
		blocks = append(blocks, data)
	}
	data := coordinator.EncodeMessage(&coordinator.Claims{Blocks: blocks})
	return func() []byte { return data }
}

// parcels are for an honest peer, of authors made up for them.
func (a *attacker) parcels() func() []byte {
	to, n := seedlog.PeerOf(keyOf(2)), uint64(0)
	junk := append([]byte(nil), a.status()...)
	junk = append(junk, strings.Repeat("x", 4000)...)
	return func() []byte {
		n++
		author := keyOf(10_000 + int(n)%50_000)
		signed := append([]byte("evoswarm/parcel/2\x00"+a.run+"\x00"), to[:]...)
		signed = append(binary.BigEndian.AppendUint64(signed, n), junk...)
		from := seedlog.PeerOf(author)
		b := append([]byte{0, 4}, to[:]...)
		b = binary.BigEndian.AppendUint64(append(b, from[:]...), n)
		return append(append(b, ed25519.Sign(author, signed)...), junk...)
	}
}
