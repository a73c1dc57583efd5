package mesh

import (
	"encoding/binary"
	"sync"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/evoswarm/evoswarm/internal/fair"
)

const (
	replayWindow  = 1024 // messages of one author that may overtake each other
	replayAuthors = 1 << 14
)

// replays recognizes gossip that was heard before: gossipsub itself forgets after two minutes. Sequence numbers of one
// author grow; those within a window below the highest may come late, but only once. Authors cost nothing, so they are
// remembered in fair shares of the blocks of addresses that their messages come from: a stranger with any number of
// keys displaces its own.
type replays struct {
	mu      sync.Mutex
	authors *fair.Table[peer.ID, block, *window]
	now     func() time.Time
}

type window struct {
	high uint64
	seen [replayWindow / 64]uint64 // ring of bits: number n is bit n % replayWindow
	via  peer.ID                   // the neighbor that handed over the newest message first: the way to the author
	// spent is by type of message, in messages, as of the time in at.
	spent [len(typesHeard)]float64
	at    [len(typesHeard)]time.Time
}

// typesHeard are the types of messages that have a rate of their own.
var typesHeard = [...]byte{addressed, 1, 5, 8, 9, 12, 13, 14, 15, 16, 21}

func newReplays() *replays {
	return &replays{authors: fair.NewTable[peer.ID, block, *window](replayAuthors), now: time.Now}
}

// known reports whether the author's message with this sequence number was heard or is too old, and notes nothing: for
// before its signature is checked.
func (r *replays) known(author peer.ID, seqno []byte) bool {
	if len(seqno) != 8 {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	w, ok := r.authors.Get(author)
	return ok && w.had(binary.BigEndian.Uint64(seqno))
}

// fresh reports whether the author's message with this sequence number (8 bytes, big-endian) is new, and notes it. A
// message beyond the author's rate for its type is not new either. via handed it over, and is in the block from.
func (r *replays) fresh(author peer.ID, seqno []byte, kind byte, rate limit, via peer.ID, from block) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := binary.BigEndian.Uint64(seqno)
	w, ok := r.authors.Get(author)
	if !ok {
		w = &window{high: n}
		r.authors.Put(author, from, 1, w)
		if !r.authors.Has(author) {
			return false
		}
	}
	if w.had(n) {
		return false
	}
	w.note(n)
	if n == w.high {
		w.via = via
	}
	return w.spend(kind, rate, r.now())
}

// way is the neighbor that an author was last heard by first.
func (r *replays) way(author peer.ID) (via peer.ID, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if w, found := r.authors.Get(author); found {
		return w.via, true
	}
	return "", false
}

// spend charges a message to the author's rate for its type.
func (w *window) spend(kind byte, rate limit, now time.Time) bool {
	for i, k := range typesHeard {
		if k != kind {
			continue
		}
		spent := max(0, w.spent[i]-rate.rate*now.Sub(w.at[i]).Seconds())
		if w.at[i].IsZero() {
			spent = 0
		}
		w.at[i] = now
		if w.spent[i] = spent; spent+1 > rate.burst {
			return false
		}
		w.spent[i]++
		return true
	}
	return false
}

func (w *window) had(n uint64) bool {
	if n > w.high {
		return false
	}
	return n+replayWindow <= w.high || w.seen[n%replayWindow/64]&(1<<(n%64)) != 0
}

// note marks a number that was not had.
func (w *window) note(n uint64) {
	if n > w.high {
		w.clear(w.high+1, n)
		w.high = n
	}
	w.seen[n%replayWindow/64] |= 1 << (n % 64)
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
