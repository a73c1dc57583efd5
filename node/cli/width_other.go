//go:build !unix

package cli

import "os"

// terminalWidth is not known here: 0.
func terminalWidth(*os.File) int { return 0 }
