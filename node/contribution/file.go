package contribution

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// ErrFile is returned for what is no certificate.
var ErrFile = errors.New("not a certificate of contribution")

// version is that of the file's form.
const version = 1

// maxFile bounds a certificate, which a stranger may have written, in bytes.
const maxFile = 1 << 12

// file is the JSON form.
type file struct {
	Version     int    `json:"version"`
	Run         string `json:"run"`
	Key         string `json:"key"` // in hexadecimal
	Evaluations uint64 `json:"evaluations"`
	Steps       uint64 `json:"steps"` // env-steps
	Height      uint64 `json:"height"`
	Head        string `json:"head"`      // link of the entry of that height
	Signature   []byte `json:"signature"` // base64
}

// Write writes a certificate.
func Write(w io.Writer, c *seedlog.Contribution) error {
	data, err := json.MarshalIndent(file{version, c.Run.String(), c.Peer.String(), c.Evaluations, c.Steps, c.Height, c.Head.String(), c.Signature}, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(data, '\n'))
	return err
}

// Read reads a certificate and checks its signature. Errors wrap ErrFile or seedlog.ErrSignature.
func Read(r io.Reader) (*seedlog.Contribution, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("%w: more than %d bytes", ErrFile, maxFile)
	}
	var f file
	if err := json.Unmarshal(data, &f); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrFile, err)
	}
	if f.Version != version {
		return nil, fmt.Errorf("%w of version %d: version %d, which this build does not read", ErrFile, version, f.Version)
	}
	c := &seedlog.Contribution{Evaluations: f.Evaluations, Steps: f.Steps, Height: f.Height, Signature: f.Signature}
	key, err := hex.DecodeString(f.Key)
	if err != nil || len(key) != len(c.Peer) {
		return nil, fmt.Errorf("%w: the key is not 64 hexadecimal digits", ErrFile)
	}
	c.Peer = seedlog.Peer(key)
	if c.Run, err = seedlog.ParseLink(f.Run); err != nil {
		return nil, fmt.Errorf("%w: the run: %v", ErrFile, err)
	}
	if c.Head, err = seedlog.ParseLink(f.Head); err != nil {
		return nil, fmt.Errorf("%w: the head: %v", ErrFile, err)
	}
	return c, c.Check()
}
