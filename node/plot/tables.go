package plot

import (
	"bufio"
	"cmp"
	"fmt"

	"github.com/evoswarm/evoswarm/envs"
	"github.com/evoswarm/evoswarm/node/sweep"
	"github.com/evoswarm/evoswarm/node/verb"
)

// bandLine is a point of plot --json of a table.
type bandLine struct {
	Table    string  `json:"table"`
	Strategy string  `json:"strategy"`
	Runs     int     `json:"runs"`
	Steps    float64 `json:"steps"`
	IQM      float64 `json:"iqm"`
	Low      float64 `json:"low"`
	High     float64 `json:"high"`
}

// tables draws the files if they are tables of sweeps, and reports whether they are.
func (f *plotFlags) tables(s *verb.IO, names []string) (bool, error) {
	table, other := "", ""
	for _, name := range names {
		is, err := isTable(s, name)
		switch {
		case err != nil:
			return false, err
		case is:
			table = name
		default:
			other = name
		}
	}
	switch {
	case table == "":
		return false, nil
	case other != "":
		return true, verb.Misused(fmt.Sprintf("%s is the table of a sweep, %s is not", table, other), "draw tables in a plot of their own")
	case f.x != "steps" || f.y != "return":
		return true, verb.Misused(fmt.Sprintf("-x %s -y %s with %s", f.x, f.y, table), "tables of sweeps are drawn as return against env-steps")
	}
	p, err := f.sweeps(names)
	if err != nil {
		return true, err
	}
	if err := p.Write(f.out); err != nil {
		return true, err
	}
	return true, f.reportSweeps(s, p)
}

func isTable(s *verb.IO, name string) (bool, error) {
	in, err := s.Open(name)
	if err != nil {
		return false, err
	}
	defer in.Close()
	b := bufio.NewReader(in)
	start, _ := b.Peek(b.Size()) // a short file has less; other errors come again when it is read
	return sweep.IsTable(start), nil
}

// sweeps lays out the plot of tables, which must be of one environment.
func (f *plotFlags) sweeps(names []string) (*sweep.Plot, error) {
	p := &sweep.Plot{}
	id := ""
	for _, name := range names {
		g, err := sweep.ReadGroup(name)
		if err != nil {
			return nil, err
		}
		of := g.Rows[0].Env
		if id != "" && of != "" && id != of {
			return nil, verb.Failed(fmt.Errorf("%s is of %s, tables before it are of %s", name, of, id), "draw each environment in a plot of its own")
		}
		id = cmp.Or(id, of)
		p.Groups = append(p.Groups, g)
	}
	p.Title = cmp.Or(f.title, id)
	if env, err := envs.Find(id); err == nil { // a table may be of an environment that this program does not have
		p.Threshold = &env.SolvedReturn
	}
	return p, nil
}

func (f *plotFlags) reportSweeps(s *verb.IO, p *sweep.Plot) error {
	points := 0
	for i, band := range p.Bands() {
		points += len(band.Steps)
		if !f.json {
			continue
		}
		g := p.Groups[i]
		for k := range band.Steps {
			if err := s.PrintJSON(bandLine{g.File, g.Rows[0].Strategy, band.Runs, band.Steps[k], band.IQM[k], band.Low[k], band.High[k]}); err != nil {
				return err
			}
		}
	}
	if f.json {
		return s.PrintJSON(lastLine{f.out, len(p.Groups), points})
	}
	return f.printTotals(s, len(p.Groups), points)
}
