// Package compare has the page that compares two environments.
package compare

import (
	"cmp"
	"embed"
	"fmt"
	"net/http"
	"net/url"
	"slices"

	"mara/config/lists"
	"mara/runner/internal/core/fleet"
	"mara/runner/internal/core/view"
	"mara/runner/internal/feature/web/page"
)

//go:embed *.html
var templates embed.FS

// Pages returns the page that compares two environments.
func Pages() page.Pages {
	return page.Pages{Templates: templates, Routes: map[string]page.Show{"/compare": show}}
}

// Pair is two environments that are next to each other in the order of the waves: what one gets, the other gets next.
type Pair struct{ A, B string }

// Address returns the address of the comparison.
func (p Pair) Address() string { return "/compare?" + url.Values{"a": {p.A}, "b": {p.B}}.Encode() }

// Pairs returns all pairs of a fleet. Environments whose files are broken have none.
func Pairs(f view.Fleet) []Pair {
	ordered := slices.Clone(f.Environments)
	ordered = slices.DeleteFunc(ordered, func(e view.Environment) bool { return e.Error != "" })
	order := func(e view.Environment) int {
		if i := slices.IndexFunc(f.Waves, func(w fleet.Wave) bool { return w.Name == e.Wave }); i >= 0 {
			return i
		}
		return len(f.Waves)
	}
	slices.SortStableFunc(ordered, func(a, b view.Environment) int {
		return cmp.Or(cmp.Compare(order(a), order(b)), cmp.Compare(a.Name, b.Name))
	})
	var pairs []Pair
	for i := 1; i < len(ordered); i++ {
		pairs = append(pairs, Pair{ordered[i-1].Name, ordered[i].Name})
	}
	return pairs
}

// comparePage is what the comparison of two environments shows.
type comparePage struct {
	Names   []string
	Pairs   []Pair // to choose from, while nothing is chosen
	A, B    string
	Found   *view.Differences
	Error   string
	Command string
}

// show shows the page that compares two environments.
func show(r *page.Visit) (page.Content, error) {
	data := comparePage{A: r.Query.Get("a"), B: r.Query.Get("b")}
	data.Names = lists.Map(r.Fleet.Environments, func(e view.Environment) string { return e.Name })
	if data.A == "" && data.B == "" {
		data.Pairs = Pairs(r.Fleet)
	}
	code := 0
	if data.A != "" && data.B != "" {
		for _, name := range []string{data.A, data.B} {
			if !slices.Contains(data.Names, name) {
				data.Error, code = fmt.Sprintf("no environment %q", page.Visible(name)), http.StatusBadRequest
			}
		}
		if data.Error == "" {
			found, err := view.Compare(r.Context(), r.Reader.Deps(), r.Reader.Options(), data.A, data.B)
			if data.Found = &found; err != nil {
				data.Error, data.Found, code = err.Error(), nil, http.StatusBadRequest
			}
			data.Command = r.Command("config", "diff", data.A, data.B)
		}
	}
	return page.Content{Template: "compare.html", Title: "Compare", Nav: "compare", Code: code, Data: &data}, nil
}
