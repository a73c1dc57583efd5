package mesh

import (
	"sync"
)

// verdict is what became of a way.
type verdict string

const (
	used        verdict = "used"        // a connection goes over it
	spare       verdict = "spare"       // it can be tried, and was not needed
	failed      verdict = "failed"      // the last try failed
	forbidden   verdict = "forbidden"   // browsers do not let a page that came over TLS use it
	unsupported verdict = "unsupported" // the browser lacks it
	unknown     verdict = "unknown"     // no known node offers it
)

// WayState says of one way to the swarm whether this tab uses it, and why not.
type WayState struct {
	Way   Way     `json:"way"`
	State verdict `json:"state"`
	Why   string  `json:"why,omitempty"` // of what failed
}

// tries remembers how the last try of each way ended. A tab has one mesh.
type tries struct {
	mu     sync.Mutex
	failed map[Way]string
}

var tried = tries{failed: make(map[Way]string)}

const maxWhy = 200 // bytes of a reason that are shown

func (t *tries) note(w Way, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.failed, w)
	if err != nil {
		why := shorten(err)
		t.failed[w] = why[:min(len(why), maxWhy)]
	}
}

func (t *tries) why(w Way) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.failed[w]
}

// Ways says of each way, in the order in which they are tried, what became of it; known are all addresses that the tab
// knows.
func (m *Mesh) Ways(known []string) []WayState {
	over := make(map[Way]bool)
	for _, c := range m.host.Network().Conns() {
		over[wayOf(c.RemoteMultiaddr())] = true
	}
	list := make([]WayState, 0, len(ofTabs))
	for _, w := range Preference(overTLS) {
		s := WayState{Way: w, State: best(w, known)}
		switch {
		case over[w]:
			s.State = used
		case s.State == spare && tried.why(w) != "":
			s.State, s.Why = failed, tried.why(w)
		}
		list = append(list, s)
	}
	if m.tabLinks().all() > 0 {
		list = append(list, WayState{Way: tabWay, State: used})
	}
	return list
}

// best is the best that can be said of a way by the addresses that are known.
func best(w Way, known []string) verdict {
	found := unknown
	for _, text := range known {
		info, err := parseAddr(text)
		if err != nil || wayOf(info.Addrs[0]) != w {
			continue
		}
		if v := verdictOn(info.Addrs[0]); v == "" {
			return spare
		} else {
			found = v
		}
	}
	return found
}

// Order puts addresses in the order in which a tab tries them, without those that it cannot dial: the first of each
// way, then the second, so that none has to wait for all of another.
func Order(addrs []string) []string {
	of := make(map[Way][]string)
	for _, a := range addrs {
		if Dialable(a) {
			of[WayOf(a)] = append(of[WayOf(a)], a)
		}
	}
	var list []string
	for turn := 0; ; turn++ {
		before := len(list)
		for _, w := range Preference(overTLS) {
			if turn < len(of[w]) {
				list = append(list, of[w][turn])
			}
		}
		if len(list) == before {
			return list
		}
	}
}
