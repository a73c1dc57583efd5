package replay

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/evoswarm/evoswarm/internal/store"
	"github.com/evoswarm/evoswarm/node/verb"
)

// BranchFields says what a branch is with --json.
const BranchFields = "one JSON object per branch: name, fork (height of the newest generation that it shares with the run), height (of its tip), " +
	"tip, entries, evaluations, own (of them), bytes, when (it was replaced), renamed"

// listBranches prints the branches next to a log in the data folder of a node.
func listBranches(s *verb.IO, log string, asJSON bool) error {
	_, err := os.Stat(strings.TrimSuffix(log, ".seedlog") + ".state") // which a node keeps next to its log
	if log == "-" || errors.Is(err, fs.ErrNotExist) {
		if _, missing := os.Stat(log); log != "-" && missing != nil {
			return missing
		}
		return verb.Failed(fmt.Errorf("%s is not in the data folder of a node, which alone knows of branches", verb.Called(log)),
			"name the log there, DIR/RUN.seedlog; evonode branch list finds it")
	}
	all, err := store.ReadBranches(log)
	if err != nil {
		return err
	}
	return PrintBranches(s, all, asJSON)
}

// PrintBranches prints a line per branch.
func PrintBranches(s *verb.IO, all []store.Branch, asJSON bool) error {
	if asJSON {
		for _, b := range all {
			if err := s.PrintJSON(b); err != nil {
				return err
			}
		}
		return nil
	}
	if len(all) == 0 {
		s.Note("no branches: nothing that was part of the run here was replaced by a heavier branch, or nothing of that is kept")
		return nil
	}
	w := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tABOVE\tTIP\tGENERATIONS\tEVALS\tMADE HERE\tSIZE\tREPLACED")
	for _, b := range all {
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%.0f %%\t%s\t%s\n", b.Name, b.Fork, b.Height, b.Entries, b.Evaluations, 100*float64(b.Own)/float64(max(b.Evaluations, 1)),
			Size(b.Bytes), b.When.Local().Format(time.DateTime))
	}
	return w.Flush()
}

// Size is a number of bytes for people.
func Size(bytes int64) string { return verb.Amount(float64(bytes)) + "B" }
