// Package badges has small pictures that say a state, for environments and for all of them.
package badges

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"net/http"
	"strings"
	"time"

	"mara/runner/internal/core/view"
	"mara/runner/internal/feature/web/page"
	"mara/runner/internal/machine/typeset"
)

// badge is a small picture that says a state.
type badge struct {
	Left, Right      string
	LeftW, RightW, W int
	LeftX, RightX    int
	Colour, AsOf     string
}

// newBadge makes a badge. Widths are generous: no font is known.
func newBadge(left, right string, state view.State, now time.Time) badge {
	const char, padding = 7, 12
	width := func(text string) int { return typeset.Cells(text)*char + padding }
	colours := map[string]string{"failed": "#bd1c2b", "cancelled": "#8f5400", "running": "#0b5cad",
		"changed": "#5a3fb0", "succeeded": "#17753a", "never": "#5f6977"}
	left, right = page.Visible(page.Short(left, 60)), page.Visible(page.Short(right, 60))
	b := badge{Left: left, Right: right, LeftW: width(left), RightW: width(right), Colour: colours[page.Class(state)],
		AsOf: now.UTC().Format("2006-01-02 15:04 UTC")}
	b.W, b.LeftX, b.RightX = b.LeftW+b.RightW, b.LeftW/2, b.LeftW+b.RightW/2
	return b
}

// Fleet returns the badge of all environments, as SVG.
func Fleet(f view.Fleet, now time.Time) ([]byte, error) {
	if len(f.Environments) == 0 || f.Compared.IsZero() {
		return newBadge("mara", "not known", view.Unknown, now).draw()
	}
	worst := view.UpToDate
	for _, e := range f.Environments {
		if e.State.Rank() < worst.Rank() {
			worst = e.State
		}
	}
	text := fmt.Sprintf("%d of %d up to date", f.Counts()[view.UpToDate], len(f.Environments))
	return newBadge("mara", text, worst, now).draw()
}

// Environment returns the badge of an environment, as SVG.
func Environment(e view.Environment, now time.Time) ([]byte, error) {
	return newBadge(e.Name, string(e.State), e.State, now).draw()
}

//go:embed badge.html
var picture string

// draw draws the badge.
func (b badge) draw() ([]byte, error) {
	t, err := template.New("badge").Parse(picture)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = t.Execute(&out, b)
	return out.Bytes(), err
}

// ServeFleet answers with the badge of all environments.
func ServeFleet(s *page.Site, w http.ResponseWriter, _ *http.Request) {
	content, err := Fleet(s.Reader.Fleet(), s.AsOf())
	write(w, content, err)
}

// ServeEnvironment answers with the badge of the environment that the address names.
func ServeEnvironment(s *page.Site, w http.ResponseWriter, r *http.Request) {
	name, isSVG := strings.CutSuffix(r.PathValue("name"), ".svg")
	e, ok := s.Reader.Fleet().Named(name)
	if !ok || !isSVG {
		http.NotFound(w, r)
		return
	}
	content, err := Environment(*e, s.AsOf())
	write(w, content, err)
}

func write(w http.ResponseWriter, content []byte, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "image/svg+xml")
	_, _ = w.Write(content)
}
