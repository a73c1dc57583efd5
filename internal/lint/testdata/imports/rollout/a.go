// Package rollout has workers, but no clock.
package rollout

import (
	_ "runtime"
	_ "sync"
	_ "time" // want: forbidden import time
)
