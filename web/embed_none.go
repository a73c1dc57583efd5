//go:build !page

package web

import "embed"

// dist is empty: this build has no volunteer page.
var dist embed.FS
