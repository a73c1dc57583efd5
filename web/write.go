package web

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrNoPage is returned by Write in a build without the volunteer page.
var ErrNoPage = errors.New("web: this program was built without the volunteer page")

// head is where the written page gets its policy: hosts of files send no header for it.
const head = "<head>\n"

// Write puts the volunteer page into a folder, for any host of files: each file as it is, and all but the page itself
// also packed, as FILE.br and FILE.gz, for hosts that send such. The page names its files without a leading slash, so
// it may lie at any path. It returns how many files and bytes there are, packed ones left out. Files of those names are
// replaced. Errors wrap ErrNoPage, ErrManifest or those of the file system.
func Write(dir string) (files int, size int64, err error) { return write(dist, dir) }

func write(from fs.FS, dir string) (files int, size int64, err error) {
	m, err := readManifest(from)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, 0, ErrNoPage
	}
	if err != nil {
		return 0, 0, err
	}
	assets, err := load(from)
	if err != nil {
		return 0, 0, err
	}
	for _, f := range m.Files {
		a := assets[f.Path]
		if a.page && f.Path != "index.html" {
			continue // of evonode watch
		}
		data, err := a.plain()
		if err != nil {
			return files, size, err
		}
		path := filepath.Join(dir, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return files, size, err
		}
		packed := map[string][]byte{path + ".br": a.forms["br"], path + ".gz": a.forms["gzip"]}
		if a.page {
			data, packed = withPolicy(data), nil
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			return files, size, err
		}
		for name, form := range packed { //lint:sorted each a file of its own
			if err := os.WriteFile(name, form, 0o644); err != nil {
				return files, size, err
			}
		}
		files, size = files+1, size+int64(len(data))
	}
	return files, size, nil
}

// plain is the file unpacked.
func (a *asset) plain() ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(a.forms["gzip"]))
	if err != nil {
		return nil, fmt.Errorf("%w: %v", ErrManifest, err)
	}
	data, err := io.ReadAll(io.LimitReader(z, a.length+1))
	if err != nil || int64(len(data)) != a.length {
		return nil, fmt.Errorf("%w: a file of %d bytes has %d (%v)", ErrManifest, a.length, len(data), err)
	}
	return data, nil
}

// withPolicy writes into a page what nodes allow it by a header. Who may frame it only a header can say.
func withPolicy(page []byte) []byte {
	allowed, _, _ := strings.Cut(policy, "; frame-ancestors")
	return bytes.Replace(page, []byte(head), []byte(head+`<meta http-equiv="Content-Security-Policy" content="`+allowed+"\">\n"), 1)
}
