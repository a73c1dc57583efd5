//go:build !js

package store

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// ErrKey is returned for an identity key file that is damaged or that others may read.
var ErrKey = errors.New("bad identity key file")

// Names in a data folder.
const (
	lockName  = "lock"
	keyName   = "identity.key"
	peersName = "peers.json"

	blocksSuffix = ".blocks"
	stateSuffix  = ".state"
	logSuffix    = ".seedlog"
	indexSuffix  = ".index"
	curveSuffix  = ".curve"
	peersSuffix  = ".peers"
)

// Bounds of what is read from a data folder, in bytes.
const (
	maxPeersLength = MaxPeers * (maxAddressLen + 8)
	maxCurveLength = 4 << 20
)

// Disk is the data folder of one node. While it is open no other process can open it. Its methods are not safe for
// concurrent use.
//
//	lock                   held while a node runs; its text is the node's process id
//	identity.key           seed of the Ed25519 key in hexadecimal, mode 0600
//	peers.json             addresses of peers that answered
//	<run id>.seedlog       the canonical chain; see [Run]
//	<run id>.blocks        the run's other blocks, such as those of branches that lost, as a CAR file
//	<run id>.state         hard state, in two slots
//	<run id>.branches      names of branches that were canonical once, as JSON
//	<run id>.index         where blocks lie in the older part of the log
//	<run id>.summaryNN     summaries of the chain, to restart from
//	<run id>.curve         learning curve, as JSON
//	<run id>.peers         addresses of peers of this run that answered
type Disk struct {
	dir   string
	files filesystem
	lock  *os.File
	key   ed25519.PrivateKey
}

// Open opens the data folder, or creates it with a new identity. Errors wrap ErrLocked (and name the process), ErrKey,
// ErrReadOnly or ErrFull.
func Open(dir string) (*Disk, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, explain(err, dir)
	}
	d := &Disk{dir: dir, files: osFiles{}}
	err := d.takeLock()
	if err == nil {
		err = d.openKey()
	}
	if err != nil {
		d.Close()
		return nil, err
	}
	return d, nil
}

func (d *Disk) takeLock() (err error) {
	path := filepath.Join(d.dir, lockName)
	if d.lock, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return explain(err, path)
	}
	if err := lock(d.lock); errors.Is(err, ErrLocked) {
		who := "another process"
		if text, err := os.ReadFile(path); err == nil && len(bytes.TrimSpace(text)) > 0 {
			who = "process " + string(bytes.TrimSpace(text))
		}
		return fmt.Errorf("%w: %s is the data folder of %s: stop that node first, or use another folder", ErrLocked, d.dir, who)
	} else if err != nil {
		return explain(err, path)
	}
	if err := d.lock.Truncate(0); err != nil {
		return explain(err, path)
	}
	_, err = d.lock.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return explain(err, path)
}

func (d *Disk) openKey() error {
	path := filepath.Join(d.dir, keyName)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return d.newKey(path)
	}
	if err != nil {
		return explain(err, path)
	}
	info, err := os.Stat(path)
	if err != nil {
		return explain(err, path)
	}
	if filepath.Separator == '/' && info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%w: %s can be read by other users (mode %04o), who could pose as this node; run: chmod 600 %[2]s", ErrKey, path, info.Mode().Perm())
	}
	seed, err := hex.DecodeString(strings.TrimSuffix(string(text), "\n"))
	if err != nil || len(seed) != ed25519.SeedSize {
		return fmt.Errorf("%w: %s holds no key: restore it, or remove it to get a new identity", ErrKey, path)
	}
	d.key = ed25519.NewKeyFromSeed(seed)
	return nil
}

func (d *Disk) newKey(path string) error {
	seed := make([]byte, ed25519.SeedSize)
	if _, err := rand.Read(seed); err != nil {
		return fmt.Errorf("cannot draw an identity key: %w", err)
	}
	d.key = ed25519.NewKeyFromSeed(seed)
	return replaceFile(path, []byte(hex.EncodeToString(seed)+"\n"))
}

// replaceFile writes a small file as a whole, durably, with mode 0600.
func replaceFile(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp") // with mode 0600
	if err != nil {
		return explain(err, path)
	}
	defer os.Remove(f.Name()) // fails once renamed
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err2 := f.Close(); err == nil {
		err = err2
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err == nil {
		err = syncDir(filepath.Dir(path))
	}
	return explain(err, path)
}

// Dir is the folder.
func (d *Disk) Dir() string { return d.dir }

// Key is the node's identity.
func (d *Disk) Key() ed25519.PrivateKey { return d.key }

// peersFile is the form of peers.json.
type peersFile struct {
	Addresses []string `json:"addresses"` // best first
}

// Peers returns the saved addresses, best first; none if there are none or the file is damaged, since a node can start
// without them.
func (d *Disk) Peers() []string { return d.readPeers(peersName) }

// RunPeers returns the addresses that were saved for a run, as Peers does.
func (d *Disk) RunPeers(run seedlog.Link) []string { return d.readPeers(run.String() + peersSuffix) }

func (d *Disk) readPeers(name string) []string {
	text, err := os.ReadFile(filepath.Join(d.dir, name))
	var p peersFile
	if err != nil || len(text) > maxPeersLength || json.Unmarshal(text, &p) != nil {
		return nil
	}
	return boundPeers(p.Addresses)
}

// SavePeers saves addresses, best first, in place of those before: at most MaxPeers, each once.
func (d *Disk) SavePeers(addresses []string) error { return d.writePeers(peersName, addresses) }

// SaveRunPeers does the same for those of a run: a node that works on several finds each at other addresses.
func (d *Disk) SaveRunPeers(run seedlog.Link, addresses []string) error {
	return d.writePeers(run.String()+peersSuffix, addresses)
}

func (d *Disk) writePeers(name string, addresses []string) error {
	text, err := json.MarshalIndent(peersFile{boundPeers(addresses)}, "", " ")
	if err != nil {
		return err
	}
	return replaceFile(filepath.Join(d.dir, name), append(text, '\n'))
}

// Curve returns the learning curve that was saved for a run; nil if there is none. A node can start
// without it: it may be missing, or older than the log.
func (d *Disk) Curve(run seedlog.Link) []byte {
	text, err := os.ReadFile(filepath.Join(d.dir, run.String()+curveSuffix))
	if err != nil || len(text) > maxCurveLength {
		return nil
	}
	return text
}

// SaveCurve keeps the learning curve of a run in place of the one before.
func (d *Disk) SaveCurve(run seedlog.Link, text []byte) error {
	return replaceFile(filepath.Join(d.dir, run.String()+curveSuffix), text)
}

// Spec returns the genesis block of a run in the folder.
func (d *Disk) Spec(run seedlog.Link) (*seedlog.Spec, error) {
	path := filepath.Join(d.dir, run.String()+blocksSuffix)
	f, err := os.Open(path)
	if err != nil {
		return nil, explain(err, path)
	}
	defer f.Close()
	sections, _, err := seedlog.NewSections(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	data, link, err := sections.Next()
	if err == nil && link != run {
		err = seedlog.ErrRun
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return seedlog.DecodeSpec(data)
}

// LogPath is the name of the canonical seed log of a run of this folder.
func (d *Disk) LogPath(run seedlog.Link) string {
	return filepath.Join(d.dir, run.String()+logSuffix)
}

// Close lets others open the folder. Runs are closed before.
func (d *Disk) Close() error {
	if d.lock == nil {
		return nil
	}
	err := d.lock.Close()
	d.lock = nil
	return err
}
