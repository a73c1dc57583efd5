package sim

import (
	"slices"

	"github.com/evoswarm/evoswarm/coordinator"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// forgedChain offers a branch from the genesis that is always heavier than the honest chain. Of truthEvery claims one
// is true; it wins, so that what decides an entry is true.
type forgedChain struct {
	tally
	keys       int
	truthEvery int
	branch     *Branch
}

// Act implements Adversary.
func (f *forgedChain) Act(a *Actor) {
	best := a.Best()
	if f.branch == nil {
		f.branch = a.Branch(a.Rules().Run)
	}
	for f.branch.Weight() < best.Weight+best.Weight/4 {
		f.grow(a)
	}
	if a.Now()%4 != 0 {
		return
	}
	for _, v := range a.targets() {
		a.Send(a.Below(f.keys), v.Index, &coordinator.Status{Hub: true, Term: f.branch.Term(), Head: f.branch.Head(), Height: f.branch.Height(), Weight: f.branch.Weight()})
	}
}

// grow adds an entry whose claims are of eight keys, others in each entry where it has more.
func (f *forgedChain) grow(a *Actor) {
	head := f.branch.Head()
	first := int(f.branch.Height()) * 8
	claims := a.TrueClaims(head, first%f.keys, 1)
	for i := 1; i < min(f.truthEvery, f.keys); i++ {
		claims = append(claims, a.ForgedClaim(head, (first+i)%f.keys, 0, 500))
	}
	if f.keys == 1 {
		claims = append(claims, a.ForgedClaim(head, 0, 1, 500))
	}
	f.branch.Grow(1, 0, claims, nil)
}

// Receive implements Adversary: it serves its branch.
func (f *forgedChain) Receive(a *Actor, m Mail) {
	if pull, ok := m.Message.(*coordinator.Pull); ok && f.branch != nil {
		if n := a.indexOf(m.From); n >= 0 {
			f.deeds++
			a.Send(m.To, n, f.branch.Answer(pull))
		}
	}
}

func sortVotes(votes []seedlog.Vote) {
	slices.SortFunc(votes, func(x, y seedlog.Vote) int { return x.Voter.Compare(y.Voter) })
}
