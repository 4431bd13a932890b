// Package export writes the pages of `runner web` as files that work without a server, from a disk and below any path:
// links are relative, and what has no file is no link. It follows the links from the first page, as a browser would.
package export

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"mara/runner/internal/core/query"
	"mara/runner/internal/core/view"
	"mara/runner/internal/feature/web/page"
	"mara/runner/internal/feature/web/pages"
	"mara/runner/internal/feature/web/pages/badges"
	"mara/runner/internal/feature/web/pages/compare"
)

// Options say what is written.
type Options struct {
	page.Site
	Since time.Time // older runs have no page
}

// exporter collects files.
type exporter struct {
	handler http.Handler
	fleet   view.Fleet
	runs    map[string]bool // that have pages
	queries map[string]bool // named ones
	pairs   map[compare.Pair]bool
	files   map[string][]byte
	failed  []string // addresses
	next    []string // addresses whose pages are still to be made
	known   map[string]bool
}

// Written is what an export consists of.
type Written struct {
	Files  map[string][]byte // by path
	Failed []string          // addresses of pages that show an error
}

// Make makes the files of all pages.
func Make(ctx context.Context, o Options) (*Written, error) {
	o.Static = true
	p, err := pages.New(pages.Options{Site: o.Site})
	if err != nil {
		return nil, err
	}
	e := &exporter{handler: p, fleet: o.Reader.Fleet(), runs: map[string]bool{}, queries: map[string]bool{},
		pairs: map[compare.Pair]bool{}, files: map[string][]byte{}, known: map[string]bool{}}
	for _, pair := range compare.Pairs(e.fleet) {
		e.pairs[pair] = true
	}
	for _, run := range append(o.Reader.Runs.Runs(), o.Reader.Rollouts.Runs()...) {
		if !run.Started.Before(o.Since) {
			e.runs[run.ID] = true
		}
	}
	named, err := query.All(o.Reader.Options().Root)
	if err != nil {
		return nil, err
	}
	for _, q := range named {
		e.queries[q.Name] = page.IsAsked(q)
	}
	if err := e.crawl(ctx); err != nil {
		return nil, err
	}
	if err := e.others(o.Site); err != nil {
		return nil, err
	}
	e.hideRoot(o.Reader.Options().Root)
	return &Written{e.files, e.failed}, nil
}

// crawl makes the pages that can be reached from the first one.
func (e *exporter) crawl(ctx context.Context) error {
	for e.follow("/"); len(e.next) > 0; e.next = e.next[1:] {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		address := e.next[0]
		body, isPage := e.get(ctx, address)
		name := e.file(address)
		if isPage {
			var err error
			if body, err = e.relink(name, body); err != nil {
				return fmt.Errorf("%s: %w", address, err)
			}
		}
		e.files[name] = body
	}
	return nil
}

// get makes a page. One that shows an error is a page, too: a broken environment hides no other.
func (e *exporter) get(ctx context.Context, address string) (body []byte, isPage bool) {
	w := httptest.NewRecorder()
	e.handler.ServeHTTP(w, httptest.NewRequestWithContext(ctx, http.MethodGet, address, nil))
	if w.Code != http.StatusOK {
		e.failed = append(e.failed, address)
	}
	return w.Body.Bytes(), strings.HasPrefix(w.Header().Get("Content-Type"), "text/html")
}

// follow notes an address whose page is to be made.
func (e *exporter) follow(address string) {
	if name := e.file(address); name != "" && !e.known[name] {
		e.known[name] = true
		e.next = append(e.next, address)
	}
}

// others adds the files that no page links to: badges, metrics and the index for programs.
func (e *exporter) others(s page.Site) error {
	now := s.Reader.Deps().Now()
	badge, err := badges.Fleet(e.fleet, now)
	e.files["badge/fleet.svg"] = badge
	index := index{AsOf: now.UTC(), Simulated: e.fleet.Simulated, Environments: []indexed{}}
	for _, one := range e.fleet.Environments {
		content, badgeErr := badges.Environment(one, now)
		err = errors.Join(err, badgeErr)
		e.files["badge/e/"+safe(one.Name)+".svg"] = content
		index.Environments = append(index.Environments, indexed{Environment: one.Name, Provider: one.Provider,
			Wave: one.Wave, Labels: one.Labels, State: one.State, Reasons: one.Reasons,
			Page: e.file("/e/" + url.PathEscape(one.Name)), Badge: "badge/e/" + safe(one.Name) + ".svg"})
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetIndent("", "  ")
	err = errors.Join(err, encoder.Encode(index))
	e.files["index.json"], e.files["metrics.prom"] = out.Bytes(), view.Text(e.fleet, s.Version, now)
	return err
}

// index is index.json, which lists the environments for programs.
type index struct {
	AsOf         time.Time `json:"as_of"`
	Simulated    bool      `json:"simulated"`
	Environments []indexed `json:"environments"`
}

type indexed struct {
	Environment string            `json:"environment"`
	Provider    string            `json:"provider,omitempty"`
	Wave        string            `json:"wave,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
	State       view.State        `json:"state"`
	Reasons     []string          `json:"reasons,omitempty"`
	Page        string            `json:"page"`
	Badge       string            `json:"badge"`
}

// hideRoot replaces the path of the root, which says where and by whom the files were written.
func (e *exporter) hideRoot(root string) {
	if len(root) <= len(string(filepath.Separator)) {
		return
	}
	for name, content := range e.files {
		for _, text := range []string{root, html.EscapeString(root)} {
			content = bytes.ReplaceAll(content, []byte(text), []byte("."))
		}
		e.files[name] = content
	}
}
