package mesh

import (
	"encoding/binary"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"golang.org/x/time/rate"
)

const (
	replayWindow  = 1024 // messages of one author that may overtake each other
	replayAuthors = 1 << 14
	replayMemory  = time.Hour // an author silent for longer is forgotten when room is needed
	authorRate    = 50        // messages per second of one author that are heard and handed on
	authorBurst   = 500
)

// replays recognizes gossip that was heard before: gossipsub itself forgets after two minutes. Sequence numbers of one
// author grow; those within a window below the highest may come late, but only once.
type replays struct {
	mu      sync.Mutex
	authors map[peer.ID]*window
}

type window struct {
	high uint64
	seen [replayWindow / 64]uint64 // ring of bits: number n is bit n % replayWindow
	last time.Time
	rate *rate.Limiter
}

func newReplays() *replays { return &replays{authors: make(map[peer.ID]*window)} }

// fresh reports whether the author's message with this sequence number (8 bytes, big-endian) is new, and notes it.
// A message beyond the author's rate is not new either.
func (r *replays) fresh(author peer.ID, seqno []byte) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := binary.BigEndian.Uint64(seqno)
	w := r.authors[author]
	if w == nil {
		if len(r.authors) >= replayAuthors && !r.evict() {
			return false
		}
		w = &window{high: n, rate: rate.NewLimiter(authorRate, authorBurst)}
		r.authors[author] = w
	}
	w.last = time.Now()
	return w.take(n) && w.rate.AllowN(w.last, 1)
}

func (w *window) take(n uint64) bool {
	if n+replayWindow <= w.high {
		return false
	}
	if n > w.high {
		w.clear(w.high+1, n)
		w.high = n
	}
	word, bit := n%replayWindow/64, uint64(1)<<(n%64)
	if w.seen[word]&bit != 0 {
		return false
	}
	w.seen[word] |= bit
	return true
}

// clear forgets the bits of numbers from..to, which had older numbers before.
func (w *window) clear(from, to uint64) {
	if to-from >= replayWindow {
		w.seen = [replayWindow / 64]uint64{}
		return
	}
	for n := from; n <= to; n++ {
		w.seen[n%replayWindow/64] &^= 1 << (n % 64)
	}
}

func (r *replays) evict() bool {
	for id, w := range r.authors {
		if time.Since(w.last) > replayMemory {
			delete(r.authors, id)
			return true
		}
	}
	return false
}
