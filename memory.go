package evoswarm

import (
	"bytes"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// memoryLog is a log that is not on disk; it implements solo.Log.
type memoryLog struct {
	data  []byte
	start *seedlog.Replayed
}

func newMemoryLog(rules *seedlog.Rules) (*memoryLog, error) {
	data := rules.AppendBeginning(nil)
	start, err := seedlog.Replay(bytes.NewReader(data), seedlog.ReplayOptions{})
	return &memoryLog{data, start}, err
}

func (l *memoryLog) Replayed() *seedlog.Replayed { return l.start }

func (l *memoryLog) Append(entry *seedlog.Entry, seal *seedlog.Seal, claims []*seedlog.Claim) error {
	l.data = seedlog.AppendGeneration(l.data, entry, seal, claims)
	return nil
}

func (l *memoryLog) Sync() error { return nil }
