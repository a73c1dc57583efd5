package live

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"github.com/evoswarm/evoswarm/internal/peer"
)

var record = flag.Bool("live.record", false, "record a run that TestStates plays to the page, into testdata/stage/recorded.json")

// recording is what the workers of a tab told its page, and what its node answered.
type recording struct {
	Status    peer.Status       `json:"status"`
	Ways      []json.RawMessage `json:"ways"`
	Engine    string            `json:"engine"`
	Kernel    string            `json:"kernel"`
	Neighbors []json.RawMessage `json:"neighbors"`
	Curve     []json.RawMessage `json:"curve"`
	History   []json.RawMessage `json:"history"`
	Recent    []json.RawMessage `json:"recent"`
	Reel      json.RawMessage   `json:"reel"`
	Node      peer.Status       `json:"node"` // /api/status
	Runs      json.RawMessage   `json:"runs"` // /api/runs

}

// recordings is the file of the recording.
var recordings = filepath.Join("testdata", "stage", "recorded.json")

// TestRecord is no test of the page: with -live.record it records a run of a lander with two nodes and a tab, which
// TestStates plays. It fails if the page does not come to show something everywhere.
func TestRecord(t *testing.T) {
	if !*record {
		t.Skip("not a test: -live.record writes a new recording with it")
	}
	var s swarm
	n := s.serve(t, "node", "--bootstrap", "--train", "LunarLander-v3", "--train", "CartPole-v1", "--workers", "1")
	helper := s.serve(t, "helper", "join", n.page)
	s.await(t, "the helper joins", func() string { _, err := helper.status(); return errorText(err) })
	source, err := os.ReadFile(filepath.Join("testdata", "stage", "recorder.js"))
	if err != nil {
		t.Fatal(err)
	}
	b := s.newTab(t, "about:blank")
	b.open(t)
	if _, err := chromedp.Call(b.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: string(source)}); err != nil {
		t.Fatal(err)
	}
	st, err := n.status()
	if err != nil {
		t.Fatal(err)
	}
	b.do(t, "opening the page", chromedp.Navigate(n.page+"#"+st.Run))
	s.await(t, "four of its results moved the model", b.has(`document.querySelectorAll("#moves button").length === 4`))
	time.Sleep(20 * time.Second)
	text, err := ask[string](b, `(() => {
		const { tells, answers, reels } = recorded;
		const newest = (map, n) => [...map.values()].sort((a, b) => a.height - b.height).slice(-n);
		return JSON.stringify({
			status: tells.status.status, ways: tells.ways.ways, engine: tells.engine.engine, kernel: answers.kernel, neighbors: answers.neighbors,
			curve: answers.curve.slice(-30), history: newest(answers.history, 200), recent: newest(answers.recent, 40),
			reel: { fps: reels.at(-1).fps, frames: reels.flatMap((r) => r.frames).filter((f) => f.step === 60).slice(-1) },
		}, (_, value) => (typeof value === "number" ? Math.round(value * 1000) / 1000 : value));
	})()`)
	if err != nil {
		t.Fatal(err)
	}
	var r recording
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		t.Fatal(err)
	}
	r.Node, _ = n.status()
	if r.Runs, err = n.fetch(client, "/api/runs"); err != nil {
		t.Fatal(err)
	}
	data, err := json.MarshalIndent(r, "", " ")
	if err == nil {
		err = os.WriteFile(recordings, append(data, '\n'), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func errorText(err error) string {
	if err != nil {
		return err.Error()
	}
	return ""
}
