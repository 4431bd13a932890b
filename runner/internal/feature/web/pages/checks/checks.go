// Package checks has the page of drift, rules and costs.
package checks

import (
	"embed"
	"slices"

	"mara/runner/internal/core/view"
	"mara/runner/internal/feature/web/page"
)

//go:embed *.html
var templates embed.FS

// Pages returns the page of drift, rules and costs.
func Pages() page.Pages {
	return page.Pages{Templates: templates, Routes: map[string]page.Show{"/checks": show}}
}

// checksPage is what the page shows.
type checksPage struct {
	Rows    []view.Environment
	Never   []string
	Void    int
	Judged  *page.Judged // nil if the rules are not asked for
	Bills   *page.Bills  // nil if the costs are not asked for
	Command string
	Rules   string // command that applies the rules
	Costs   string // command that estimates the costs
}

// show shows the page of the last comparisons with the clouds and, on request, of what rules find in the states and of
// what they cost.
func show(r *page.Visit) (page.Content, error) {
	data := checksPage{Command: r.Command("fleet", "drift", "--all"), Rules: r.Command("policy", "check"),
		Costs: r.Command("fleet", "costs")}
	for _, e := range r.Fleet.Environments {
		if e.Drift == nil {
			data.Never = append(data.Never, e.Name)
			continue
		}
		if e.Drift.Void {
			data.Void++
		}
		data.Rows = append(data.Rows, e)
	}
	slices.SortStableFunc(data.Rows, func(a, b view.Environment) int { return weight(b) - weight(a) })
	if r.Query.Get("rules") != "" || r.Static {
		data.Judged = new(r.Judge(""))
	}
	if r.Query.Get("costs") != "" || r.Static {
		data.Bills = new(r.Bill())
	}
	return page.Content{Template: "checks.html", Title: "Drift, rules and costs", Nav: "checks",
		Live: data.Judged == nil && data.Bills == nil, Data: data}, nil
}

// weight orders results of comparisons.
func weight(e view.Environment) int {
	if e.Drift.Void {
		return -1
	}
	return e.Drift.Resources()
}
