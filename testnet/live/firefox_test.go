package live

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/coder/websocket/wsjson"
)

// firefox is a volunteer's Firefox with a profile of its own and one tab. It is driven through WebDriver BiDi, which
// Firefox speaks by itself.
type firefox struct {
	cmd     *exec.Cmd
	conn    *websocket.Conn
	context string // the tab
	serial  int
}

// newFirefox starts the browser.
func newFirefox(t *testing.T) *firefox {
	t.Helper()
	profile, err := os.MkdirTemp(programs, "firefox-")
	if err != nil {
		t.Fatal(err)
	}
	f := &firefox{cmd: exec.Command("firefox-esr", "--headless", "--no-remote", "--remote-debugging-port=0", "--profile", profile, "about:blank")}
	f.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // its children end with it
	said, err := f.cmd.StderrPipe()
	if err == nil {
		err = f.cmd.Start()
	}
	if err != nil {
		t.Fatalf("starting Firefox: %v", err)
	}
	t.Cleanup(func() {
		syscall.Kill(-f.cmd.Process.Pid, syscall.SIGKILL)
		f.cmd.Wait()
	})
	address := make(chan string, 1)
	go func() {
		for lines := bufio.NewScanner(said); lines.Scan(); {
			if _, found, ok := strings.Cut(lines.Text(), "WebDriver BiDi listening on "); ok {
				address <- found
			}
		}
	}()
	select {
	case a := <-address:
		f.connect(t, a+"/session")
	case <-time.After(patience):
		t.Fatal("Firefox does not say where it listens")
	}
	return f
}

func (f *firefox) connect(t *testing.T, url string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	conn, _, err := websocket.Dial(ctx, url, nil)
	if err != nil {
		t.Fatalf("connecting to Firefox: %v", err)
	}
	conn.SetReadLimit(16 << 20)
	f.conn = conn
	if _, err := f.call("session.new", map[string]any{"capabilities": map[string]any{"alwaysMatch": map[string]any{"acceptInsecureCerts": true}}}); err != nil {
		t.Fatal(err)
	}
	result, err := f.call("browsingContext.getTree", map[string]any{})
	var tree struct{ Contexts []struct{ Context string } }
	if err == nil {
		err = json.Unmarshal(result, &tree)
	}
	if err != nil || len(tree.Contexts) == 0 {
		t.Fatalf("Firefox has no tab: %s, %v", result, err)
	}
	f.context = tree.Contexts[0].Context
}

// call sends a command and waits for its answer; events are skipped.
func (f *firefox) call(method string, params map[string]any) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	f.serial++
	if err := wsjson.Write(ctx, f.conn, map[string]any{"id": f.serial, "method": method, "params": params}); err != nil {
		return nil, err
	}
	for {
		var answer struct {
			ID             int
			Type           string
			Result         json.RawMessage
			Error, Message string
		}
		if err := wsjson.Read(ctx, f.conn, &answer); err != nil {
			return nil, fmt.Errorf("%s: %w", method, err)
		}
		if answer.ID != f.serial {
			continue
		}
		if answer.Type != "success" {
			return nil, fmt.Errorf("%s: %s: %s", method, answer.Error, answer.Message)
		}
		return answer.Result, nil
	}
}

// open shows a page.
func (f *firefox) open(t *testing.T, url string) {
	t.Helper()
	if _, err := f.call("browsingContext.navigate", map[string]any{"context": f.context, "url": url, "wait": "complete"}); err != nil {
		t.Fatal(err)
	}
}

// text evaluates an expression in the page, whose value is a string.
func (f *firefox) text(expression string) (string, error) {
	result, err := f.call("script.evaluate", map[string]any{
		"expression": expression, "target": map[string]any{"context": f.context}, "awaitPromise": false})
	if err != nil {
		return "", err
	}
	var answer struct{ Result struct{ Value any } }
	if err := json.Unmarshal(result, &answer); err != nil {
		return "", err
	}
	text, ok := answer.Result.Value.(string)
	if !ok {
		return "", errors.New(string(result))
	}
	return text, nil
}
