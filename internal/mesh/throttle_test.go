//go:build !js

package mesh

import (
	"io"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
)

// encrypted is a connection whose peer is known.
type encrypted struct {
	net.Conn
	network.ConnSecurity
	id peer.ID
}

func (e encrypted) RemotePeer() peer.ID { return e.id }

// raw hands out the connection that it is asked to multiplex.
type raw struct{ got net.Conn }

func (r *raw) NewConn(c net.Conn, _ bool, _ network.PeerScope) (network.MuxedConn, error) {
	r.got = c
	return nil, nil
}

// metered returns both ends of a connection: what a neighbor writes to, and what this peer reads.
func metered(t *testing.T, n *neighbors, id peer.ID) (theirs, ours net.Conn) {
	t.Helper()
	theirs, end := net.Pipe()
	m := &raw{}
	if _, err := (throttled{m, n}).NewConn(encrypted{Conn: end, id: id}, true, nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { theirs.Close(); m.got.Close() })
	return theirs, m.got
}

// However much the connections of one block send, and in however small pieces, what is read is their quota; the others'
// is not touched.
func TestConnectionsAreReadByQuota(t *testing.T) {
	for _, piece := range []int{12, 1200, 64 << 10} {
		synctest.Test(t, func(t *testing.T) {
			const keys, seconds = 8, 10
			q := quotas[wireBytes]
			most := keys*(q.own.burst+seconds*q.own.rate) + q.block.burst + seconds*q.block.rate
			pieces := int(2 * most / keys / float64(piece+readTakes)) // of each key: twice its part
			n := newNeighbors()
			var read [keys]int
			for i := range keys {
				id := peer.ID(rune('a' + i))
				n.connected(id, addrs("/ip4/198.51.100.7/tcp/1")[0], false)
				theirs, ours := metered(t, n, id)
				go func() {
					b := make([]byte, piece)
					for range pieces {
						if _, err := theirs.Write(b); err != nil {
							return
						}
					}
				}()
				go func() {
					b := make([]byte, 64<<10)
					for {
						k, err := ours.Read(b)
						if err != nil {
							return
						}
						read[i] += k + readTakes
					}
				}()
			}
			time.Sleep(seconds * time.Second)
			synctest.Wait()
			total := 0
			for _, k := range read {
				total += k
			}
			if got := float64(total); got > 1.01*most+keys*(64<<10) || got < 0.95*most {
				t.Errorf("pieces of %d bytes: %.3g bytes were read, want %.3g", piece, got, most)
			}

			n.connected("honest", addrs("/ip4/203.0.113.7/tcp/1")[0], false)
			theirs, ours := metered(t, n, "honest")
			go func() { _, _ = theirs.Write(make([]byte, 1<<20)) }()
			begun := time.Now()
			if _, err := io.ReadFull(ours, make([]byte, 1<<20)); err != nil || time.Since(begun) > 0 {
				t.Errorf("another block's neighbor waited for %v, %v", time.Since(begun), err)
			}
		})
	}
}

// A connection that is closed while its neighbor owes does not keep its reader.
func TestClosedConnectionDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNeighbors()
		n.connected("a", addrs("/ip4/198.51.100.7/tcp/1")[0], false)
		theirs, ours := metered(t, n, "a")
		go func() { _, _ = io.Copy(theirs, endless{}) }()
		done := make(chan time.Time)
		go func() {
			_, _ = io.Copy(io.Discard, struct{ io.Reader }{ours})
			done <- time.Now()
		}()
		time.Sleep(time.Minute)
		closed := time.Now()
		ours.Close()
		if ended := <-done; ended != closed {
			t.Errorf("the reader waited for %v", ended.Sub(closed))
		}
	})
}

// endless reads zeros.
type endless struct{}

func (endless) Read(b []byte) (int, error) { return len(b), nil }
