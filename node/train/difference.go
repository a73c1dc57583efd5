package train

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/evoswarm/evoswarm/internal/seedlog"
)

// maxDifferences bounds how many are named.
const maxDifferences = 8

// derived are the fields of a spec that follow from the others.
var derived = []string{"origin", "nonce"}

// difference says where the run of the log at path differs from the one that was asked for, "" if that cannot be known.
func difference(path string, asked *seedlog.Spec) string {
	in, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer in.Close()
	scanner, err := seedlog.NewScanner(in)
	if err != nil {
		return ""
	}
	has, want := flatten(scanner.Rules().Spec), flatten(asked)
	var keys []string
	for key := range has {
		keys = append(keys, key)
	}
	for key := range want {
		if _, ok := has[key]; !ok {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	var all []string
	for _, key := range keys {
		if has[key] != want[key] && !slices.Contains(derived, key) {
			all = append(all, fmt.Sprintf("%s is %s, not %s", key, orNothing(has[key]), orNothing(want[key])))
		}
	}
	if n := len(all) - maxDifferences; n > 0 {
		all = append(all[:maxDifferences], fmt.Sprintf("and %d more", n))
	}
	return strings.Join(all, ", ")
}

func orNothing(text string) string {
	if text == "" {
		return "not there"
	}
	return text
}

// flatten lists the fields of a spec by dotted names, with their values as JSON.
func flatten(spec *seedlog.Spec) map[string]string {
	data, err := json.Marshal(spec)
	if err != nil {
		return nil
	}
	all := map[string]string{}
	flattenInto(all, "", data)
	return all
}

func flattenInto(all map[string]string, name string, data json.RawMessage) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(data, &fields) != nil || fields == nil {
		all[name] = string(data)
		return
	}
	for key, value := range fields {
		flattenInto(all, strings.TrimPrefix(name+"."+key, "."), value)
	}
}
