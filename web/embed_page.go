//go:build page

package web

import "embed"

// Only compressed forms are embedded: 11 MB instead of 37. Who accepts neither gets them unpacked.
//
//go:embed dist/manifest.json dist/*.br dist/*.gz dist/assets/*.br dist/assets/*.gz
var dist embed.FS
