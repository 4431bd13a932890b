// Package compare has the page that compares two environments.
package compare

import (
	"embed"
	"fmt"
	"net/http"
	"slices"

	"mara/runner/internal/web/page"
	"mara/runner/internal/workflow/view"
)

//go:embed *.html
var templates embed.FS

// Pages returns the page that compares two environments.
func Pages() page.Pages {
	return page.Pages{Templates: templates, Routes: map[string]page.Show{
		"/compare": show,
	}}
}

// comparePage is what the comparison of two environments shows.
type comparePage struct {
	Names   []string
	A, B    string
	Found   *view.Differences
	Error   string
	Command string
}

// show shows the page that compares two environments.
func show(r *page.Visit) (page.Content, error) {
	data := comparePage{A: r.Query.Get("a"), B: r.Query.Get("b")}
	for _, e := range r.Fleet.Environments {
		data.Names = append(data.Names, e.Name)
	}
	code := 0
	if data.A != "" && data.B != "" {
		for _, name := range []string{data.A, data.B} {
			if !slices.Contains(data.Names, name) {
				data.Error, code = fmt.Sprintf("no environment %q", page.Visible(name)), http.StatusBadRequest
			}
		}
		if data.Error == "" {
			options := r.Reader.Options()
			found, err := view.Compare(r.Context(), r.Reader.Deps(), options, data.A, data.B)
			if data.Found = &found; err != nil {
				data.Error, data.Found, code = err.Error(), nil, http.StatusBadRequest
			}
			data.Command = r.Command("config", "diff", data.A, data.B)
		}
	}
	return page.Content{Template: "compare.html", Title: "Compare", Nav: "compare", Code: code, Data: &data}, nil
}
