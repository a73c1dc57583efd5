package daemon

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/evoswarm/evoswarm/node/verb"
)

// memory is what a node remembers apart from its stores: node.json in the data folder.
type memory struct {
	Version int      `json:"version"` // of this format: 1
	Active  string   `json:"active"`  // last run, "" for none; of several at the same time the first
	Recent  []string `json:"recent"`  // runs of this folder, newest use first
	Paused  bool     `json:"paused"`  // by the owner

	Also   []string `json:"also,omitempty"`   // the others of several runs at the same time, in their order
	Joined []string `json:"joined,omitempty"` // where the owner said that the active run is
	Ended  []string `json:"ended,omitempty"`  // runs that have ended

	// Lifetime has for each run how many evaluations of this computer were logged, also if they were replaced later.
	Lifetime map[string]uint64 `json:"lifetime,omitempty"`
}

const (
	memoryName    = "node.json"
	memoryVersion = 1
)

// readMemory reads what the node on this folder remembered: nothing, if the folder is new.
func readMemory(data string) (memory, error) {
	m := memory{Version: memoryVersion}
	path := filepath.Join(data, memoryName)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return m, nil
	}
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(text, &m); err != nil {
		return m, verb.Failed(fmt.Errorf("%s: %w", path, err), "the file is damaged: remove it; the runs in the folder stay, and --train ENV continues one")
	}
	if m.Version != memoryVersion {
		return m, verb.Failed(fmt.Errorf("%s has version %d, this build knows %d", path, m.Version, memoryVersion), "use the evonode that wrote it, or another folder with --data")
	}
	return m, nil
}

// ended reports whether a run has ended.
func (m *memory) ended(run string) bool { return slices.Contains(m.Ended, run) }

// at is the run that a lane had last, "" for none.
func (m *memory) at(lane int) string {
	switch {
	case lane == 0:
		return m.Active
	case lane <= len(m.Also):
		return m.Also[lane-1]
	}
	return ""
}

// use makes run the one of a lane.
func (m *memory) use(lane int, run string) {
	if lane == 0 {
		m.Active = run
	} else {
		also := make([]string, max(lane, len(m.Also)))
		copy(also, m.Also)
		also[lane-1] = run
		m.Also = also
	}
	recent := slices.DeleteFunc(slices.Clone(m.Recent), func(r string) bool { return r == run })
	m.Recent = slices.Insert(recent, 0, run)
}

// write replaces the file as a whole, durably.
func (m *memory) write(data string) error {
	text, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(data, memoryName+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails once it is renamed
	_, err = f.Write(append(text, '\n'))
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), filepath.Join(data, memoryName))
}
