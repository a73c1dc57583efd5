package daemon

import (
	"context"
	"errors"
	"fmt"

	"github.com/evoswarm/evoswarm/internal/seedlog"
	"github.com/evoswarm/evoswarm/internal/store"
	"github.com/evoswarm/evoswarm/node/httpd"
	"github.com/evoswarm/evoswarm/node/verb"
)

// KeyVerb is evonode key.
func KeyVerb() *verb.Verb {
	return &verb.Verb{
		Name: "key", Summary: "the key of the node here, which others may trust",
		Intro: "Prints the public key by which others know the node of a data folder.",
		Usage: []string{"key [--data DIR] [--json]"},
		Details: "A folder without a key gets one, so that a run can trust nodes that have never run: collect the keys of all your computers and " +
			"give them to evonode --bootstrap --trust. The key is no secret; the file identity.key in the folder is.",
		Example: "evonode key",
		Bind: func(fs *verb.Flags) verb.Run {
			data, asJSON := "", false
			bindData(fs, &data, "the node's data folder")
			fs.JSON(&asJSON, "one JSON object: key")
			return func(ctx context.Context, s *verb.IO, args []string) error {
				dir, err := dirAlone(data, args)
				if err != nil {
					return err
				}
				key, err := keyOf(ctx, dir)
				if err != nil {
					return err
				}
				if asJSON {
					return s.PrintJSON(struct {
						Key string `json:"key"`
					}{key})
				}
				_, err = fmt.Fprintln(s.Out, key)
				return err
			}
		},
	}
}

// keyOf is the public key of a data folder in hexadecimal. Where a node runs on the folder, it is asked.
func keyOf(ctx context.Context, dir string) (string, error) {
	disk, err := store.Open(dir)
	if errors.Is(err, store.ErrLocked) {
		if status, asked := httpd.Ask(ctx, dir, "GET", "status"); asked == nil {
			return status.Self, nil
		}
	}
	if err != nil {
		return "", err
	}
	defer disk.Close()
	return seedlog.PeerOf(disk.Key()).String(), nil
}
