//go:build linux

package wire

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Fate is what becomes of packets on a way.
type Fate struct {
	Stop   bool          // none arrives
	Loss   float64       // share that is lost
	Delay  time.Duration // of all
	Jitter time.Duration // drawn for each packet, up to so much more: packets overtake each other
}

// Net is a network.
type Net struct {
	name  string
	fate  atomic.Pointer[func(from, to netip.Addr) Fate]
	mu    sync.Mutex
	sites map[netip.Addr]*Site
}

// Site is a computer in it: one namespace with one address.
type Site struct {
	Addr netip.Addr
	net  *Net
	name string // of the namespace
	tun  *os.File
	out  chan []byte
}

// networks numbers the networks of a process.
var networks atomic.Int64

// New makes an empty network.
func New() *Net {
	n := &Net{name: fmt.Sprintf("evo%d-%d", os.Getpid(), networks.Add(1)), sites: make(map[netip.Addr]*Site)}
	n.Set(nil)
	return n
}

// Set says what becomes of packets from now on; nil: they arrive.
func (n *Net) Set(fate func(from, to netip.Addr) Fate) { n.fate.Store(&fate) }

// waiting is how many packets wait for a site, as in a network card; more are lost.
const waiting = 4096

// Add makes a site. The error says why there can be none: no root, or a kernel without namespaces or tun devices.
func (n *Net) Add(addr netip.Addr) (*Site, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	s := &Site{Addr: addr, net: n, name: n.name + "-" + strconv.Itoa(len(n.sites)), out: make(chan []byte, waiting)}
	if err := ip("netns", "add", s.name); err != nil {
		return nil, err
	}
	if err := s.open(); err != nil {
		return nil, errors.Join(err, ip("netns", "del", s.name))
	}
	n.sites[addr] = s
	go s.read()
	go s.write()
	return s, nil
}

func (s *Site) open() error {
	err := s.inside(func() error {
		fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("/dev/net/tun: %w", err)
		}
		request := struct {
			name  [unix.IFNAMSIZ]byte
			flags uint16
			_     [22]byte
		}{flags: unix.IFF_TUN | unix.IFF_NO_PI}
		copy(request.name[:], "wire")
		if _, _, e := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.TUNSETIFF, uintptr(unsafe.Pointer(&request))); e != 0 {
			return errors.Join(fmt.Errorf("making a tun device: %w", e), unix.Close(fd))
		}
		if err := unix.SetNonblock(fd, true); err != nil {
			return err
		}
		s.tun = os.NewFile(uintptr(fd), "tun")
		return nil
	})
	if err != nil {
		return err
	}
	for _, args := range [][]string{
		{"link", "set", "lo", "up"},
		{"addr", "add", s.Addr.String() + "/32", "dev", "wire"},
		{"link", "set", "wire", "mtu", "1400", "up"},
		{"route", "add", "default", "dev", "wire"},
	} {
		if err := ip(append([]string{"-n", s.name}, args...)...); err != nil {
			return errors.Join(err, s.tun.Close())
		}
	}
	return nil
}

// inside runs f on a thread in the namespace. What f opens stays there.
func (s *Site) inside(f func() error) error {
	result := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		at, err := os.Open("/var/run/netns/" + s.name)
		if err == nil {
			err = unix.Setns(int(at.Fd()), unix.CLONE_NEWNET)
			at.Close()
		}
		if err == nil {
			err = f()
		}
		result <- err
	}()
	return <-result
}

// Dial connects from inside; the address must be numeric.
func (s *Site) Dial(ctx context.Context, network, address string) (c net.Conn, err error) {
	err = s.inside(func() (err error) {
		c, err = new(net.Dialer).DialContext(ctx, network, address)
		return err
	})
	return c, err
}

// Command is a program that will run inside.
func (s *Site) Command(name string, args ...string) *exec.Cmd {
	return exec.Command("ip", append([]string{"netns", "exec", s.name, name}, args...)...)
}

// read takes packets that leave the site.
func (s *Site) read() {
	b := make([]byte, 1<<16)
	for {
		n, err := s.tun.Read(b)
		if err != nil {
			return
		}
		if to, ok := receiver(b[:n]); ok {
			s.net.carry(s.Addr, to, append([]byte(nil), b[:n]...))
		}
	}
}

// receiver reads the address that an IPv4 packet is for.
func receiver(packet []byte) (netip.Addr, bool) {
	if len(packet) < 20 || packet[0]>>4 != 4 {
		return netip.Addr{}, false
	}
	return netip.AddrFrom4([4]byte(packet[16:20])), true
}

// carry brings a packet to its receiver as the network's fate has it.
func (n *Net) carry(from, to netip.Addr, packet []byte) {
	n.mu.Lock()
	site := n.sites[to]
	n.mu.Unlock()
	if site == nil {
		return
	}
	var f Fate
	if fate := *n.fate.Load(); fate != nil {
		f = fate(from, to)
	}
	if f.Stop || f.Loss > 0 && rand.Float64() < f.Loss {
		return
	}
	delay := f.Delay
	if f.Jitter > 0 {
		delay += rand.N(f.Jitter)
	}
	if delay == 0 {
		site.put(packet)
		return
	}
	time.AfterFunc(delay, func() { site.put(packet) })
}

func (s *Site) put(packet []byte) {
	select {
	case s.out <- packet:
	default:
	}
}

func (s *Site) write() {
	for packet := range s.out {
		if _, err := s.tun.Write(packet); err != nil {
			return
		}
	}
}

// Close ends the network. Processes inside must have ended.
func (n *Net) Close() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	var err error
	for addr, s := range n.sites {
		err = errors.Join(err, s.tun.Close(), ip("netns", "del", s.name))
		delete(n.sites, addr)
	}
	return err
}

func ip(args ...string) error {
	out, err := exec.Command("ip", args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}
