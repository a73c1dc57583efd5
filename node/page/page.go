package page

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evoswarm/evoswarm/internal/mesh"
	"github.com/evoswarm/evoswarm/node/verb"
	"github.com/evoswarm/evoswarm/web"
)

// Verb is evonode page.
func Verb() *verb.Verb {
	return &verb.Verb{
		Name: "page", Args: "-o FOLDER [ADDR|URL ...]", Summary: "write the volunteer page, for any host of files",
		Intro: "Writes the volunteer page into a folder, which any web host can serve, without a node behind it.",
		Usage: []string{"page -o FOLDER [ADDR|URL ...] [flags]"},
		Details: `ADDR is an address of a node and URL the page of one, which is asked for its addresses now. They go into addresses.json next to
the page, so that it finds the swarm without a link that names one. Over https a tab reaches nodes by WebTransport, WebRTC-Direct
and WebSocket with TLS. WebTransport's addresses are good for some two weeks: write the page again, or name the WebRTC-Direct ones.
FOLDER is made if it is not there; files of an earlier page are replaced. Hosts that send packed files find them next to the others
(.br, .gz).`,
		Example: "evonode page -o public https://example.org/",
		Bind: func(fs *verb.Flags) verb.Run {
			var f flags
			fs.String(&f.out, "o", "FOLDER", "where to write it")
			fs.JSON(&f.json, "one JSON object: folder, build, files, bytes, run, addresses (how many)")
			return f.write
		},
	}
}

type flags struct {
	out  string
	json bool
}

func (f *flags) write(ctx context.Context, s *verb.IO, targets []string) error {
	if f.out == "" {
		return verb.Misused("missing -o FOLDER", "for example: evonode page -o public")
	}
	list := web.Addresses{Version: web.AddressesVersion, Build: web.Build(), Addresses: []string{}}
	for _, target := range targets {
		found, err := mesh.Resolve(ctx, target)
		switch {
		case errors.Is(err, mesh.ErrAddress):
			return verb.Wrong(err, "name the address of a node, as it prints it, or the URL of its page")
		case err != nil:
			return verb.Failed(err, "the node has to run now, to say its addresses: start it, or name its address in place of its URL")
		}
		if list.Run != "" && found.Run != "" && list.Run != found.Run {
			return verb.Misused(fmt.Sprintf("%s is in run %s, one before it in run %s", target, found.Run, list.Run), "a page is for one swarm: leave one of them out")
		}
		if found.Run != "" {
			list.Run = found.Run
		}
		list.Addresses = append(list.Addresses, found.Addresses...)
	}
	slices.Sort(list.Addresses)
	list.Addresses = slices.Compact(list.Addresses)
	files, size, err := web.Write(f.out)
	if errors.Is(err, web.ErrNoPage) {
		return verb.Wrong(err, "build the program with its page: make build")
	}
	if err != nil {
		return err
	}
	if len(targets) > 0 {
		data, err := json.MarshalIndent(list, "", "  ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(f.out, "addresses.json"), append(data, '\n'), 0o644); err != nil {
			return err
		}
	}
	if f.json {
		return s.PrintJSON(struct {
			Folder    string `json:"folder"`
			Build     string `json:"build"`
			Files     int    `json:"files"`
			Bytes     int64  `json:"bytes"`
			Run       string `json:"run"`
			Addresses int    `json:"addresses"`
		}{f.out, list.Build, files, size, list.Run, len(list.Addresses)})
	}
	_, err = fmt.Fprintf(s.Out, "page       %s (build %s, %d files, %.1f MB)\naddresses  %s\n", f.out, list.Build, files, float64(size)/1e6, addressesText(list.Addresses))
	return err
}

// addressesText says how many addresses there are, and from which pages tabs can reach them.
func addressesText(addresses []string) string {
	if len(addresses) == 0 {
		return "none: give people a link with ?peer=ADDRESS, or name nodes here"
	}
	ways := map[mesh.Way]bool{}
	for _, a := range addresses {
		ways[mesh.WayOf(a)] = true
	}
	var names []string
	for _, way := range []mesh.Way{mesh.WebTransport, mesh.WebRTC, mesh.SecureSocket} {
		if ways[way] {
			names = append(names, string(way))
		}
	}
	switch n := fmt.Sprintf("%d, in addresses.json", len(addresses)); {
	case len(names) > 0:
		return n + "; over https by " + strings.Join(names, ", ")
	case ways[mesh.WebSocket]:
		return n + "; over http alone: a page over https reaches none of them"
	default:
		return n + "; no tab reaches any of them: the node has to listen on WebTransport, WebRTC-Direct or WebSocket"
	}
}
