package plan

import (
	_ "embed"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"mara/runner/internal/core/graph"
	"mara/runner/internal/machine/typeset"
)

//go:embed picture.css
var style string

//go:embed picture.html
var pictureHTML string

// picture turns steps into boxes and needs into edges. The critical path stands
// out, if it is known how long things take.
func picture(p Plan) graph.Graph {
	g := graph.Graph{Title: treeTitle(p)}
	path := p.CriticalPath(p.Estimates)
	if p.Estimates.known(path.Projects...) == 0 {
		path.Projects = nil
	}
	for _, s := range p.Steps {
		name := s.Project.Name
		text, label := name, fmt.Sprintf("%s (%s)", s.Project.Title, name)
		if s.Project.Title == name {
			text, label = string(s.Phase), name
		}
		if s.Phase != "" {
			label += ", phase " + string(s.Phase)
		}
		if estimate := p.Estimates.known(name); estimate > 0 {
			text += ", " + about(estimate)
			label += ", about " + about(estimate)
		}
		if remark := s.remark(); remark != "" {
			label += "; " + remark
		}
		on := slices.Index(path.Projects, name)
		node := graph.Node{ID: name, Title: s.Project.Title, Text: text, Label: label, Marked: on >= 0}
		p.News[name].Mark(&node)
		g.Nodes = append(g.Nodes, node)
		for _, need := range s.All() {
			g.Edges = append(g.Edges, graph.Edge{
				From: need, To: name, Dashed: !slices.Contains(s.Reads, need), Marked: on > 0 && path.Projects[on-1] == need,
			})
		}
	}
	return g
}

// renderHTML puts the picture on a page of its own, with the steps as a table.
func renderHTML(p Plan) (string, error) {
	t, err := template.New("plan").Funcs(template.FuncMap{
		"join":    func(names []string) string { return strings.Join(names, ", ") },
		"hooks":   func(s Step) string { return strings.Join(s.hooks(), ", ") },
		"visible": typeset.Visible,
		"place":   func(s Step) int { return s.Index + 1 },
		"about":   about,
		"known":   func(project string) string { return aboutOr(p.Estimates.known(project), "") },
	}).Parse(pictureHTML)
	if err != nil {
		return "", fmt.Errorf("parsing the page's template: %w", err)
	}
	path := p.CriticalPath(p.Estimates)
	path.Total = p.Estimates.known(path.Projects...)
	drawn := picture(p)
	sheet := graph.Style + drawn.Pointing() + style
	var b strings.Builder
	err = t.Execute(&b, struct {
		Plan
		Heading string
		Path    Path // the critical one
		Head    template.HTML
		Style   template.CSS
		Picture template.HTML
	}{p, treeTitle(p), path, template.HTML(graph.Head(sheet)), template.CSS(sheet),
		template.HTML(drawn.Still())}) // which escapes its texts
	return b.String(), err
}
