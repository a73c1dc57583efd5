package verb

import "testing"

// Users read what happened, not in which package.
func TestPlainly(t *testing.T) {
	for message, want := range map[string]string{
		`envs: unknown world "CartPol"`:                           `unknown world "CartPol"`,
		"run.seedlog: seedlog: torn: the file ends":               "run.seedlog: torn: the file ends",
		"mesh: unreachable: peer: closed; daemon: no run there":   "unreachable: closed; no run there",
		"daemon: port is busy: 127.0.0.1:8080, for the page":      "port is busy: 127.0.0.1:8080, for the page",
		"a.json is truncated (seedlog: torn: the file ends here)": "a.json is truncated (torn: the file ends here)",
	} {
		if got := plainly(message); got != want {
			t.Errorf("plainly(%q) = %q, want %q", message, got, want)
		}
	}
}
