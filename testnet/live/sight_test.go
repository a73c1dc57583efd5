package live

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// watchTasks notes the longest task on the page's thread from now on, and before as far as the browser remembers.
const watchTasks = `
	globalThis.longestTask = 0;
	new PerformanceObserver((list) => {
		for (const entry of list.getEntries()) longestTask = Math.max(longestTask, entry.duration);
	}).observe({ type: "longtask", buffered: true });`

// TestSights is what a volunteer sees of a run: the candidates as a cloud, the log, the mesh, and the own
// results that moved the model, one of which plays; then the whole log checked in the tab, and a certificate
// that evonode finds true.
func TestSights(t *testing.T) {
	var s swarm
	n := s.serve(t, "node", "--bootstrap", "--train", "LunarLander-v3", "--workers", "1")
	b := s.newTab(t, n.page)
	b.open(t)
	b.do(t, "watching tasks", chromedp.Evaluate[chromedp.Void](watchTasks))
	s.await(t, "the tab has evaluations in the log", func() string {
		if b.mark("evoswarm-first-claim") < 0 {
			return b.describe()
		}
		return ""
	})
	s.await(t, "the log is listed, with the tab's own results", b.has(`document.querySelectorAll("#entries li.own").length > 2`))
	s.await(t, "the cloud has the tab's own points", b.has(`/Yours among them: [1-9]/.test(document.getElementById("cloud-words").textContent)`))
	s.await(t, "the mesh has the node, who leads", b.has(`document.querySelectorAll("#mesh .node").length === 1 && /Peer .* leads/.test(document.getElementById("mesh").textContent)`))
	s.await(t, "one of its results moved the model", b.has(`document.querySelector("#moves button") !== null`))
	b.picture(t, "sights")

	b.do(t, "choosing a candidate", chromedp.Evaluate[chromedp.Void](`document.querySelector("#moves button").click()`))
	s.await(t, "it plays", b.reads("Your candidate of generation"))
	still := b.canvas(t)
	s.await(t, "it moves", func() string {
		if bytes.Equal(b.canvas(t), still) {
			return "the picture does not change"
		}
		return ""
	})
	b.do(t, "going back", chromedp.Click("#back"))
	s.await(t, "the policy plays again", b.reads("Policy of generation"))

	began := time.Now()
	b.do(t, "checking everything", chromedp.Evaluate[chromedp.Void](`document.getElementById("check").click()`))
	s.await(t, "every generation is true", b.reads("True: all "))
	words, _ := ask[string](b, `document.getElementById("check-words").textContent`)
	t.Logf("checked in %.1f s: %s", time.Since(began).Seconds(), words)

	b.do(t, "downloading the certificate", chromedp.Evaluate[chromedp.Void](`document.getElementById("certificate").click()`))
	certificate := filepath.Join(t.TempDir(), "contribution.json")
	if err := os.Rename(s.downloaded(t, ".json"), certificate); err != nil {
		t.Fatal(err)
	}
	said := string(command(t, evonode(t), "contribution", certificate, s.download(t)))
	if !strings.HasPrefix(said, "true: key ") || strings.Contains(said, " made 0 of ") {
		t.Errorf("the certificate is %s", said)
	} else {
		t.Log(said)
	}

	ms, err := ask[float64](b, "longestTask")
	if longest := time.Duration(ms * float64(time.Millisecond)); err != nil || longest > longTask {
		t.Errorf("the longest task on the page's thread took %v, %v", longest, err)
	} else {
		t.Logf("the longest task on the page's thread took %v", longest)
	}
	rows, err := ask[float64](b, `document.getElementById("entries").childElementCount`)
	if err != nil || rows > 80 {
		t.Errorf("the list of entries has %v rows, %v", rows, err)
	}
}

// TestSolved: the page says that the run is solved, once with confetti, and gives the policy as a file that evonode
// reads.
func TestSolved(t *testing.T) {
	var s swarm
	n := s.serve(t, "node", "--bootstrap", "--train", "CartPole-v1", "--until", "solved")
	b := s.newTab(t, n.page)
	b.open(t)
	s.await(t, "the page says that the run is solved", b.has(`!document.getElementById("solved").hidden`))
	s.await(t, "it says of which environment", b.reads("CartPole-v1 is solved"))
	b.picture(t, "solved")
	s.await(t, "the policy can be downloaded", b.has(`!document.getElementById("policy").disabled`))
	b.do(t, "downloading it", chromedp.Click("#solved [data-policy]"))
	name := s.downloaded(t, ".safetensors")
	var e struct{ Mean float64 }
	if err := json.Unmarshal(command(t, evonode(t), "eval", name, "--episodes", "100", "--json"), &e); err != nil || e.Mean < 475 {
		t.Errorf("the policy that was downloaded returns %v, %v", e.Mean, err)
	}
	if data, err := os.ReadFile(name); err != nil || !bytes.Contains(data, []byte("CartPole-v1")) {
		t.Errorf("the file does not name its environment: %v", err)
	}
	s.await(t, "the confetti is gone", b.has(`document.querySelector(".confetti") === null`))
}

// downloaded waits for a file that ends so, and returns its name.
func (s *swarm) downloaded(t *testing.T, ending string) (name string) {
	t.Helper()
	b := s.tab
	s.await(t, "the file is downloaded", func() string {
		for f := range b.files() {
			if strings.HasSuffix(f, ending) {
				name = filepath.Join(b.downloads, f)
				return ""
			}
		}
		return fmt.Sprintf("the folder has %v", b.files())
	})
	return name
}

// has says what is missing until an expression holds in the page.
func (b *tab) has(expression string) func() string {
	return func() string {
		if ok, err := ask[bool](b, expression); err != nil || !ok {
			return fmt.Sprint(err, " ", b.describe())
		}
		return ""
	}
}
