package cli

import (
	"fmt"
	"os"
	"strings"

	"github.com/evoswarm/evoswarm/internal/kernel"
	"github.com/evoswarm/evoswarm/node/verb"
)

// kernelVariable names the environment variable that forces a kernel.
const kernelVariable = "EVOSWARM_KERNEL"

// useKernel takes the kernel that the environment names, else the fastest one that computes the right bits. It is
// called once, before anything is evaluated.
func useKernel(s *verb.IO) error {
	name := os.Getenv(kernelVariable)
	if name == "" {
		if taken, err := kernel.UseFastest(); err != nil {
			s.Note("this computer's vector instructions do not compute as they should (%v); kernel %s is used instead", err, taken)
		}
		return nil
	}
	if err := kernel.Use(name); err != nil {
		var names []string
		for _, k := range kernel.All() {
			names = append(names, k.Name)
		}
		return verb.Wrong(fmt.Errorf("%s: %w", kernelVariable, err), "this computer has "+strings.Join(names, ", ")+"; without "+kernelVariable+" the fastest is taken")
	}
	return nil
}
