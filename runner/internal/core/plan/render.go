package plan

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"mara/config/lists"
	"mara/projects/model"
	"mara/projects/model/operation"
	"mara/runner/internal/machine/typeset"
)

// Format is a way to show a plan.
type Format string

// The formats of a plan.
const (
	Tree    Format = "tree"
	Table   Format = "table"
	JSON    Format = "json"
	DOT     Format = "dot"
	Mermaid Format = "mermaid"
	SVG     Format = "svg"  // a picture
	HTML    Format = "html" // a page with the picture
)

// Formats lists the names of the formats.
func Formats() []string {
	return []string{string(Tree), string(Table), string(JSON), string(DOT), string(Mermaid), string(SVG), string(HTML)}
}

// Render shows a plan as text that ends with a line break. What is for people
// fits into a width; zero wraps nothing.
func Render(p Plan, format Format, width int) (string, error) {
	switch format {
	case Tree:
		return typeset.Visible(renderTree(p, width) + renderOutline(p, width)), nil
	case Table:
		return typeset.Visible(renderTable(p, width) + renderOutline(p, width)), nil
	case JSON:
		return renderJSON(p)
	case DOT:
		return renderDOT(p), nil
	case Mermaid:
		return renderMermaid(p), nil
	case SVG:
		return picture(p).File(), nil
	case HTML:
		return renderHTML(p)
	}
	return "", fmt.Errorf("unknown format %q of a plan; known: %s", format, strings.Join(Formats(), ", "))
}

// operation returns the operation of the plan.
func (p Plan) operation() operation.Operation {
	if p.Destroy {
		return operation.Destroy
	}
	return operation.Up
}

func renderTable(p Plan, width int) string {
	table := typeset.Table{Columns: []typeset.Column{
		{Title: "#"}, {Title: "PROJECT", Min: 12, Middle: true}, {Title: "TITLE", Optional: true},
		{Title: "PHASE", Optional: true},
		{Title: "LEVEL"}, {Title: "ABOUT"}, {Title: "READS", Min: 12}, {Title: "AFTER", Min: 12, Optional: true},
		{Title: "HOOKS", Optional: true},
	}}
	levels := p.levels()
	for i, s := range p.Steps {
		name := s.Project.Name
		table.Rows = append(table.Rows, []string{
			strconv.Itoa(s.Index + 1), name, s.Project.Title, string(s.Phase), strconv.Itoa(levels[i]),
			aboutOr(p.Estimates.known(name), "-"),
			list(s.Reads), list(s.After), list(s.hooks()),
		})
	}
	return table.Text(width)
}

// list joins names with commas; it returns a hyphen for none.
func list(names []string) string {
	if len(names) == 0 {
		return "-"
	}
	return strings.Join(names, ",")
}

// hooks returns the names of the step's hooks.
func (s Step) hooks() []string {
	return append([]string{}, lists.Map(s.Hooks, func(hook model.Hook) string { return hook.Name })...)
}

// Document is the JSON form of a plan.
type Document struct {
	Version   int                 `json:"version"`
	Provider  string              `json:"provider"`
	Title     string              `json:"title"`
	Operation operation.Operation `json:"operation"` // up or destroy
	Steps     []DocumentStep      `json:"steps"`
	// CriticalPath is the chain of steps that takes longest.
	CriticalPath DocumentPath       `json:"critical_path"`
	Excluded     []DocumentExcluded `json:"excluded,omitempty"`
}

// DocumentPath is the JSON form of a chain of steps.
type DocumentPath struct {
	Projects []string `json:"projects"`
	// EstimateMS is missing where the time of a project is not known.
	EstimateMS int64 `json:"estimate_ms,omitzero"`
}

// DocumentExcluded is the JSON form of a skipped step.
type DocumentExcluded struct {
	Project string `json:"project"`
	Reason  string `json:"reason"`
}

// DocumentStep is the JSON form of a step.
type DocumentStep struct {
	Index   int      `json:"index"` // from 0
	Project string   `json:"project"`
	Title   string   `json:"title"`
	Path    string   `json:"path"`
	Phase   Phase    `json:"phase"`
	Reads   []string `json:"reads"`
	After   []string `json:"after"`
	Hooks   []string `json:"hooks"`
	// Level is how many others have to run one after another up to this one.
	Level      int   `json:"level"`                // from 1
	EstimateMS int64 `json:"estimate_ms,omitzero"` // missing where it is not known
}

// documentVersion changes when a field changes its meaning or goes away.
const documentVersion = 1

func renderJSON(p Plan) (string, error) {
	path := p.CriticalPath(p.Estimates)
	document := Document{
		Version: documentVersion, Provider: p.Provider, Title: p.Title, Operation: p.operation(), Steps: []DocumentStep{},
		CriticalPath: DocumentPath{
			Projects:   append([]string{}, path.Projects...),
			EstimateMS: p.Estimates.known(path.Projects...).Milliseconds(),
		},
	}
	document.Excluded = lists.Map(p.Excluded, func(e Excluded) DocumentExcluded {
		return DocumentExcluded{e.Step.Project.Name, e.Reason}
	})
	levels := p.levels()
	for i, s := range p.Steps {
		document.Steps = append(document.Steps, DocumentStep{
			Index: s.Index, Project: s.Project.Name, Title: s.Project.Title, Path: s.Project.Directory(), Phase: s.Phase,
			Reads: append([]string{}, s.Reads...), After: append([]string{}, s.After...), Hooks: s.hooks(),
			Level: levels[i], EstimateMS: p.Estimates.known(s.Project.Name).Milliseconds(),
		})
	}
	text, err := json.MarshalIndent(document, "", "  ")
	return string(text) + "\n", err
}
