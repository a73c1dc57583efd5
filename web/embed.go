// Package web serves the volunteer page: a page that trains in the browser's tab, with everything it needs.
//
// Floor 6, programs: only floor 6 imports it.
//
// The page is built by `node web/build.mjs` into dist, which is not under version control, and embedded with the build
// tag "page". Without the tag the package serves a small page that says how to get the real one, so it compiles from a
// fresh clone.
package web

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// ErrManifest is returned for a built page that is not complete.
var ErrManifest = errors.New("web: damaged page")

//go:embed fallback/index.html
var fallback []byte

// manifest says what build.mjs made.
type manifest struct {
	Build string `json:"build"`
	Files []file `json:"files"`
}

// file is one asset. Its compressed forms are next to it in dist, as path.br and path.gz.
type file struct {
	Path string `json:"path"`
	Type string `json:"type"`
	Hash string `json:"hash"`
	Size int64  `json:"size"`
}

// Addresses is what a node serves at /addresses.json: all that a page has to know, which is whom to dial.
type Addresses struct {
	Version   int      `json:"version"`   // of this form: 1
	Build     string   `json:"build"`     // the node's page; a page of another build asks to be reloaded
	Run       string   `json:"run"`       // the run's id, "" if there is none
	Env       string   `json:"env"`       // the environment's id, "" if there is none
	Addresses []string `json:"addresses"` // multiaddrs with /p2p/..., those that a browser can dial among them

	// Runs are those of a node that works on several, each with its own addresses; above is the one that it advises.
	Runs []RunAddresses `json:"runs,omitempty"`
}

// RunAddresses says where one of several runs is.
type RunAddresses struct {
	Run       string   `json:"run"`
	Env       string   `json:"env"`
	Addresses []string `json:"addresses"`
}

// Policy is what evonode watch serves at /policy.json: all that its page shows. The bytes are in base64.
type Policy struct {
	World     string            `json:"world"` // name for people
	Env       string            `json:"env"`   // id
	Strategy  string            `json:"strategy"`
	Run       string            `json:"run"`
	Height    uint64            `json:"height"`
	Head      string            `json:"head"`
	Threshold float64           `json:"threshold"` // mean return from which the world is solved
	Bytes     map[string][]byte `json:"bytes"`     // what the page's theater gives to its worker, by name
}

// AddressesVersion is the version of [Addresses] that this build writes and its page reads.
const AddressesVersion = 1

// Built reports whether the volunteer page is embedded.
func Built() bool { return Build() != "" }

// Build names the embedded page by what it is made of: 12 hex digits, or "" where none is embedded.
func Build() string {
	m, err := readManifest(dist)
	if err != nil {
		return ""
	}
	return m.Build
}

// readManifest reads what is in files; fs.ErrNotExist means that no page is embedded.
func readManifest(files fs.FS) (*manifest, error) {
	data, err := fs.ReadFile(files, "dist/manifest.json")
	if err != nil {
		return nil, err
	}
	m := new(manifest)
	if err := json.Unmarshal(data, m); err != nil {
		return nil, fmt.Errorf("%w: manifest: %v", ErrManifest, err)
	}
	if m.Build == "" || len(m.Files) == 0 {
		return nil, fmt.Errorf("%w: manifest without build or files", ErrManifest)
	}
	for _, f := range m.Files {
		if f.Hash == "" || f.Type == "" || strings.Contains(f.Path, "..") {
			return nil, fmt.Errorf("%w: manifest entry %q", ErrManifest, f.Path)
		}
	}
	return m, nil
}
