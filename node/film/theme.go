package film

import (
	"image/color"

	"github.com/evoswarm/evoswarm/envs"
)

// Theme is a set of colors, without transparency. Read-only.
type Theme struct {
	Paper color.RGBA // behind everything
	Rule  color.RGBA // above the caption
	Ink   color.RGBA // of the caption
	Roles map[envs.Role]color.RGBA
}

// The themes of the page: web/src/page.css has the same colors.
var (
	Light = &Theme{Paper: opaque(0xffffff), Rule: opaque(0xe3e4df), Ink: opaque(0x5b646d), Roles: map[envs.Role]color.RGBA{
		envs.Ground: opaque(0xa9b0b6), envs.Body: opaque(0x2b3138), envs.Accent: opaque(0xc8682a), envs.Joint: opaque(0x1f7a64), envs.Goal: opaque(0x1f7a64),
		envs.Terrain: opaque(0xd3d7d2), envs.Flame: opaque(0xe89a1c), envs.Ray: opaque(0xd9a09a),
	}}
	Dark = &Theme{Paper: opaque(0x1b1f23), Rule: opaque(0x2c3238), Ink: opaque(0x9ba5ae), Roles: map[envs.Role]color.RGBA{
		envs.Ground: opaque(0x59636c), envs.Body: opaque(0xd6dadd), envs.Accent: opaque(0xee985f), envs.Joint: opaque(0x6cc9ae), envs.Goal: opaque(0x6cc9ae),
		envs.Terrain: opaque(0x363d44), envs.Flame: opaque(0xffc457), envs.Ray: opaque(0x8a5551),
	}}
)
