package gpu

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"os"
	"path/filepath"
)

// cacheEntry returns the place of the program that a driver compiles from these texts. Everything that the result
// depends on must be among them.
func cacheEntry(texts ...string) entry {
	h := sha256.New()
	for _, t := range texts {
		h.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(t))))
		h.Write([]byte(t))
	}
	folder, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return entry(filepath.Join(folder, "evoswarm", "gpu", hex.EncodeToString(h.Sum(nil)[:16])+".bin"))
}

// entry is a file of the cache: the SHA-256 of a compiled program, and the program. "" is no file. The folder is the
// user's own, and nobody else may write to it.
type entry string

// load returns the program, or nil if there is none, or a damaged one.
func (e entry) load() []byte {
	info, err := os.Stat(string(e))
	if err != nil || info.Size() > maxBinary+sha256.Size {
		return nil
	}
	b, err := os.ReadFile(string(e))
	if err != nil || len(b) <= sha256.Size {
		return nil
	}
	if sum := sha256.Sum256(b[sha256.Size:]); !bytes.Equal(sum[:], b[:sha256.Size]) {
		return nil
	}
	return b[sha256.Size:]
}

// save keeps a program. A cache that cannot be written costs time only, so no error is reported.
func (e entry) save(program []byte) {
	if e == "" || len(program) == 0 {
		return
	}
	folder := filepath.Dir(string(e))
	if os.MkdirAll(folder, 0o700) != nil {
		return
	}
	f, err := os.CreateTemp(folder, "new-*")
	if err != nil {
		return
	}
	defer os.Remove(f.Name()) // fails once it is renamed
	sum := sha256.Sum256(program)
	_, err = f.Write(append(sum[:], program...))
	if f.Close() == nil && err == nil {
		os.Rename(f.Name(), string(e))
	}
}
