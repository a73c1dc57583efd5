package daemon

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/evoswarm/evoswarm/internal/runspec"
	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// ownRun returns the genesis block of the run that a lane is to work on as far as this folder knows it: the one to
// train, or the one that it had last; nil if there is none.
func (l *lane) ownRun() (genesis []byte, err error) {
	l.node.mu.Lock()
	known := l.node.memory
	l.node.mu.Unlock()
	if len(l.left()) > 0 {
		return l.trainRun(known)
	}
	last := known.at(l.number)
	if last == "" {
		return nil, nil
	}
	spec, err := l.node.spec(last)
	if err != nil {
		return nil, unopened{err}
	}
	if spec == nil {
		return nil, nil
	}
	return seedlog.Encode(spec), nil
}

// remembers reports whether this folder was with a swarm at the same addresses before, and knows others of it: the
// swarm may be there also if these addresses are not.
func (l *lane) remembers() bool {
	n := l.node
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.memory.Active != "" && slices.Equal(n.memory.Joined, n.cfg.Targets) && len(n.data.Peers()) > 0
}

// trainRun finds the run of this folder that was asked for, or creates it. Of several that were asked for it is the
// first that has not ended, or the last.
func (l *lane) trainRun(known memory) (genesis []byte, err error) {
	n := l.node
	for !n.cfg.Fresh {
		spec, err := l.trained(known, l.left()[0])
		if err != nil {
			return nil, err
		}
		if spec == nil {
			break
		}
		if len(l.left()) == 1 || !known.ended(spec.Link().String()) {
			return seedlog.Encode(spec), nil
		}
		l.advance()
	}
	options := l.left()[0]
	options.Origin = seedlog.PeerOf(n.data.Key())
	if _, err := rand.Read(options.Nonce[:]); err != nil {
		return nil, err
	}
	spec, err := runspec.NewSpec(options)
	if err != nil {
		return nil, err
	}
	if before := known.at(l.number); before != "" {
		n.note(fmt.Sprintf("this is a new run; the previous one, %s, stays in the data folder", before))
	}
	return seedlog.Encode(spec), nil
}

// spec returns the genesis block of a run that the folder remembers; nil if its files are gone.
func (n *Node) spec(run string) (*seedlog.Spec, error) {
	link, err := seedlog.ParseLink(run)
	if err != nil {
		return nil, err
	}
	spec, err := n.data.Spec(link)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return spec, err
}

// trained is the run of this folder that options mean; nil: there is none. It is an error if it may be one that
// cannot be read.
func (l *lane) trained(known memory, options runspec.Options) (*seedlog.Spec, error) {
	n := l.node
	var unread error
	for _, run := range known.Recent {
		if slices.ContainsFunc(n.lanes, func(other *lane) bool { return other != l && other.runID() == run }) {
			continue
		}
		spec, err := n.spec(run)
		if err != nil {
			unread = unopened{err}
		}
		if spec == nil || err != nil {
			continue
		}
		if same, err := n.wanted(spec, options); err != nil || same {
			return spec, err
		}
	}
	return nil, unread
}

// wanted reports whether spec is of a run that options mean: of their environment and, with Exact, all their settings.
// Without, no parameters of the environment were asked for, so one that has some is another.
func (n *Node) wanted(spec *seedlog.Spec, options runspec.Options) (bool, error) {
	if spec.Env.ID != options.Env || spec.Solo() {
		return false, nil
	}
	if !n.cfg.Exact {
		return spec.Env.Params == nil, nil
	}
	options.Nonce, options.Origin = [16]byte(spec.Nonce), seedlog.Peer(spec.Origin)
	same, err := runspec.NewSpec(options)
	if err != nil {
		return false, err
	}
	return same.Link() == spec.Link(), nil
}
