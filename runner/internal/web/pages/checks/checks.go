// Package checks has the page of drift, rules and costs.
package checks

import (
	"embed"
	"encoding/json"
	"errors"
	"slices"

	"mara/runner/internal/web/child"
	"mara/runner/internal/web/page"
	"mara/runner/internal/workflow/view"
)

//go:embed *.html
var templates embed.FS

// Pages returns the page of drift, rules and costs.
func Pages() page.Pages {
	return page.Pages{Templates: templates, Routes: map[string]page.Show{
		"/checks": show,
	}}
}

// checksPage is what the page of drift and policy shows.
type checksPage struct {
	Rows     []view.Environment
	Never    []string
	Void     int
	Asked    bool
	Findings []finding
	Error    string
	Command  string
}

// finding is what a rule has found in an environment.
type finding struct {
	Environment string `json:"environment"`
	Rule        string `json:"rule"`
	Level       string `json:"level"`
	Message     string `json:"message"`
	Project     string `json:"project"`
	Type        string `json:"type"`
	Name        string `json:"name"`
}

// show shows the page of the last comparisons with the clouds and, on request, of the rules.
func show(r *page.Visit) (page.Content, error) {
	data := checksPage{Asked: r.Query.Get("rules") != "", Command: r.Command("fleet", "drift")}
	for _, e := range r.Fleet.Environments {
		switch {
		case e.Drift == nil:
			data.Never = append(data.Never, e.Name)
		default:
			if e.Drift.Void {
				data.Void++
			}
			data.Rows = append(data.Rows, e)
		}
	}
	slices.SortStableFunc(data.Rows, func(a, b view.Environment) int {
		return weight(b) - weight(a)
	})
	if data.Asked {
		output, err := r.Child.Run(r.Context(), "policy", "check", "-o", "json")
		var found *child.FailedError
		if jsonErr := json.Unmarshal(output, &data.Findings); jsonErr != nil && err == nil {
			err = jsonErr
		} else if jsonErr == nil && errors.As(err, &found) && found.Text == "" {
			err = nil // findings that deny make it exit with a code
		}
		if err != nil {
			data.Error = err.Error()
		}
	}
	return page.Content{Template: "checks.html", Title: "Drift and policy", Nav: "checks", Live: !data.Asked, Refresh: 0,
		Data: &data}, nil
}

// weight orders results of comparisons.
func weight(e view.Environment) int {
	if e.Drift.Void {
		return -1
	}
	return e.Drift.Resources()
}
