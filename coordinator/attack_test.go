package coordinator

import (
	"cmp"
	"crypto/ed25519"
	"fmt"
	"slices"
	"testing"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// share is how much of an undisturbed swarm's entries a swarm under attack must log, in percent.
const share = 95

// field is a swarm of natives as internal/peer sets them up, and strangers who have nothing but keys.
type field struct {
	*swarm
	t         testing.TB
	strangers []ed25519.PrivateKey
	capacity  int // chunks that a peer evaluates in a tick; 0: all that it is asked for
	each      func(tick int)
}

// production is what internal/peer gives a native that says nothing else.
func production() Config { return Config{Hub: true, Timing: LAN(), Slots: 2, Decisive: 2, Audit: 32} }

func newField(t testing.TB, natives, strangers int) *field {
	return newFieldOf(t, newRules(t, true), natives, strangers)
}

func newFieldOf(t testing.TB, rules *seedlog.Rules, natives, strangers int) *field {
	f := &field{swarm: &swarm{rules: rules, quiet: true, now: 1}, t: t}
	for i := range natives {
		f.add(fmt.Sprintf("n%d", i+1), production())
	}
	for _, m := range f.peers {
		f.start(m)
	}
	for i := range strangers {
		f.strangers = append(f.strangers, keyOf(fmt.Sprint("stranger ", i)))
	}
	return f
}

func (f *field) start(m *member) {
	f.t.Helper()
	if err := f.powerUp(m); err != nil {
		f.t.Fatal(err)
	}
}

// pass lets time pass; f.each acts after the natives' clocks and before their mail.
func (f *field) pass(ticks int) {
	for i := range ticks {
		f.now++
		for _, m := range f.peers {
			f.step(m, Passed{})
		}
		if f.each != nil {
			f.each(i)
		}
		f.deliver(func(parcel) bool { return true })
		for _, m := range f.peers {
			f.evaluateSome(m)
		}
		f.log.Reset()
	}
}

// evaluateSome does as much of a peer's work as it manages in a tick, urgent pieces first.
func (f *field) evaluateSome(m *member) {
	if f.capacity == 0 {
		f.work(m, false)
		return
	}
	slices.SortStableFunc(m.tasks, func(a, b Work) int {
		return cmp.Compare(map[bool]int{false: 1}[a.Urgent], map[bool]int{false: 1}[b.Urgent])
	})
	todo, now := m.tasks, 0
	m.spare += f.capacity
	for ; now < len(todo); now++ {
		chunks := max(1, len(todo[now].Task.Seeds)/int(f.rules.Spec.Generation.Chunk))
		if chunks > m.spare {
			break
		}
		m.spare -= chunks
	}
	if now == len(todo) {
		m.spare = 0 // nobody computes ahead
	}
	m.tasks = todo[:now:now]
	rest := slices.Clone(todo[now:])
	f.work(m, false)
	m.tasks = append(rest, m.tasks...)
	m.tasks = slices.DeleteFunc(m.tasks, func(w Work) bool { return m.coord.job(w.ID) == nil })
}

// say has a stranger send a message to all natives that have power, past the swarm's own network.
func (f *field) say(from ed25519.PrivateKey, m Message) {
	for _, to := range f.peers {
		f.tell(from, to, m)
	}
}

func (f *field) tell(from ed25519.PrivateKey, to *member, m Message) {
	if to.coord == nil {
		return
	}
	peer := seedlog.PeerOf(from)
	if !to.coord.Expects(peer, m) {
		return
	}
	checked, err := Check(seedlog.NewChecker(f.rules), m, nil)
	if err != nil {
		f.step(to, Invalid{From: peer, Err: err})
		return
	}
	f.step(to, Received{From: peer, Via: peer, Message: checked})
}

// low is the height that all natives have reached.
func (f *field) low() uint64 {
	h := ^uint64(0)
	for _, m := range f.peers {
		if m.coord != nil {
			h = min(h, m.coord.chain.head.height)
		}
	}
	return h
}

// term is the highest term that a native knows.
func (f *field) term() (t uint64) {
	for _, m := range f.peers {
		if m.coord != nil {
			t = max(t, m.coord.hard.Term)
		}
	}
	return t
}

// leader is the native that leads, of the highest term; nil if none does.
func (f *field) leader() (leader *member) {
	for _, m := range f.peers {
		if m.coord != nil && m.coord.election.role == Leader && (leader == nil || m.coord.hard.Term > leader.coord.hard.Term) {
			leader = m
		}
	}
	return leader
}

// turn picks the strangers who speak in a tick: all of them within so many ticks, in turn.
func (f *field) turn(tick, within int, speak func(i int, key ed25519.PrivateKey)) {
	for i := tick % within; i < len(f.strangers); i += within {
		speak(i, f.strangers[i])
	}
}

// attacks are what strangers with keys but without work send. prepare sets the field up and returns what they do in
// each tick.
var attacks = []struct {
	name     string
	natives  int
	ticks    int
	keys     []int
	capacity int
	strike   func(f *field) func(tick int)
}{
	{name: "heartbeat without votes", natives: 5, ticks: 400, keys: []int{1, 10, 1000}, strike: forgeHeartbeats},
	{name: "heartbeat of a hub without votes", natives: 5, ticks: 400, keys: []int{1, 10, 1000}, strike: forgeHubHeartbeats},
	{name: "weight and height that nobody has", natives: 4, ticks: 400, keys: []int{1, 6, 10, 1000}, strike: forgeWeight},
	{name: "requests for votes of late terms", natives: 5, ticks: 400, keys: []int{1, 10, 1000}, strike: forgeCandidacies},
	{name: "refusals that name late terms", natives: 5, ticks: 400, keys: []int{1, 10, 1000}, strike: forgeRefusals},
	{name: "heads and weights that nobody has", natives: 4, ticks: 400, keys: []int{1, 6, 1000}, strike: forgeWeight},
	{name: "questions for the whole chain", natives: 4, ticks: 400, keys: []int{6, 100}, strike: questions},
	{name: "claims that never count", natives: 4, ticks: 400, keys: []int{1, 1000}, capacity: 8, strike: floodPool},
	{name: "false claims", natives: 4, ticks: 400, keys: []int{1, 1000}, capacity: 8, strike: floodFalse},
	{name: "false claims by their own authors", natives: 4, ticks: 400, keys: []int{6, 1000}, capacity: 8, strike: floodOwn},
	{name: "false claims that were asked for", natives: 4, ticks: 400, keys: []int{6, 1000}, capacity: 8, strike: floodAsked},
	{name: "others' claims announced and not delivered", natives: 4, ticks: 400, keys: []int{6, 100}, capacity: 8, strike: stealWants},
	{name: "inventories of claims that nobody has", natives: 4, ticks: 400, keys: []int{1, 10, 1000}, strike: floodInventories},
}

// TestAttackBySentWords lays the entries of a swarm under attack next to those of the same swarm undisturbed.
func TestAttackBySentWords(t *testing.T) {
	for _, format := range []uint64{seedlog.Format1, seedlog.Format2} {
		newField := newField
		if format == seedlog.Format2 {
			newField = func(t testing.TB, natives, strangers int) *field { return newNextField(t, 12, natives, strangers) }
		}
		for _, a := range attacks {
			calm := newField(t, a.natives, 0)
			calm.capacity = a.capacity
			calm.pass(100)
			before := calm.low()
			calm.pass(a.ticks)
			want := calm.low() - before
			for _, keys := range a.keys {
				t.Run(fmt.Sprintf("format %d, %s, %d keys", format, a.name, keys), func(t *testing.T) {
					if testing.Short() && keys > 10 {
						t.Skip("a thousand keys take seconds")
					}
					f := newField(t, a.natives, keys)
					f.capacity = a.capacity
					f.pass(100)
					before := f.low()
					f.each = a.strike(f)
					f.pass(a.ticks)
					f.holds(f.low()-before, want)
				})
			}
		}
	}
}

// holds fails the test where the natives logged less than their share, or cut each other off.
func (f *field) holds(got, want uint64) {
	f.t.Helper()
	f.t.Logf("%d entries, %d undisturbed: %d %%", got, want, 100*got/want)
	if 100*got < share*want {
		f.t.Errorf("%d entries under attack, %d undisturbed; at least %d %% are promised", got, want, share)
	}
	f.friendly()
}

// friendly fails the test where a native takes another for faulty.
func (f *field) friendly() {
	f.t.Helper()
	for _, a := range f.peers {
		for _, b := range f.peers {
			if a.coord != nil && !b.faulty && a.coord.faults.peers[b.peer] {
				f.t.Errorf("%s cut off the honest %s", a.name, b.name)
			}
		}
	}
}

func forgeHeartbeats(f *field) func(int) {
	term := f.term() + 1
	return func(tick int) {
		f.turn(tick, 4, func(i int, key ed25519.PrivateKey) {
			f.say(key, &Status{Kind: Tab, Leads: true, Term: term + uint64(i), Head: f.rules.Run})
		})
	}
}

// forgeHubHeartbeats names the natives' own head, height and weight, and terms ever later.
func forgeHubHeartbeats(f *field) func(int) {
	return func(tick int) {
		head, term := f.peers[0].coord.chain.head, f.term()
		f.turn(tick, 4, func(i int, key ed25519.PrivateKey) {
			f.say(key, &Status{Hub: true, Leads: true, Term: term + uint64(i%3), Head: head.link, Height: head.height, Weight: head.weight})
		})
	}
}

func forgeWeight(f *field) func(int) {
	return func(tick int) {
		f.turn(tick, 4, func(i int, key ed25519.PrivateKey) {
			head := seedlog.LinkOf([]byte{1, byte(i), byte(i >> 8)})
			f.say(key, &Status{Hub: i%2 == 0, Term: 1, Head: head, Height: 1 << 40, Weight: 1 << 60})
		})
	}
}

func forgeCandidacies(f *field) func(int) {
	return func(tick int) {
		head, term := f.peers[0].coord.chain.head, f.term()
		f.turn(tick, 4, func(i int, key ed25519.PrivateKey) {
			f.say(key, &Status{Hub: true, Term: term, Head: head.link, Height: head.height, Weight: head.weight})
			f.say(key, &VoteRequest{Pre: i%3 == 0, Term: term + 1 + uint64(i), Head: head.link, Handover: []byte{}})
		})
	}
}

func forgeRefusals(f *field) func(int) {
	return func(tick int) {
		term := f.term()
		f.turn(tick, 4, func(i int, key ed25519.PrivateKey) {
			f.say(key, &VoteReply{Pre: i%2 == 0, Term: term + 1000 + uint64(tick), Signature: []byte{}})
			f.say(key, &Handover{Term: term + 1, Head: f.peers[0].coord.chain.head.link})
		})
	}
}

// junkKeys are keys that strangers make up as they like; one peer may hand over claims of any number of them.
var junkKeys = func() (keys []ed25519.PrivateKey) {
	for i := range 2048 {
		keys = append(keys, keyOf(fmt.Sprint("junk ", i)))
	}
	return keys
}()

// floodPool hands every new leader 2,048 claims that are no first of their author, so that they never count.
func floodPool(f *field) func(int) { return f.flood(1) }

// floodFalse hands it 2,048 false claims.
func floodFalse(f *field) func(int) { return f.flood(0) }

func (f *field) flood(chunk uint64) func(int) {
	type place struct {
		at   *member
		head seedlog.Link
	}
	flooded := make(map[place]bool)
	return func(int) {
		for _, m := range f.peers {
			p := place{m, m.coord.chain.head.link}
			if m.coord.election.role != Leader || flooded[p] {
				continue
			}
			flooded[p] = true
			junk := someJunk()
			batches := max(len(junk)/maxWant, min(len(f.strangers), len(junk)/2))
			for i := range batches {
				var batch []seedlog.CheckedClaim
				for _, key := range junk[i*len(junk)/batches : (i+1)*len(junk)/batches] {
					batch = append(batch, f.junkClaim(key, p.head, chunk))
				}
				f.give(f.strangers[i%len(f.strangers)], m, batch...)
			}
		}
	}
}

func floodInventories(f *field) func(int) {
	return func(tick int) {
		leader := f.leader()
		if leader == nil {
			return
		}
		f.turn(tick, 16, func(i int, key ed25519.PrivateKey) {
			inventory := &Inventory{Parent: leader.coord.chain.head.link}
			for j := range maxInventory {
				inventory.Items = append(inventory.Items, InventoryItem{Claim: seedlog.LinkOf([]byte{byte(tick), byte(i), byte(i >> 8), byte(j), byte(j >> 8)})})
			}
			f.tell(key, leader, inventory)
		})
	}
}
