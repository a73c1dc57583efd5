package lint

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// heavy are packages that a tab's programs have no use for, and that bring much along; each was in them once.
var heavy = []string{
	"crypto/ecdsa", "crypto/rsa", "crypto/tls", "crypto/x509", "expvar", "html/template", "net/http", "text/template",
	"github.com/coder/websocket", "github.com/decred/dcrd/dcrec/secp256k1/v4", "github.com/libp2p/go-libp2p",
	"github.com/libp2p/go-libp2p-asn-util", "github.com/libp2p/go-libp2p/p2p/host/basic",
	"github.com/libp2p/go-libp2p/p2p/protocol/circuitv2/relay", "github.com/prometheus/client_model/go",
	"github.com/quic-go/quic-go", "go.uber.org/fx", "google.golang.org/protobuf/internal/impl",
}

// TestTabImports checks that what a volunteer downloads holds none of them. web's TestDownload, which needs the built
// page, looks at the bytes.
func TestTabImports(t *testing.T) {
	folder := t.TempDir()
	run(t, nil, "run", "./wasm/slim", folder)
	tab := append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	whole := strings.Fields(run(t, tab, "list", "-deps", "./wasm/tab"))
	if !slices.Contains(whole, "net/http") || !slices.Contains(whole, "crypto/x509") {
		t.Fatal("go list does not find what wasm/slim leaves out")
	}
	deps := strings.Fields(run(t, tab, "list", "-modfile="+filepath.Join(folder, "tab.mod"), "-deps", "./wasm/tab", "./wasm/worker"))
	if !slices.Contains(deps, "github.com/libp2p/go-libp2p/p2p/net/swarm") {
		t.Fatal("go list does not list what a tab imports")
	}
	for _, p := range heavy {
		if slices.Contains(deps, p) {
			t.Errorf("a tab's program imports %s; see which package imports it with go list -deps -json, and leave it to natives (docs/RATIONALE.md, What a tab leaves out)", p)
		}
	}
}

// run runs the go tool in the module's root.
func run(t *testing.T, env []string, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Env = root, env
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, said.String())
	}
	return string(out)
}
