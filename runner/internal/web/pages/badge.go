package pages

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"mara/runner/internal/machine/typeset"
	"mara/runner/internal/workflow/metrics"
	"mara/runner/internal/workflow/view"
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
		"changed":   "#5a3fb0",
		"succeeded": "#17753a", "never": "#5f6977"}
	left, right = visible(short(left, 60)), visible(short(right, 60))
	b := badge{Left: left, Right: right, LeftW: width(left), RightW: width(right), Colour: colours[class(state)],
		AsOf: now.UTC().Format("2006-01-02 15:04 UTC")}
	b.W, b.LeftX, b.RightX = b.LeftW+b.RightW, b.LeftW/2, b.LeftW+b.RightW/2
	return b
}

// fleetWords returns what the badge of all environments says.
func fleetWords(f view.Fleet) (text string, worst view.State) {
	worst = view.UpToDate
	for _, e := range f.Environments {
		if e.State.Rank() < worst.Rank() {
			worst = e.State
		}
	}
	n := f.Counts()[view.UpToDate]
	if len(f.Environments) == 0 || f.Compared.IsZero() {
		return "not known", view.Unknown
	}
	return fmt.Sprintf("%d of %d up to date", n, len(f.Environments)), worst
}

func (p *Pages) fleetBadge(w http.ResponseWriter, _ *http.Request) {
	text, worst := fleetWords(p.o.Reader.Fleet())
	p.writeBadge(w, newBadge("mara", text, worst, p.o.Reader.Deps().Now()))
}

func (p *Pages) environmentBadge(w http.ResponseWriter, r *http.Request) {
	name, isSVG := strings.CutSuffix(r.PathValue("name"), ".svg")
	e, ok := p.o.Reader.Fleet().Named(name)
	if !ok || !isSVG {
		http.NotFound(w, r)
		return
	}
	p.writeBadge(w, newBadge(e.Name, string(e.State), e.State, p.o.Reader.Deps().Now()))
}

func (p *Pages) writeBadge(w http.ResponseWriter, b badge) {
	w.Header().Set("Content-Type", "image/svg+xml")
	if err := p.templates.ExecuteTemplate(w, "badge.html", b); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// metrics answers Prometheus.
func (p *Pages) metrics(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", metrics.ContentType)
	_, _ = w.Write(metrics.Text(p.o.Reader.Fleet(), p.o.Version, p.o.Reader.Deps().Now()))
}
