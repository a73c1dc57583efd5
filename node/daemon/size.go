package daemon

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/evoswarm/evoswarm/node/verb"
)

// sizeUnits are what a size may end with, in bytes.
var sizeUnits = []struct {
	name  string
	bytes float64
}{{"kb", 1e3}, {"mb", 1e6}, {"gb", 1e9}, {"tb", 1e12}, {"kib", 1 << 10}, {"mib", 1 << 20}, {"gib", 1 << 30}, {"tib", 1 << 40}, {"b", 1}}

// parseSize reads a number of bytes, such as 256MB.
func parseSize(text string) (int64, error) {
	number, factor := strings.ToLower(strings.TrimSpace(text)), 1.0
	for _, unit := range sizeUnits {
		if rest, ok := strings.CutSuffix(number, unit.name); ok {
			number, factor = strings.TrimSpace(rest), unit.bytes
			break
		}
	}
	x, err := strconv.ParseFloat(number, 64)
	if bytes := x * factor; err == nil && bytes >= 0 && bytes < math.MaxInt64/2 {
		return int64(bytes), nil
	}
	return 0, verb.Misused(fmt.Sprintf("%q is no size", text), "a number with MB, GB or nothing for bytes, such as 256MB, or 0")
}
