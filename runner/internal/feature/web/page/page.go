// Package page has what the pages of `runner web` share: what a request asks for, what a page shows, errors with the
// code of an answer, and how values are written. Each page is a package in directory pages, next to its template.
package page

import (
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"time"

	"mara/runner/internal/core/view"
	"mara/runner/internal/feature/web/child"
)

// Site is what the pages of a root are made from.
type Site struct {
	Reader  *view.Reader
	Child   *child.Runner    // runs queries and rules
	Version string           // of the runner
	Failure func() error     // returns why the last look at the disk failed; nil if nothing looks
	Looked  func() time.Time // returns when what is known was read; nil for now
	Static  bool             // the pages are files: they do not change, and nothing can be asked
}

// Pages are the pages of a package.
type Pages struct {
	Routes    map[string]Show // by the pattern of their address
	Templates fs.FS
}

// Show makes the content of a page.
type Show func(*Visit) (Content, error)

// Visit is a request for a page.
type Visit struct {
	*http.Request
	*Site
	Query url.Values
	Fleet view.Fleet
	Now   time.Time
}

// Visited returns the visit of a request.
func (s *Site) Visited(r *http.Request) *Visit {
	return &Visit{Request: r, Site: s, Query: r.URL.Query(), Fleet: s.Reader.Fleet(), Now: s.Reader.Deps().Now()}
}

// AsOf returns when what is known was read.
func (s *Site) AsOf() time.Time {
	if s.Looked != nil {
		if looked := s.Looked(); !looked.IsZero() {
			return looked
		}
	}
	return s.Reader.Deps().Now()
}

// With returns the address of the page with some parts of the query changed: names and values in turn. A value ""
// removes the part.
func (r *Visit) With(changes ...string) string {
	query := maps.Clone(r.Query)
	for i := 0; i+1 < len(changes); i += 2 {
		query.Del(changes[i])
		if changes[i+1] != "" {
			query.Set(changes[i], changes[i+1])
		}
	}
	if len(query) == 0 {
		return r.URL.EscapedPath()
	}
	return r.URL.EscapedPath() + "?" + query.Encode()
}

// Content is what a page shows.
type Content struct {
	Template string
	Title    string
	Nav      string // entry of the navigation
	Live     bool   // it changes while it is open
	Refresh  int    // seconds after which a browser without script loads it again; 0 for never
	Code     int    // of the answer; 0 for 200
	To       string // the address to show instead
	Data     any
}

// Failure is an error with the code of an answer.
type Failure struct {
	Code int
	Text string
}

// Error returns the text.
func (e *Failure) Error() string { return e.Text }

// NotFound returns an error for something that does not exist.
func NotFound(format string, args ...any) error {
	return &Failure{http.StatusNotFound, fmt.Sprintf(format, args...)}
}

// Wrong returns an error for a request that makes no sense.
func Wrong(format string, args ...any) error {
	return &Failure{http.StatusBadRequest, fmt.Sprintf(format, args...)}
}
