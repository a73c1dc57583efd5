package httpd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/evoswarm/evoswarm/internal/peer"
)

// SocketName is the control socket's name in the data folder.
const SocketName = "control.sock"

// ErrNotRunning is returned if no node answers on the control socket of a data folder.
var ErrNotRunning = errors.New("no node is running")

// Control is what the owner of a node may do to it. All methods are safe for concurrent use.
type Control interface {
	Status() Status
	// Runs are what the node works on.
	Runs() []Run
	// SetPaused stops or restarts the node's own work.
	SetPaused(paused bool) error
	// Branches are those of the run of that id, which is one that the node works on; else it returns ErrOtherRun.
	Branches(run string) (Branches, error)
	// Stop asks the node to end; it returns at once.
	Stop()
}

// NewControlHandler serves GET /status and POST /pause, /resume and /stop, which answer with the status, GET
// /peers, and what changes and writes branches.
func NewControlHandler(c Control) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, ownerStatus(c)) })
	mux.HandleFunc("GET /peers", ofRun(c, serveRoster))
	pause := func(paused bool) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			if err := c.SetPaused(paused); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			writeJSON(w, ownerStatus(c))
		}
	}
	mux.HandleFunc("POST /pause", pause(true))
	mux.HandleFunc("POST /resume", pause(false))
	mux.HandleFunc("POST /stop", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, ownerStatus(c))
		http.NewResponseController(w).Flush()
		c.Stop()
	})
	serveBranches(mux, c)
	return mux
}

// ownerStatus is what the owner of a node is told.
func ownerStatus(c Control) Status {
	s := c.Status()
	for i, r := range c.Runs() {
		addrs := r.Addresses()
		if i == 0 {
			s.Addresses = addrs
		}
		if i < len(s.Active) {
			s.Active[i].Addresses = addrs
		}
	}
	return s
}

// ListenControl opens the control socket in the data folder, with mode 0600. The caller holds the folder's lock, so a
// socket that is there already was left behind and is replaced.
func ListenControl(data string) (net.Listener, error) {
	path, done, err := socketPath(data)
	if err != nil {
		return nil, err
	}
	defer done()
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("opening the control socket: %w", err)
	}
	// The path may be that of a file descriptor that closes now, so the listener must not unlink it.
	l.(*net.UnixListener).SetUnlinkOnClose(false)
	if err := os.Chmod(path, 0o600); err != nil {
		l.Close()
		return nil, err
	}
	return l, nil
}

// RemoveControl removes the socket when the node ends.
func RemoveControl(data string) { os.Remove(filepath.Join(data, SocketName)) }

// maxSocketPath is what every system takes as the path of a Unix socket, in bytes.
const maxSocketPath = 100

// socketPath returns a path of the control socket that is short enough. It holds until done is called.
func socketPath(data string) (path string, done func(), err error) {
	path = filepath.Join(data, SocketName)
	if len(path) <= maxSocketPath {
		return path, func() {}, nil
	}
	dir, err := os.Open(data)
	if err != nil {
		return "", nil, err
	}
	return fmt.Sprintf("/proc/self/fd/%d/%s", dir.Fd(), SocketName), func() { dir.Close() }, nil
}

// Ask sends one request to the node that runs on the data folder. It returns ErrNotRunning if there is none.
func Ask(ctx context.Context, data, method, verb string) (s Status, err error) {
	err = ask(ctx, data, method, verb, &s)
	return s, err
}

// AskRoster asks the node that runs on the data folder who takes part in one of its runs; "": the first.
func AskRoster(ctx context.Context, data, run string) (r peer.Roster, err error) {
	err = ask(ctx, data, "GET", "peers?run="+url.QueryEscape(run), &r)
	return r, err
}

// ask sends one request and reads the answer, a JSON object, into to.
func ask(ctx context.Context, data, method, verb string, to any) error {
	resp, err := request(ctx, data, method, verb)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		verb, _, _ = strings.Cut(verb, "?")
		return fmt.Errorf("the node refused to %s: %s", verb[strings.LastIndexByte(verb, '/')+1:], strings.TrimSpace(string(body)))
	}
	if err := json.Unmarshal(body, to); err != nil {
		return fmt.Errorf("the node's answer: %w", err)
	}
	return nil
}

// request sends one request and returns the answer, whose body the caller closes.
func request(ctx context.Context, data, method, verb string) (*http.Response, error) {
	client := http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			path, done, err := socketPath(data)
			if err != nil {
				return nil, err
			}
			defer done()
			var d net.Dialer
			return d.DialContext(ctx, "unix", path)
		},
	}}
	req, err := http.NewRequestWithContext(ctx, method, "http://node/"+verb, nil)
	if err != nil {
		return nil, err
	}
	resp, err := client.Do(req)
	if errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w on %s", ErrNotRunning, data)
	}
	if err != nil {
		return nil, fmt.Errorf("asking the node on %s: %w", data, err)
	}
	return resp, nil
}
