package device

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"text/tabwriter"

	"github.com/evoswarm/evoswarm/internal/gpu"
	"github.com/evoswarm/evoswarm/internal/kernel"
	"github.com/evoswarm/evoswarm/node/verb"
)

// Verb is evonode device.
func Verb() *verb.Verb {
	words := []string{"list"}
	return &verb.Verb{
		Name: "device", Args: "list", Summary: "list what this computer can compute on: its cores, and GPUs",
		Intro:   "Shows what this computer can compute on: its cores, and devices such as GPUs.",
		Usage:   []string{"device list [--json]"},
		Details: details,
		Example: "evonode device list",
		Words:   words,
		Bind: func(fs *verb.Flags) verb.Run {
			asJSON := false
			fs.JSON(&asJSON, "one JSON object per device: number (0 for the cores), name, kind, usable, why, cpu, evals_per_s, memory, vendor, driver")
			return func(_ context.Context, s *verb.IO, args []string) error {
				word, err := verb.Argument(args, "list", "evonode device list")
				if err != nil {
					return err
				}
				if word != "list" {
					return verb.Unknown("device", word, words)
				}
				return list(s, asJSON)
			}
		},
	}
}

const details = `list prints a line per device: its number, its kind (cpu for the computer's own cores, opencl, cuda), whether it
can be used, how many evaluations of the self-test it makes in a second, its memory and its name. The self-test compares
a million results of its arithmetic, and whole episodes with landings, with those of the cores: a device that differs in
one bit is not used, and the line says what differed.

Drivers are found where the system keeps them: libOpenCL.so.1 (with a driver of AMD, Intel or NVIDIA, or PoCL) and
libcuda.so.1 (NVIDIA). No toolkit is needed. An OpenCL device that is a CPU competes with the cores, so that it is used only
if it is named.`

// row is a line of device list --json.
type row struct {
	Number    int      `json:"number"`
	Name      string   `json:"name"`
	Kind      string   `json:"kind"`
	Usable    bool     `json:"usable"`
	Why       string   `json:"why"`
	CPU       bool     `json:"cpu"`
	EvalsPerS *float64 `json:"evals_per_s"`
	Memory    int64    `json:"memory"`
	Vendor    string   `json:"vendor"`
	Driver    string   `json:"driver"`
}

// list tests all devices and prints them.
func list(s *verb.IO, asJSON bool) error {
	devices, missing := gpu.Devices()
	rows := []row{cores()}
	for _, info := range devices {
		rows = append(rows, test(info))
	}
	if asJSON {
		for i := range rows {
			if err := s.PrintJSON(&rows[i]); err != nil {
				return err
			}
		}
		return nil
	}
	w := tabwriter.NewWriter(s.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NUMBER\tKIND\tUSABLE\tEVALS/S\tMEMORY\tNAME")
	for _, r := range rows {
		number, rate, memory := "-", "-", "-"
		if r.Number > 0 {
			number = fmt.Sprint(r.Number)
		}
		if r.EvalsPerS != nil {
			rate = verb.Amount(*r.EvalsPerS)
		}
		if r.Memory > 0 {
			memory = fmt.Sprintf("%.1f GB", float64(r.Memory)/1e9)
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", number, r.Kind, verb.YesNo(r.Usable), rate, memory, r.Name)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, r := range rows {
		if r.Why != "" {
			fmt.Fprintf(s.Out, "%s: %s\n", r.Name, r.Why)
		}
	}
	for _, line := range lines(missing) {
		fmt.Fprintln(s.Out, line)
	}
	return nil
}

// cores is the row of the computer's own cores.
func cores() row {
	r := row{Name: verb.Plural(runtime.GOMAXPROCS(0), "core") + ", kernel " + kernel.Active(), Kind: "cpu", Usable: true, CPU: true,
		Vendor: runtime.GOARCH, Driver: "Go"}
	if rate, err := gpu.TestCores(); err == nil {
		r.EvalsPerS = &rate
	} else {
		r.Usable, r.Why = false, why(err)
	}
	return r
}

// test is the row of a device.
func test(info gpu.Info) row {
	r := row{Number: info.Number, Name: info.Name, Kind: info.Kind, CPU: info.CPU, Memory: info.Memory, Vendor: info.Vendor, Driver: info.Driver}
	rate, err := gpu.Test(info)
	if err != nil {
		r.Why = why(err)
		return r
	}
	r.Usable, r.EvalsPerS = true, &rate
	if info.CPU {
		r.Why = "it is a CPU and would compete with the cores, so it is used only if it is named"
	}
	return r
}

// lines are the messages of joined errors.
func lines(err error) (all []string) {
	var joined interface{ Unwrap() []error }
	if err == nil {
		return nil
	}
	if errors.As(err, &joined) && strings.Contains(err.Error(), "\n") {
		for _, e := range joined.Unwrap() {
			all = append(all, lines(e)...)
		}
		return all
	}
	return []string{why(err)}
}

// why is an error without the name of the package.
func why(err error) string { return strings.ReplaceAll(err.Error(), "gpu: ", "") }
