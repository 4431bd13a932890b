// Package pages renders the pages of `runner web`. Each address has a function that makes plain data from what package
// view knows, and a template that shows it; both are used for the page itself, for its live parts and for its export.
// What is chosen stands in the address, and nothing is kept in the browser.
package pages

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"mara/runner/internal/machine/typeset"
	"mara/runner/internal/web/feed"
	"mara/runner/internal/workflow/view"
)

//go:embed templates
var templates embed.FS

// Command runs the runner itself, for what takes time and memory of its own.
type Command func(ctx context.Context, args ...string) (stdout []byte, err error)

// Options configure the pages.
type Options struct {
	Reader  *view.Reader
	Watcher *feed.Watcher // nil for pages that do not change, as in an export
	Run     Command
	Version string
	Stop    <-chan struct{} // ends the streams
	Cookie  string          // name of the cookie that tells browsers apart
}

// Pages serves the pages. It is behind a guard.
type Pages struct {
	o          Options
	templates  *template.Template
	assets     assets
	mux        *http.ServeMux
	streams    *feed.Streams
	generation string
	turns      chan struct{} // of commands
}

// New returns the pages.
func New(o Options) (*Pages, error) {
	p := &Pages{o: o, assets: loadAssets(), generation: o.Reader.Deps().Now().UTC().Format(time.RFC3339Nano),
		turns: make(chan struct{}, mostCommands)}
	var err error
	if p.templates, err = template.New("").Funcs(p.functions()).ParseFS(templates, "templates/*.html"); err != nil {
		return nil, fmt.Errorf("parsing the templates of the pages: %w", err)
	}
	if o.Watcher != nil {
		p.streams = feed.NewStreams(o.Watcher, p.render, p.generation, o.Stop)
	}
	p.mux = p.routes()
	return p, nil
}

// routes returns the addresses.
func (p *Pages) routes() *http.ServeMux {
	mux := http.NewServeMux()
	for pattern, show := range map[string]func(*visit) (content, error){
		"/{$}": p.fleet, "/e/{environment}": p.overview, "/e/{environment}/{tab}": p.tab,
		"/e/{environment}/p/{project}": p.project, "/runs": p.runs, "/r/{run}": p.run, "/rollout/{run}": p.rollout,
		"/r/{run}/log/{project}": p.log, "/rollout/{run}/log/{project}": p.log,
		"/ask": p.ask, "/compare": p.compare, "/checks": p.checks, "/keys": p.keys,
	} {
		mux.HandleFunc(pattern, p.page(show))
	}
	mux.HandleFunc("/a/{hash}/{name}", p.assets.serve)
	mux.HandleFunc("/badge/fleet.svg", p.fleetBadge)
	mux.HandleFunc("/badge/e/{name}", p.environmentBadge)
	mux.HandleFunc("/metrics", p.metrics)
	mux.HandleFunc("/favicon.ico", func(w http.ResponseWriter, _ *http.Request) { // a browser asks before it has the page
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("/r/{run}/text/{project}", p.logText)
	mux.HandleFunc("/ask.csv", p.askCSV)
	mux.HandleFunc("/live", func(w http.ResponseWriter, r *http.Request) {
		cookie := ""
		if c, err := r.Cookie(p.o.Cookie); err == nil {
			cookie = c.Value
		}
		p.streams.Serve(w, r, cookie)
	})
	mux.HandleFunc("/", p.page(func(*visit) (content, error) { return content{}, notFound("there is no such page") }))
	return mux
}

// ServeHTTP implements http.Handler.
func (p *Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if p.o.Watcher != nil {
		p.o.Watcher.Visit()
	}
	p.mux.ServeHTTP(w, r)
}

// visit is a request for a page.
type visit struct {
	*http.Request
	query url.Values
	fleet view.Fleet
	now   time.Time
}

// content is what a page shows.
type content struct {
	template string
	title    string
	nav      string // entry of the navigation
	live     bool   // it changes while it is open
	refresh  int    // seconds after which a browser without script loads it again; 0 for never
	code     int    // of the answer; 0 for 200
	to       string // the address to show instead
	data     any
}

// page is what the frame of every page has.
type page struct {
	content
	Title, Nav  string
	Live        bool
	Refresh     int
	Simulated   bool
	Root        string
	Version     string
	Generation  string
	Main        template.HTML
	Style       string
	Scripts     []string
	Problem     string
	AsOf        string
	Environment string
}

// page returns a handler that shows a page with its frame.
func (p *Pages) page(show func(*visit) (content, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c, main := p.main(r, show)
		if c.to != "" {
			http.Redirect(w, r, c.to, http.StatusFound)
			return
		}
		if to, ok := r.Context().Value(mainOnly{}).(*feed.Page); ok { // of a stream
			to.Title, to.Main = c.title, string(main)
			return
		}
		frame := page{
			Title: c.title, Nav: c.nav, Live: c.live && p.streams != nil, Refresh: c.refresh, Main: main,
			Simulated: p.o.Reader.Options().Simulation.On, Root: filepath.Base(p.o.Reader.Options().Root),
			Version: p.o.Version, Generation: p.generation, Style: p.assets.address("style.css"),
			Scripts: []string{p.assets.address("idiomorph.min.js"), p.assets.address("page.js")},
			AsOf:    p.o.Reader.Deps().Now().UTC().Format("15:04:05"),
		}
		var out bytes.Buffer
		if err := p.templates.ExecuteTemplate(&out, "frame.html", frame); err != nil {
			http.Error(w, "the page cannot be made: "+err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if c.code != 0 {
			w.WriteHeader(c.code)
		}
		_, _ = out.WriteTo(w)
	}
}

// main renders what is between head and foot of a page. An error is a page, too.
func (p *Pages) main(r *http.Request, show func(*visit) (content, error)) (content, template.HTML) {
	query := r.URL.Query()
	req := &visit{Request: r, query: query, fleet: p.o.Reader.Fleet(), now: p.o.Reader.Deps().Now()}
	c, err := show(req)
	if err != nil {
		c = p.failed(err)
	}
	if c.to != "" {
		return c, ""
	}
	var out bytes.Buffer
	if err := p.templates.ExecuteTemplate(&out, c.template, c.data); err != nil {
		out.Reset()
		c = p.failed(err)
		_ = p.templates.ExecuteTemplate(&out, c.template, c.data) // which shows an error as it is
	}
	return c, template.HTML(out.String()) // made by a template, which has escaped it
}

// failure is an error with the code of an answer.
type failure struct {
	code int
	text string
}

func (e *failure) Error() string { return e.text }

func notFound(format string, args ...any) error {
	return &failure{http.StatusNotFound, fmt.Sprintf(format, args...)}
}

func wrong(format string, args ...any) error {
	return &failure{http.StatusBadRequest, fmt.Sprintf(format, args...)}
}

// failed returns the page of an error.
func (p *Pages) failed(err error) content {
	data := map[string]any{"Text": err.Error(), "Title": "This cannot be shown", "Next": ""}
	code := http.StatusInternalServerError
	var f *failure
	if errors.As(err, &f) {
		code = f.code
	}
	if code == http.StatusNotFound {
		data["Title"] = "Not found"
	}
	var advised interface{ NextStep() string }
	if errors.As(err, &advised) {
		data["Next"] = advised.NextStep()
	}
	return content{template: "error.html", title: fmt.Sprint(data["Title"]), code: code, data: data}
}

// mainOnly is the key of the page that a stream renders.
type mainOnly struct{}

// render renders the page of an address for a stream.
func (p *Pages) render(ctx context.Context, address string) (feed.Page, error) {
	u, err := url.ParseRequestURI(address)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(u.Path, "/") || strings.HasPrefix(u.Path,
		"//") ||
		strings.HasPrefix(u.Path, "/live") {
		return feed.Page{}, wrong("no page %q", address)
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

// Get renders a page as a browser would get it, for an export.
func (p *Pages) Get(address string) (body []byte, code int) {
	w := httptest.NewRecorder()
	p.mux.ServeHTTP(w, httptest.NewRequest(http.MethodGet, address, nil))
	body, _ = io.ReadAll(w.Body)
	return body, w.Code
}

// functions returns what templates call.
func (p *Pages) functions() template.FuncMap {
	return template.FuncMap{
		"ago": func(t time.Time) string { return ago(p.o.Reader.Deps().Now(), t) }, "when": when, "took": took,
		"visible": visible, "path": url.PathEscape, "query": url.QueryEscape, "counted": typeset.Counted,
		"class": class, "link": link, "command": p.command, "sign": sign, "value": showValue, "short": short,
		"join":  func(all []string) string { return strings.Join(all, ", ") },
		"add":   func(a, b int) int { return a + b },
		"first": firstOf,
		"title": capital, "secret": isSecret, "shown": view.Show,
		"advise": func(why string, words ...string) advice { return advice{why, p.command(words...)} },
		"share": func(progress [2]int) string {
			return fmt.Sprintf("%.1f%%", 100*float64(progress[0])/float64(max(progress[1], 1)))
		},
	}
}
