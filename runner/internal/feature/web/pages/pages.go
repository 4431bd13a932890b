// Package pages serves the pages of `runner web`. Each page is a package in this directory: it makes plain data from
// what package view knows, and has the template that shows it next to it. This package has the frame around them, the
// addresses, and the live parts. What is chosen stands in the address, and nothing is kept in the browser.
package pages

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"maps"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"mara/runner/internal/core/view"
	"mara/runner/internal/feature/web/feed"
	"mara/runner/internal/feature/web/page"
	"mara/runner/internal/feature/web/pages/ask"
	"mara/runner/internal/feature/web/pages/badges"
	"mara/runner/internal/feature/web/pages/checks"
	"mara/runner/internal/feature/web/pages/compare"
	"mara/runner/internal/feature/web/pages/environments"
	"mara/runner/internal/feature/web/pages/fleets"
	"mara/runner/internal/feature/web/pages/logs"
	"mara/runner/internal/feature/web/pages/runs"
)

//go:embed templates
var templates embed.FS

// Options configure the pages.
type Options struct {
	page.Site
	Watcher *feed.Watcher   // nil for pages that do not change, as in an export
	Stop    <-chan struct{} // ends the streams
	Cookie  string          // name of the cookie that tells browsers apart
}

// Pages serves the pages. A guard is in front of it.
type Pages struct {
	o          Options
	templates  *template.Template
	assets     assets
	mux        *http.ServeMux
	streams    *feed.Streams
	generation string
}

// all returns the pages of all packages.
func all() []page.Pages {
	return []page.Pages{fleets.Pages(), environments.Pages(), runs.Pages(), logs.Pages(), ask.Pages(), compare.Pages(),
		checks.Pages()}
}

// New returns the pages.
func New(o Options) (*Pages, error) {
	p := &Pages{o: o, assets: loadAssets(), generation: o.Reader.Deps().Now().UTC().Format(time.RFC3339Nano)}
	if o.Watcher != nil {
		p.o.Failure, p.o.Looked = o.Watcher.Failure, o.Watcher.Looked
		p.streams = feed.NewStreams(o.Watcher, p.render, p.generation, o.Stop)
	}
	parsed, err := template.New("").Funcs(p.o.Functions()).ParseFS(templates, "templates/*.html")
	routes := map[string]page.Show{"/keys": keys,
		"/": func(*page.Visit) (page.Content, error) { return page.Content{}, page.NotFound("there is no such page") }}
	for _, some := range all() {
		if err == nil {
			parsed, err = parsed.ParseFS(some.Templates, "*.html")
		}
		maps.Copy(routes, some.Routes)
	}
	if err != nil {
		return nil, fmt.Errorf("parsing the templates of the pages: %w", err)
	}
	p.templates = parsed
	p.route(routes)
	return p, nil
}

// route sets the addresses.
func (p *Pages) route(routes map[string]page.Show) {
	p.mux = http.NewServeMux()
	for pattern, show := range routes {
		p.mux.HandleFunc(pattern, p.page(show))
	}
	for pattern, answer := range map[string]func(*page.Site, http.ResponseWriter, *http.Request){
		"/badge/fleet.svg": badges.ServeFleet, "/badge/e/{name}": badges.ServeEnvironment,
		"/r/{run}/text/{project}": logs.Text, "/ask.csv": ask.CSV, "/metrics": writeMetrics,
	} {
		p.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) { answer(&p.o.Site, w, r) })
	}
	p.mux.HandleFunc("/a/{hash}/{name}", p.assets.serve)
	p.mux.HandleFunc("/favicon.ico", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNoContent) // a browser asks before it has the page
	})
	p.mux.HandleFunc("/live", p.live)
	p.mux.HandleFunc("/r/{run}/follow/{project}", p.follow)
	p.mux.HandleFunc("/rollout/{run}/follow/{project}", p.follow)
}

// live sends the state of a page when it changes.
func (p *Pages) live(w http.ResponseWriter, r *http.Request) {
	if p.streams == nil {
		http.NotFound(w, r)
		return
	}
	p.streams.Serve(w, r, p.cookie(r))
}

// cookie returns what tells the browser of a request apart from others.
func (p *Pages) cookie(r *http.Request) string {
	c, err := r.Cookie(p.o.Cookie)
	if err != nil {
		return ""
	}
	return c.Value
}

// follow sends the lines that a log gets.
func (p *Pages) follow(w http.ResponseWriter, r *http.Request) {
	follower, err := logs.Follow(&p.o.Site, r)
	if err != nil || p.streams == nil {
		http.NotFound(w, r)
		return
	}
	p.streams.ServeLines(w, r, p.cookie(r), func(at feed.Place) (string, feed.Place, string, error) {
		added, next, result, err := follower.Next(at)
		if err != nil || len(added.Lines) == 0 {
			return "", next, result, err
		}
		var out strings.Builder
		err = p.templates.ExecuteTemplate(&out, "loglines", added)
		return out.String(), next, result, err
	})
}

// writeMetrics answers Prometheus.
func writeMetrics(s *page.Site, w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", view.ContentType)
	_, _ = w.Write(view.Text(s.Reader.Fleet(), s.Version, s.AsOf()))
}

// keys shows the page of the keyboard.
func keys(*page.Visit) (page.Content, error) {
	return page.Content{Template: "keys.html", Title: "Keyboard"}, nil
}

// freshWithin is how long an answer waits for a look at the disk.
const freshWithin = 2 * time.Second

// ServeHTTP implements http.Handler.
func (p *Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if isStream := r.URL.Path == "/live" || strings.Contains(r.URL.Path, "/follow/"); p.o.Watcher != nil && !isStream &&
		!strings.HasPrefix(r.URL.Path, "/a/") {
		p.o.Watcher.Fresh(r.Context(), freshWithin)
	}
	p.mux.ServeHTTP(w, r)
}

// filePolicy is the Content-Security-Policy of a page that is a file. In such a page it cannot forbid frames.
const filePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; base-uri 'none'; " +
	"form-action 'self'"

// frame is what the frame of every page has.
type frame struct {
	page.Content
	Simulated  bool
	Root       string
	Version    string
	Generation string
	Main       template.HTML
	Policy     string // of a page that is a file
	Style      string
	Scripts    []string
	AsOf       string
}

// page returns a handler that shows a page with its frame.
func (p *Pages) page(show page.Show) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c, main := p.main(r, show)
		if c.To != "" {
			http.Redirect(w, r, c.To, http.StatusFound)
			return
		}
		if to, ok := r.Context().Value(mainOnly{}).(*feed.Page); ok { // of a stream
			to.Title, to.Main = c.Title, string(main)
			return
		}
		c.Live = c.Live && p.streams != nil
		f := frame{
			Content: c, Main: main, Simulated: p.o.Reader.Options().Simulation.On,
			Root: filepath.Base(p.o.Reader.Options().Root), Version: p.o.Version, Generation: p.generation,
			Style:   p.assets.address("style.css"),
			Scripts: []string{p.assets.address("idiomorph.min.js"), p.assets.address("page.js")},
			AsOf:    p.o.AsOf().UTC().Format("15:04:05"),
		}
		if p.o.Static {
			f.Refresh, f.Scripts, f.Policy = 0, f.Scripts[1:], filePolicy
			f.AsOf = p.o.Reader.Deps().Now().UTC().Format("2006-01-02 15:04:05")
		}
		var out bytes.Buffer
		if err := p.templates.ExecuteTemplate(&out, "frame.html", f); err != nil {
			http.Error(w, "the page cannot be made: "+err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if c.Code != 0 {
			w.WriteHeader(c.Code)
		}
		_, _ = out.WriteTo(w)
	}
}

// main renders what is between head and foot of a page. An error is a page, too.
func (p *Pages) main(r *http.Request, show page.Show) (page.Content, template.HTML) {
	c, err := show(p.o.Visited(r))
	if err != nil {
		c = failed(err)
	}
	if c.To != "" {
		return c, ""
	}
	var out bytes.Buffer
	if err := p.templates.ExecuteTemplate(&out, c.Template, c.Data); err != nil {
		out.Reset()
		c = failed(err)
		_ = p.templates.ExecuteTemplate(&out, c.Template, c.Data) // which shows an error as it is
	}
	return c, template.HTML(out.String()) // made by a template, which has escaped it
}

// failed returns the page of an error.
func failed(err error) page.Content {
	data := map[string]any{"Text": err.Error(), "Title": "This cannot be shown", "Next": ""}
	code := http.StatusInternalServerError
	if f, ok := errors.AsType[*page.Failure](err); ok {
		code = f.Code
	}
	if code == http.StatusNotFound {
		data["Title"] = "Not found"
	}
	var advised interface{ NextStep() string }
	if errors.As(err, &advised) {
		data["Next"] = advised.NextStep()
	}
	return page.Content{Template: "error.html", Title: fmt.Sprint(data["Title"]), Code: code, Data: data,
		Live: code == http.StatusNotFound} // what is asked for may have begun a moment ago
}

// mainOnly is the key of the page that a stream renders.
type mainOnly struct{}

// render renders the page of an address for a stream.
func (p *Pages) render(ctx context.Context, address string) (feed.Page, error) {
	u, err := url.ParseRequestURI(address)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(u.Path, "/") ||
		strings.HasPrefix(u.Path, "//") || strings.HasPrefix(u.Path, "/live") {
		return feed.Page{}, page.Wrong("no page %q", address)
	}
	var to feed.Page
	r, err := http.NewRequestWithContext(context.WithValue(ctx, mainOnly{}, &to), http.MethodGet, u.RequestURI(), nil)
	if err != nil {
		return feed.Page{}, err
	}
	p.mux.ServeHTTP(discard{}, r)
	return to, ctx.Err()
}

// discard is a writer of answers that go nowhere.
type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) Write(b []byte) (int, error) { return len(b), nil }
func (discard) WriteHeader(int)             {}
