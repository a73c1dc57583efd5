package verb

import "runtime/debug"

// build is set by the Makefile with -ldflags -X.
var build string

// Version names the build: what the Makefile stamped, else the module version, else the commit, else "devel".
func Version() string {
	if build != "" {
		return build
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" && len(setting.Value) >= 12 {
			return setting.Value[:12]
		}
	}
	return "devel"
}
