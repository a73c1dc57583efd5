package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// checked is what a check of a whole log found: that it is true.
type checked struct {
	Height      uint64 `json:"height"`
	Head        string `json:"head"`  // link of the newest entry
	Theta       string `json:"theta"` // digest of the parameters, as computed here and as that entry says
	Evaluations uint64 `json:"evaluations"`
	Peers       int    `json:"peers"` // authors of its claims
	Base        uint64 `json:"base"`  // generation that it begins at, as others gave it; 0: the first
}

// errOtherHead is returned for a log that is not the one that the page shows.
var errOtherHead = errors.New("the log has another entry there")

// checkLog folds a log from its first entry to its last one, and compares what every entry says: signatures,
// links, and the digests of the parameters. The entry of a height must be the one that the page shows as the
// head. progress learns where it is.
func checkLog(r io.Reader, height uint64, head string, progress func(height uint64, offset int64)) (checked, error) {
	authors := make(map[seedlog.Peer]bool)
	met := height == 0
	at, err := seedlog.Replay(r, seedlog.ReplayOptions{Visit: func(g *seedlog.Record, at seedlog.Replayed) error {
		for _, c := range g.Claims {
			if len(authors) < maxAuthors {
				authors[c.Peer] = true
			}
		}
		if at.Height == height {
			if met = g.Link.String() == head; !met {
				return fmt.Errorf("height %d: %w", height, errOtherHead)
			}
		}
		progress(at.Height, at.End)
		return nil
	}})
	if err != nil {
		return checked{}, err
	}
	if !met && at.Base < height {
		return checked{}, fmt.Errorf("the log ends at height %d, below %d, which the page shows", at.Height, height)
	}
	theta := at.State.ThetaDigest()
	return checked{Height: at.Height, Head: at.Link.String(), Theta: hex.EncodeToString(theta[:]), Evaluations: at.Evaluations, Peers: len(authors), Base: at.Base}, nil
}

// maxAuthors bounds what is counted of strangers.
const maxAuthors = 1 << 16
