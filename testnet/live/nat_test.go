package live

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evoswarm/evoswarm/internal/peer"
)

// Nodes behind NATs, in network namespaces: a bridge is the internet, each NAT a router with two ends, and each node
// has a cable of its own to the test.

// nat is what a router does with packets.
type nat string

const (
	// fullCone lets anybody answer to a port that something was sent from within the last minute.
	fullCone nat = `
		set open { type inet_proto . inet_service; flags dynamic,timeout; timeout 60s; }
		chain out { type nat hook postrouting priority 100; oifname "eth0" add @open { meta l4proto . th sport } masquerade; }
		chain in { type nat hook prerouting priority -100; iifname "eth0" meta l4proto . th dport @open dnat to %s; }
		chain through { type filter hook forward priority 0; iifname "eth0" meta l4proto . th dport != @open ct state new drop; }`
	// symmetric gives each connection a port of its own, which its other end alone may answer to.
	symmetric nat = `
		chain out { type nat hook postrouting priority 100; oifname "eth0" masquerade random,fully-random; }
		chain in { type filter hook forward priority 0; iifname "eth0" ct state new drop; }`
	// forwarded is symmetric, and was told to pass one port on to the node, to another one there.
	forwarded nat = `
		chain out { type nat hook postrouting priority 100; oifname "eth0" masquerade random,fully-random; }
		chain told { type nat hook prerouting priority -100; iifname "eth0" meta l4proto { tcp, udp } th dport 4999 dnat to %s:4710; }
		chain in { type filter hook forward priority 0; iifname "eth0" ct status dnat accept; iifname "eth0" ct state new drop; }`
)

const peerPort = 4710

// outside is an address in the internet; inside of a node behind router i; cable its end of the cable to the test.
func outside(i int) string { return fmt.Sprintf("5.9.0.%d", i+1) }
func inside(i int) string  { return fmt.Sprintf("192.168.%d.2", i+1) }
func cable(i int) string   { return fmt.Sprintf("10.77.%d.2", i+1) }

// wide is a swarm of nodes that are on the internet or behind NATs.
type wide struct{ swarm }

func newWide(t *testing.T) *wide {
	t.Helper()
	shell(t, `mount -t tmpfs tmpfs /run
		ip link set lo up
		ip link add br0 type bridge
		ip link set br0 up`)
	return new(wide)
}

// add prepares a node, behind a router if there is one. Its page is for the test alone.
func (w *wide) add(t *testing.T, behind nat, args ...string) *node {
	t.Helper()
	i := len(w.nodes)
	at := w.lay(t, i, behind)
	n := w.newNode(t, fmt.Sprintf("n%d", i), args...)
	n.page = fmt.Sprintf("http://%s:8080", cable(i))
	for j, a := range n.args {
		switch {
		case a == "--http":
			n.args[j+1] = cable(i) + ":8080"
		case strings.HasSuffix(a, "/ws"):
			n.args[j] = fmt.Sprintf("/ip4/%s/tcp/%d/ws", at, peerPort)
		case strings.HasPrefix(a, "/ip4/127.0.0.1/tcp/"):
			n.args[j] = fmt.Sprintf("/ip4/%s/tcp/%d", at, peerPort)
		}
	}
	for _, way := range []string{"quic-v1", "webrtc-direct"} {
		n.args = append(n.args, "--listen", fmt.Sprintf("/ip4/%s/udp/%d/%s", at, peerPort, way))
	}
	n.within = []string{"ip", "netns", "exec", n.name}
	return n
}

// lay makes the namespace n<i> of a computer, and its router if it is behind one, and returns its address.
func (w *wide) lay(t *testing.T, i int, behind nat) (at string) {
	t.Helper()
	at = outside(i)
	shell(t, `ip netns add n%[1]d
		ip -n n%[1]d link set lo up
		ip link add c%[1]d type veth peer name eth1 netns n%[1]d
		ip addr add 10.77.%[2]d.1/24 dev c%[1]d
		ip link set c%[1]d up
		ip -n n%[1]d addr add %[3]s/24 dev eth1
		ip -n n%[1]d link set eth1 up`, i, i+1, cable(i))
	if behind == "" {
		shell(t, `ip link add v%[1]d type veth peer name eth0 netns n%[1]d
			ip link set v%[1]d master br0 up
			ip -n n%[1]d addr add %[2]s/24 dev eth0
			ip -n n%[1]d link set eth0 up`, i, outside(i))
	} else {
		at = inside(i)
		rules := string(behind)
		if strings.Contains(rules, "%s") {
			rules = fmt.Sprintf(rules, at)
		}
		shell(t, `ip netns add r%[1]d
			ip -n r%[1]d link set lo up
			ip link add v%[1]d type veth peer name eth0 netns r%[1]d
			ip link set v%[1]d master br0 up
			ip -n r%[1]d addr add %[2]s/24 dev eth0
			ip -n r%[1]d link set eth0 up
			ip -n r%[1]d link add eth1 type veth peer name eth0 netns n%[1]d
			ip -n r%[1]d addr add 192.168.%[3]d.1/24 dev eth1
			ip -n r%[1]d link set eth1 up
			ip -n n%[1]d addr add %[4]s/24 dev eth0
			ip -n n%[1]d link set eth0 up
			ip -n n%[1]d route add default via 192.168.%[3]d.1
			ip netns exec r%[1]d sh -c 'echo 1 > /proc/sys/net/ipv4/ip_forward'
			ip netns exec r%[1]d nft 'table ip nat {%[5]s
			}'`, i, outside(i), i+1, at, rules)
	}
	return at
}

// up starts a node and waits until it answers.
func (w *wide) up(t *testing.T, n *node) *node {
	t.Helper()
	n.start(t)
	w.await(t, n.name+" answers", func() string {
		if _, err := n.status(); err != nil {
			return err.Error()
		}
		return ""
	})
	return n
}

// dialOnly takes a node's listeners away: it is not one that others dial.
func dialOnly(n *node) *node {
	var args []string
	for i := 0; i < len(n.args); i++ {
		if n.args[i] == "--listen" {
			i++
			continue
		}
		args = append(args, n.args[i])
	}
	n.args = args
	return n
}

// addressOf returns an address of a node that has all the parts.
func (w *wide) addressOf(t *testing.T, n *node, parts ...string) (found string) {
	t.Helper()
	w.await(t, fmt.Sprintf("%s has an address with %v", n.name, parts), func() string {
		data, err := n.fetch(client, "/addresses.json")
		if err != nil {
			return err.Error()
		}
		var list struct{ Addresses []string }
		if err := json.Unmarshal(data, &list); err != nil {
			return err.Error()
		}
	next:
		for _, a := range list.Addresses {
			for _, part := range parts {
				if !strings.Contains(a, part) {
					continue next
				}
			}
			found = a
			return ""
		}
		return strings.Join(list.Addresses, " ")
	})
	return found
}

// together waits until the nodes are connected with each other, and all have evaluations in the log.
func (w *wide) together(t *testing.T, nodes ...*node) {
	t.Helper()
	w.await(t, "they work together", func() string {
		for _, n := range nodes {
			if st, err := n.status(); err != nil || st.Connected < len(nodes)-1 || st.Mine == 0 {
				return fmt.Sprintf("%s is connected to %d, %d own evaluations: %v", n.name, st.Connected, st.Mine, err)
			}
		}
		return ""
	})
	w.await(t, "the log has claims of all", func() string {
		var log string
		for _, n := range nodes {
			st, err := n.status()
			if err != nil {
				return err.Error()
			}
			if log == "" {
				log = nodes[0].seedlog(t)
			}
			if credit(entries(t, log))[st.Self] == 0 {
				return n.name + " has none"
			}
		}
		return ""
	})
}

// TestBehindNAT: row 45. The only native of a run is behind a NAT, of either kind. It has a place at a relay, a node
// of another run, and trains together with one who has nothing but its address there. When the relay dies it takes
// another one, where it is found.
func TestBehindNAT(t *testing.T) {
	for name, kind := range map[string]nat{"FullCone": fullCone, "Symmetric": symmetric} {
		t.Run(name, func(t *testing.T) {
			if !sandbox(t) {
				return
			}
			w := newWide(t)
			relays, args := make([]*node, 3), []string{"--bootstrap", "--train", "CartPole-v1"}
			for i := range relays {
				relays[i] = w.up(t, w.add(t, "", "--bootstrap", "--train", "CartPole-v1"))
				args = append(args, "--relay", w.addressOf(t, relays[i], "/tcp/", "5.9."))
			}
			n := w.add(t, kind, args...)
			begun := time.Now()
			w.up(t, n)
			there := w.addressOf(t, n, "/5.9.0.", "/p2p-circuit") // those that answer first are taken
			first := slices.IndexFunc([]int{0, 1, 2}, func(i int) bool { return strings.Contains(there, "/"+outside(i)+"/") })
			t.Logf("reachable %.2f s after its start, at relay %d", time.Since(begun).Seconds(), first)
			w.await(t, "it says where it is found", func() string {
				if !n.said("others reach this node over a relay, at /ip4/5.9.0.") {
					return tail(n.log, 5)
				}
				return ""
			})
			p := w.up(t, dialOnly(w.add(t, symmetric, "join", there)))
			w.together(t, n, p)
			w.await(t, "it has two relays", func() string {
				data, err := n.fetch(client, "/addresses.json")
				if err != nil {
					return err.Error()
				}
				at := 0
				for i := range relays {
					if strings.Contains(string(data), "/"+outside(i)+"/") {
						at++
					}
				}
				if at < 2 {
					return fmt.Sprintf("it is found at %d relays", at)
				}
				return ""
			})
			time.Sleep(2 * time.Second) // it tells who is connected; who knows no other relay cannot come back
			relays[first].kill()
			w.await(t, "it says that the relay is gone", func() string {
				if !n.said("the relay is gone") {
					return tail(n.log, 5)
				}
				return ""
			})
			var again string
			for i := range relays {
				if i != first {
					again = w.addressOf(t, n, "/"+outside(i)+"/", "/p2p-circuit")
				}
			}
			w.together(t, n, p)
			q := w.up(t, dialOnly(w.add(t, "", "join", again)))
			w.together(t, n, q)
		})
	}
}

// TestForwardedPort: a node behind a symmetric NAT, whose owner had the router forward a port and says so with
// --announce, is dialed back there by a hub, is a hub itself, and trains with who has that address. One whose owner
// says so of a port that is not forwarded has a place at a relay, as without.
func TestForwardedPort(t *testing.T) {
	for name, port := range map[string]int{"Open": 4999, "Closed": 4998} {
		t.Run(name, func(t *testing.T) {
			if !sandbox(t) {
				return
			}
			w := newWide(t)
			relay := w.up(t, w.add(t, "", "--bootstrap", "--train", "CartPole-v1"))
			at := fmt.Sprintf("/ip4/%s/tcp/%d", outside(1), port)
			n := w.up(t, w.add(t, forwarded, "--bootstrap", "--train", "CartPole-v1", "--log-level", "info", "--announce", at,
				"--relay", w.addressOf(t, relay, "/tcp/", "5.9.")))
			there := w.addressOf(t, n, at)
			if port == 4998 {
				w.addressOf(t, n, "/5.9.0.1/", "/p2p-circuit")
				return
			}
			w.together(t, n, w.up(t, dialOnly(w.add(t, symmetric, "join", there))))
			w.await(t, "a hub has dialed it, and it leaves the relay", func() string {
				if data, err := n.fetch(client, "/addresses.json"); err != nil || strings.Contains(string(data), "p2p-circuit") {
					return fmt.Sprintf("%s, %v", data, err)
				}
				return ""
			})
			if n.said("nobody can dial this node") {
				t.Error("it says that nobody can dial it")
			}
		})
	}
}

// TestTabThroughRelay: a tab that has nothing but a node's address at a relay, in a link to a page, takes part in the
// node's run over it, and says so.
func TestTabThroughRelay(t *testing.T) {
	if !sandbox(t) {
		return
	}
	w := newWide(t)
	shell(t, "ip addr add 5.9.0.254/24 dev br0")
	relay := w.up(t, w.add(t, "", "--bootstrap", "--train", "CartPole-v1"))
	n := w.up(t, w.add(t, symmetric, "--bootstrap", "--train", "CartPole-v1", "--relay", w.addressOf(t, relay, "/quic-v1", "5.9.")))
	b := w.newTab(t, newHost(t, false).link(w.addressOf(t, n, "/ws/", "/p2p-circuit")))
	b.open(t)
	w.await(t, "the tab has evaluations in the log", func() string {
		if b.mark("evoswarm-first-claim") < 0 {
			return b.describe()
		}
		return ""
	})
	t.Logf("from opening the page: first accepted claim after %.2f s", b.mark("evoswarm-first-claim")/1000)
	w.await(t, "the page says that it is connected over a relay", b.reads("a relay"))
	w.await(t, "the log of the node has its claims", func() string {
		if credits := credit(entries(t, n.seedlog(t))); len(credits) != 2 {
			return fmt.Sprint(credits)
		}
		return ""
	})
}

// TestTabsBehindNATs: two tabs behind NATs, in networks of their own, ask a node where they are (STUN), and connect to
// each other.
func TestTabsBehindNATs(t *testing.T) {
	if !sandbox(t) {
		return
	}
	w := newWide(t)
	shell(t, "ip addr add 5.9.0.254/24 dev br0")
	hub := w.up(t, w.add(t, "", "--bootstrap", "--train", "CartPole-v1"))
	page := t.TempDir()
	command(t, evonode(t), "page", "-o", page)
	l, err := net.Listen("tcp", "5.9.0.254:8000")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.FileServer(http.Dir(page))}
	go server.Serve(l)
	t.Cleanup(func() { server.Close() })
	link := host{url: "http://5.9.0.254:8000/"}.link(w.addressOf(t, hub, "/ws/", "5.9."))
	var said []func() string
	for i := 1; i < 3; i++ {
		w.lay(t, i, fullCone)
		said = append(said, browseFrom(t, fmt.Sprintf("n%d", i), link))
	}
	for _, s := range said {
		w.await(t, "the tab is connected to the other one", func() string {
			if text := s(); !strings.Contains(text, "WebRTC with other tabs") {
				return text
			}
			return ""
		})
	}
}

// browsing has the link that a browser opens in a namespace of its own.
const browsing = "EVOSWARM_BROWSING"

// browseFrom has a browser open a page in a namespace, and returns what it shows.
func browseFrom(t *testing.T, namespace, link string) (shows func() string) {
	t.Helper()
	cmd := exec.Command("ip", "netns", "exec", namespace, os.Args[0], "-test.run=^TestBrowsing$", "-test.v", "-test.timeout=10m")
	cmd.Env = append(os.Environ(), browsing+"="+link)
	out := filepath.Join(t.TempDir(), "output")
	file, err := os.Create(out)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	cmd.Stdout, cmd.Stderr = file, file
	end, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		end.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	})
	return func() string { return tail(out, 1) }
}

// TestBrowsing is the process of browseFrom: it prints what a page shows until its input ends.
func TestBrowsing(t *testing.T) {
	link := os.Getenv(browsing)
	if link == "" {
		t.Skip("only for browsers in namespaces")
	}
	end := make(chan error)
	go func() {
		_, err := io.Copy(io.Discard, os.Stdin)
		end <- err
	}()
	b := new(swarm).newTab(t, link)
	b.open(t)
	for {
		select {
		case err := <-end:
			if err != nil {
				t.Error(err)
			}
			return
		case <-time.After(500 * time.Millisecond):
			fmt.Println(strings.Join(strings.Fields(b.describe()), " "))
		}
	}
}

// TestHolePunching: row 46. Two nodes behind full-cone NATs find each other over a relay, connect directly, and stay
// together when the relay is gone.
func TestHolePunching(t *testing.T) {
	if !sandbox(t) {
		return
	}
	w := newWide(t)
	relay := w.up(t, w.add(t, "", "--bootstrap", "--train", "CartPole-v1"))
	at := w.addressOf(t, relay, "/quic-v1", "5.9.")
	n := w.up(t, w.add(t, fullCone, "--bootstrap", "--train", "CartPole-v1", "--relay", at))
	p := w.up(t, w.add(t, fullCone, "--bootstrap", w.addressOf(t, n, "/p2p-circuit"), "--relay", at))
	w.await(t, "they connect directly", func() string {
		if !n.said("connected directly") && !p.said("connected directly") { // the other one may have seen the circuit end before
			return tail(p.log, 3)
		}
		return ""
	})
	w.together(t, n, p)
	relay.kill()
	time.Sleep(2 * time.Second)
	w.nodes = []*node{n, p}
	w.grown(t, 10)
	w.await(t, "they are connected", func() string {
		return w.each(func(_ *node, st peer.Status) string {
			if st.Connected != 1 {
				return fmt.Sprintf("connected to %d", st.Connected)
			}
			return ""
		})
	})
}
