package web

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
)

func TestWrite(t *testing.T) {
	from, dir := built(t), filepath.Join(t.TempDir(), "page")
	files, size, err := write(from, dir)
	if err != nil || files != 3 || size != int64(3*len(program)) {
		t.Fatalf("%d files of %d bytes, %v", files, size, err)
	}
	for name, want := range map[string]string{"index.html": program, "offline.js": program, "assets/tab-0123456789.wasm": program, "assets/tab-0123456789.wasm.br": "BR"} {
		if got, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	packed, err := os.ReadFile(filepath.Join(dir, "assets/tab-0123456789.wasm.gz"))
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(z); err != nil || string(got) != program {
		t.Errorf("packed: %q, %v", got, err)
	}
	for _, name := range []string{"watch.html", "runs.html", "index.html.br", "manifest.json"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			t.Errorf("%s is there", name)
		}
	}
	if _, _, err := write(from, dir); err != nil {
		t.Errorf("again: %v", err)
	}
}

func TestWriteNoPage(t *testing.T) {
	if _, _, err := write(fstest.MapFS{}, t.TempDir()); !errors.Is(err, ErrNoPage) {
		t.Errorf("a build without the page: %v", err)
	}
	damaged := built(t)
	damaged["dist/index.html.gz"] = &fstest.MapFile{Data: []byte("no gzip")}
	if _, _, err := write(damaged, t.TempDir()); !errors.Is(err, ErrManifest) {
		t.Errorf("a damaged page: %v", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := write(built(t), file); err == nil {
		t.Error("a file in place of the folder passes")
	}
}

// TestWrittenPolicy: a host of files sends no header, so the page itself says what it may load, before anything else.
func TestWrittenPolicy(t *testing.T) {
	page := string(withPolicy([]byte("<!doctype html>\n<html>\n<head>\n<script src=\"a.js\"></script>\n")))
	meta, script := strings.Index(page, `content="default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; connect-src *;`), strings.Index(page, "<script")
	if meta < 0 || meta > script || strings.Contains(page, "frame-ancestors") || !strings.Contains(policy, "; frame-ancestors") {
		t.Errorf("the page is %s", page)
	}
}
