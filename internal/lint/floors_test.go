package lint

import "strings"

const module = "github.com/evoswarm/evoswarm"

// exempt is the floor of what no rule looks at.
const exempt = -1

// rooms names the floor of each folder; a folder below it is on the same floor. docs/ARCHITECTURE.md says why.
var rooms = map[string]int{
	"internal/nearest": 0, "internal/fair": 0, "internal/exact": 0, "internal/noise": 0, "internal/kernel": 0,
	"envs": 1, "internal/policy": 1,
	"internal/cores": 2, "internal/evolve": 2, "internal/episode": 2, "internal/rollout": 2, "internal/presets": 2, "internal/seedlog": 2, "internal/runspec": 2, "internal/worlds": 2,
	"coordinator":   3,
	"internal/mesh": 4, "internal/dht": 4, "internal/autotls": 4, "internal/store": 4, "internal/schedule": 4, "internal/gpu": 4,
	"internal/devices": 5, "internal/peer": 5, "internal/solo": 5, "internal/cost": 5,
	"node": 6, "wasm": 6, "web": 6, "testnet": 6, ".": 6, "examples": 6,
	"internal/golden": exempt, "internal/lint": exempt, "internal/translate": exempt, "envs/envtest": exempt, // helpers of tests
}

// roomOf returns the room and the floor of an import path of this module; ok is false for a folder without a row.
func roomOf(path string) (room string, floor int, ok bool) {
	rel := strings.TrimPrefix(strings.TrimPrefix(path, module), "/")
	if rel == "" {
		rel = "." // the module's root package
	}
	for room := rel; room != ""; room = parent(room) {
		if floor, ok := rooms[room]; ok {
			return room, floor, true
		}
	}
	return rel, exempt, false
}

func parent(path string) string {
	return path[:max(strings.LastIndexByte(path, '/'), 0)]
}

func inModule(path string) bool {
	return path == module || strings.HasPrefix(path, module+"/")
}
