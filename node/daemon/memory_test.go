package daemon

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestMemory(t *testing.T) {
	data := t.TempDir()
	m, err := readMemory(data)
	if err != nil || m.Active != "" {
		t.Fatalf("a new folder remembers %+v, %v", m, err)
	}
	for _, run := range []string{"a", "b", "a", "c", "b"} {
		m.use(0, run)
	}
	m.Paused = true
	if err := m.write(data); err != nil {
		t.Fatal(err)
	}
	got, err := readMemory(data)
	if err != nil || got.Active != "b" || !slices.Equal(got.Recent, []string{"b", "c", "a"}) || !got.Paused {
		t.Errorf("read back %+v, %v", got, err)
	}
	if files, _ := os.ReadDir(data); len(files) != 1 {
		t.Errorf("%d files after writing, want 1", len(files))
	}
}

func TestMemoryDamaged(t *testing.T) {
	for _, text := range []string{"", "{", `{"version":2}`} {
		data := t.TempDir()
		if err := os.WriteFile(filepath.Join(data, memoryName), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readMemory(data); err == nil {
			t.Errorf("readMemory takes %q", text)
		}
	}
}

// A node remembers which run each lane had.
func TestMemoryOfSeveralRuns(t *testing.T) {
	var m memory
	m.use(2, "c")
	m.use(0, "a")
	before := m
	m.use(1, "b")
	if m.at(0) != "a" || m.at(1) != "b" || m.at(2) != "c" || m.at(3) != "" || !slices.Equal(m.Recent, []string{"b", "a", "c"}) {
		t.Errorf("remembers %+v", m)
	}
	if before.at(1) != "" || len(before.Recent) != 2 {
		t.Errorf("a copy of before has %+v", before)
	}
}
