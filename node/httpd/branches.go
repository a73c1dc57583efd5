package httpd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/evoswarm/evoswarm/internal/store"
)

// Branches are the branches of a run that a heavier one replaced.
type Branches interface {
	RenameBranch(from, to string) error
	RemoveBranch(name string) error
	// WriteBranch writes the chain that ends with a branch as a seed log.
	WriteBranch(name string, w io.Writer) error
}

// ErrOtherRun is returned for branches of a run that the node does not work on.
var ErrOtherRun = errors.New("the node works on another run")

// serveBranches adds POST /branches/rename and /branches/remove, and GET /branches/log.
func serveBranches(mux *http.ServeMux, c Control) {
	change := func(do func(b Branches, q url.Values) error) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			q := r.URL.Query()
			b, err := c.Branches(q.Get("run"))
			if err == nil {
				err = do(b, q)
			}
			if err != nil {
				http.Error(w, err.Error(), branchStatus(err))
				return
			}
			writeJSON(w, struct{}{})
		}
	}
	mux.HandleFunc("POST /branches/rename", change(func(b Branches, q url.Values) error { return b.RenameBranch(q.Get("name"), q.Get("to")) }))
	mux.HandleFunc("POST /branches/remove", change(func(b Branches, q url.Values) error { return b.RemoveBranch(q.Get("name")) }))
	mux.HandleFunc("GET /branches/log", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		b, err := c.Branches(q.Get("run"))
		out := &started{Writer: w}
		if err == nil {
			err = b.WriteBranch(q.Get("name"), out)
		}
		switch {
		case err == nil:
		case out.begun:
			panic(http.ErrAbortHandler) // so that the reader sees that it lacks the rest
		default:
			http.Error(w, err.Error(), branchStatus(err))
		}
	})
}

// started is a writer that knows whether anything was written.
type started struct {
	io.Writer
	begun bool
}

func (s *started) Write(b []byte) (int, error) {
	s.begun = true
	return s.Writer.Write(b)
}

// branchStatus is the HTTP status of a refusal.
func branchStatus(err error) int {
	switch {
	case errors.Is(err, store.ErrNoBranch), errors.Is(err, ErrOtherRun):
		return http.StatusNotFound
	case errors.Is(err, store.ErrBranchName):
		return http.StatusBadRequest
	}
	return http.StatusInternalServerError
}

// remoteBranches are those of the node that runs on a data folder.
type remoteBranches struct {
	ctx       context.Context
	data, run string
}

// RemoteBranches are the branches of a run at the node that works on it in a data folder. Their methods return
// ErrNotRunning if there is none.
func RemoteBranches(ctx context.Context, data, run string) Branches {
	return remoteBranches{ctx, data, run}
}

func (b remoteBranches) path(word string, q url.Values) string {
	q.Set("run", b.run)
	return "branches/" + word + "?" + q.Encode()
}

// RenameBranch implements [Branches].
func (b remoteBranches) RenameBranch(from, to string) error {
	return ask(b.ctx, b.data, "POST", b.path("rename", url.Values{"name": {from}, "to": {to}}), new(struct{}))
}

// RemoveBranch implements [Branches].
func (b remoteBranches) RemoveBranch(name string) error {
	return ask(b.ctx, b.data, "POST", b.path("remove", url.Values{"name": {name}}), new(struct{}))
}

// WriteBranch implements [Branches].
func (b remoteBranches) WriteBranch(name string, w io.Writer) error {
	resp, err := request(b.ctx, b.data, "GET", b.path("log", url.Values{"name": {name}}))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<12))
		return fmt.Errorf("the node refused to write the branch: %s", strings.TrimSpace(string(text)))
	}
	_, err = io.Copy(w, resp.Body)
	return err
}
