package sim

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// grinder owns two peers that want to lead in turn, forever. Before one of them hands over it adds true claims of ever
// other keys to its last entry, until the lottery of the next term falls to the other.
type grinder struct {
	passive
}

// Send implements Insider.
func (g *grinder) Send(a *Actor, n int, out []coordinator.Envelope) []coordinator.Envelope {
	over := -1
	for i, e := range out {
		if _, ok := e.Message.(*coordinator.Handover); ok {
			over = i
		}
	}
	if over < 0 {
		return out
	}
	for i, e := range out {
		m, ok := e.Message.(*coordinator.Announce)
		if !ok {
			continue
		}
		entry, err := seedlog.ReadEntry(m.Entry, a.Block)
		if err != nil {
			continue
		}
		if friend, generation, link, ok := g.grind(a, n, entry); ok {
			g.deeds++
			out[i].Message = &coordinator.Announce{Entry: generation.Entry, Seal: generation.Seal}
			hand := *out[over].Message.(*coordinator.Handover)
			hand.Head = link
			out[over].To, out[over].Message = a.View(friend).Peer, &hand
		}
	}
	return out
}

// grindAttempts are how many keys it tries.
const grindAttempts = 40

// grind looks for a claim that has a friend win the lottery on the entry.
func (g *grinder) grind(a *Actor, n int, e *seedlog.Entry) (friend int, found coordinator.Generation, link seedlog.Link, ok bool) {
	if a.swarm.library.find(e.Parent) == nil {
		return 0, found, link, false
	}
	var claims []*seedlog.Claim
	for _, l := range e.Claims {
		data, _ := a.Block(l)
		claim, err := seedlog.DecodeClaim(data)
		if err != nil {
			return 0, found, link, false
		}
		claims = append(claims, claim)
	}
	for key := range grindAttempts {
		generation, l := a.Generation(e.Parent, e.Term, -1-n, append(claims[:len(claims):len(claims)], a.TrueClaims(e.Parent, key, 1)...), nil)
		if first := a.winner(l, e.Term+1); first != n && a.View(first).Owned {
			return first, generation, l, true
		}
	}
	return 0, found, link, false
}

// winner is the native that the lottery of a term on an entry falls to.
func (a *Actor) winner(head seedlog.Link, term uint64) int {
	prefix := binary.LittleEndian.AppendUint64(append([]byte("evoswarm/rank/1\x00"), head.Bytes()...), term)
	best, winner := [32]byte{}, -1
	for _, v := range a.Views() {
		if v.Kind != coordinator.Native || !v.Up {
			continue
		}
		draw := sha256.Sum256(append(prefix[:len(prefix):len(prefix)], v.Peer[:]...))
		if winner < 0 || string(draw[:]) < string(best[:]) {
			best, winner = draw, v.Index
		}
	}
	return winner
}
