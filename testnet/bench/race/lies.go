package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/evoswarm/evoswarm/testnet/sim"
)

// lyingOf lists who lies in the runs of a size: nobody, once, where a share is 0, and each kind where it is not.
func lyingOf(shares, kinds string, honest int) (list []*sim.Lies) {
	names := sim.LieKinds()
	if kinds != "" {
		names = strings.Split(kinds, ",")
	}
	for _, text := range strings.Split(shares, ",") {
		share, err := strconv.ParseFloat(text, 64)
		if err != nil {
			fatal(err)
		}
		if share == 0 {
			list = append(list, nil)
			continue
		}
		for _, name := range names {
			list = append(list, &sim.Lies{Kind: name, Share: share, Honest: honest})
		}
	}
	return list
}

// tableOfLies prints the medians of each size, kind and share.
func tableOfLies(rows []row) {
	fmt.Println("\n| peers | lies | share | solved | seconds | checks | later | false in the log | keys, found | claims, alive | entries lived: 0.5, 0.99, 0.999 | within a mandate | lost for each of theirs |\n" +
		"|---|---|---|---|---|---|---|---|---|---|---|---|---|")
	for len(rows) > 0 {
		first := rows[0]
		var group, rest []row
		for _, r := range rows {
			if r.Peers == first.Peers && same(r.Lies, first.Lies) {
				group = append(group, r)
			} else {
				rest = append(rest, r)
			}
		}
		rows = rest
		of := func(f func(row) float64) float64 { return median(group, f) }
		kind, share, solved := "none", 0.0, 0
		if first.Lies != nil {
			kind, share = first.Lies.Kind, first.Lies.Share
		}
		for _, r := range group {
			if r.Solved {
				solved++
			}
		}
		fmt.Printf("| %d | %s | %g | %d of %d | %.1f | %.3f | %.3f | %.4f | %.0f, %.0f | %.0f, %.0f | %.0f, %.0f, %.0f | %.3f | %.2f |\n", first.Peers, kind, share, solved, len(group),
			of(func(r row) float64 { return r.Seconds }), of(func(r row) float64 { return r.Checks }), of(func(r row) float64 { return r.Later.Checks }), of(func(r row) float64 { return r.Lied.Share }),
			of(func(r row) float64 { return float64(r.Lied.Keys) }), of(func(r row) float64 { return float64(r.Lied.Found) }),
			of(func(r row) float64 { return float64(r.Lied.Claims) }), of(func(r row) float64 { return float64(r.Lied.Alive) }),
			of(func(r row) float64 { return r.Lied.Entries[0] }), of(func(r row) float64 { return r.Lied.Entries[1] }), of(func(r row) float64 { return r.Lied.Entries[2] }),
			of(func(r row) float64 { return r.Lied.Within }), of(func(r row) float64 { return r.Lied.Cost }))
	}
}

func same(a, b *sim.Lies) bool { return a == b || a != nil && b != nil && *a == *b }
