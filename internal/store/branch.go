//go:build !js

package store

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

var (
	// ErrNoBranch is returned for a name that no branch has.
	ErrNoBranch = errors.New("no such branch")
	// ErrBranchName is returned for a name that no branch can have, or that another one has.
	ErrBranchName = errors.New("not a name for a branch")
)

const (
	branchesSuffix  = ".branches"
	branchesVersion = 1

	// DefaultKeep is how many bytes the branches that lost may take, of each run.
	DefaultKeep = 256 << 20
	// maxBranches bounds the branches of a run, and with it what has a name but hardly any bytes.
	maxBranches = 64
	// maxBranchesLength bounds what is read of a file of branches, in bytes.
	maxBranchesLength = 1 << 20
)

// Branch is the upper part of a chain that was canonical here until a heavier one replaced it.
type Branch struct {
	Name        string    `json:"name"`
	Fork        uint64    `json:"fork"`   // height of the newest entry that it shares with the canonical chain
	Height      uint64    `json:"height"` // of its tip
	Tip         string    `json:"tip"`    // link of its newest entry
	Entries     uint64    `json:"entries"`
	Evaluations uint64    `json:"evaluations"`
	Own         uint64    `json:"own"`     // of the evaluations, those of this folder's key
	Bytes       int64     `json:"bytes"`   // of its blocks
	When        time.Time `json:"when"`    // it was replaced
	Renamed     bool      `json:"renamed"` // by its owner: it is the last to go
}

// Alone reports whether all of the branch was computed with this folder's key.
func (b *Branch) Alone() bool { return b.Own == b.Evaluations }

// Replaced says what became of entries that were canonical.
type Replaced struct {
	Branch        // what they were
	Come   uint64 // entries that replaced them
	Kept   bool   // under the branch's name; else there was no room
}

// branchesFile is the form of <run>.branches.
type branchesFile struct {
	Version  int      `json:"version"`
	Branches []Branch `json:"branches"` // oldest first
}

// branches are the named branches of a run.
type branches struct {
	files filesystem
	path  string
	own   seedlog.Peer
	tell  func(Replaced)

	mu   sync.Mutex // guards what follows, and the file
	keep int64      // bytes
	all  []Branch   // oldest first
}

// branchName is what a branch may be called: something that a shell and a file name take as it is.
var branchName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// CheckBranchName refuses what no branch can be called.
func CheckBranchName(name string) error {
	if !branchName.MatchString(name) {
		return fmt.Errorf("%w: %q has to be letters, digits, dots, _ and -, at most 64 of them, the first a letter or a digit", ErrBranchName, name)
	}
	return nil
}

// ReadBranches reads the branches next to a run's log in a data folder, which a node may be using. Without such a file
// there are none.
func ReadBranches(logPath string) ([]Branch, error) {
	return readBranches(osFiles{}, strings.TrimSuffix(logPath, logSuffix)+branchesSuffix)
}

func readBranches(f filesystem, path string) ([]Branch, error) {
	in, err := f.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, explain(err, path)
	}
	defer in.Close()
	text, err := io.ReadAll(io.NewSectionReader(in, 0, maxBranchesLength+1))
	if err != nil {
		return nil, explain(err, path)
	}
	var file branchesFile
	if err = json.Unmarshal(text, &file); err == nil {
		err = file.check(len(text))
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrCorrupt, path, err)
	}
	return file.Branches, nil
}

// check refuses what the store would not have written.
func (file *branchesFile) check(length int) error {
	if length > maxBranchesLength || len(file.Branches) > maxBranches {
		return errors.New("too many branches")
	}
	if file.Version != branchesVersion {
		return fmt.Errorf("it has version %d, this build knows %d", file.Version, branchesVersion)
	}
	seen := map[string]bool{}
	for _, b := range file.Branches {
		if !branchName.MatchString(b.Name) || seen[b.Name] {
			return fmt.Errorf("%q is no name of a branch, or of two", b.Name)
		}
		seen[b.Name] = true
		if _, err := seedlog.ParseLink(b.Tip); err != nil {
			return err
		}
	}
	return nil
}

// write replaces the file as a whole, durably.
func (n *branches) write() error {
	text, err := json.MarshalIndent(branchesFile{branchesVersion, n.all}, "", " ")
	if err != nil {
		return err
	}
	path := n.path + newSuffix
	f, err := n.files.Create(path)
	if err == nil {
		err = f.Truncate(0)
		if err == nil {
			_, err = f.WriteAt(append(text, '\n'), 0)
		}
		if err == nil {
			err = f.Sync()
		}
		err = errors.Join(err, f.Close())
	}
	if err == nil {
		err = n.files.Rename(path, n.path)
	}
	if err == nil {
		err = n.files.SyncDir(filepath.Dir(path))
	}
	return explain(err, n.path)
}

// index is the place of a branch; -1 if there is none of that name.
func (n *branches) index(name string) int {
	return slices.IndexFunc(n.all, func(b Branch) bool { return b.Name == name })
}

// nameOf is the automatic name of a branch: the height of its tip, and the beginning of that one's digest. Where the
// owner has given that name to another, it gets a number.
func (n *branches) nameOf(tip seedlog.Link, height uint64) string {
	digest := tip.Bytes()[linkSize-32:]
	name := fmt.Sprintf("h%d-%s", height, hex.EncodeToString(digest[:4]))
	for i := 2; n.index(name) >= 0; i++ {
		name = fmt.Sprintf("h%d-%s-%d", height, hex.EncodeToString(digest[:4]), i)
	}
	return name
}

// trim drops branches until the others fit: first those with the least work of this folder's key, so that strangers
// push out what is theirs; of equal ones the oldest; at last those that the owner named.
func (n *branches) trim() (dropped bool) {
	for {
		var bytes int64
		least := 0
		for i, b := range n.all {
			bytes += b.Bytes
			if worth(b, n.all[least]) < 0 {
				least = i
			}
		}
		if bytes <= n.keep && len(n.all) <= maxBranches {
			return dropped
		}
		n.all = slices.Delete(n.all, least, least+1)
		dropped = true
	}
}

// worth compares what branches are worth to their owner.
func worth(a, b Branch) int {
	if a.Renamed != b.Renamed {
		if a.Renamed {
			return 1
		}
		return -1
	}
	return cmp.Compare(a.Own, b.Own)
}
