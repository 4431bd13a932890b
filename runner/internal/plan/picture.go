package plan

import (
	_ "embed"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"mara/runner/internal/graph"
)

// The formats that show a plan as a picture: a file, and a page around it.
const (
	SVG  Format = "svg"
	HTML Format = "html"
)

// Pictures lists the names of these formats.
func Pictures() []string { return []string{string(SVG), string(HTML)} }

//go:embed picture.html
var pictureHTML string

// Draw shows a plan as a picture.
func Draw(p Plan, format Format) (string, error) {
	switch format {
	case SVG:
		return picture(p).File(), nil
	case HTML:
		return drawHTML(p)
	}
	return "", fmt.Errorf("unknown format %q of a picture; known: %s", format, strings.Join(Pictures(), ", "))
}

// picture turns steps into boxes and needs into edges.
func picture(p Plan) graph.Graph {
	g := graph.Graph{Title: treeTitle(p)}
	for _, s := range p.Steps {
		label := fmt.Sprintf("%s (%s), phase %s", s.Project.Title, s.Project.Name, s.Phase)
		if remark := s.remark(); remark != "" {
			label += "; " + remark
		}
		g.Nodes = append(g.Nodes, graph.Node{ID: s.Project.Name, Title: s.Project.Title, Text: s.Project.Name, Label: label})
		for _, name := range s.Needs() {
			g.Edges = append(g.Edges, graph.Edge{From: name, To: s.Project.Name, Dashed: !slices.Contains(s.Reads, name)})
		}
	}
	return g
}

// drawHTML puts the picture on a page of its own, with the steps as a table.
func drawHTML(p Plan) (string, error) {
	t, err := template.New("plan").Funcs(template.FuncMap{
		"join":  func(names []string) string { return strings.Join(names, ", ") },
		"hooks": func(s Step) string { return strings.Join(s.hooks(), ", ") },
		"place": func(s Step) int { return s.Index + 1 },
	}).Parse(pictureHTML)
	if err != nil {
		return "", fmt.Errorf("parsing the page's template: %w", err)
	}
	var b strings.Builder
	err = t.Execute(&b, struct {
		Plan
		Heading string
		Style   template.CSS
		Picture template.HTML
	}{p, treeTitle(p), graph.Colours + graph.Style, template.HTML(picture(p).SVG())}) // which escapes what it is given
	return b.String(), err
}
