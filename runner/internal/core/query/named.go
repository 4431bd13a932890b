package query

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

//go:embed queries/*.jq
var shipped embed.FS

// Directory has the user's queries, below the root.
const Directory = "queries"

// Named is a query in a file, which has a name.
type Named struct {
	Name    string   `json:"name"`
	Summary string   `json:"summary"`
	File    string   `json:"file,omitempty"` // "" for a shipped query
	State   bool     `json:"state"`          // it reads the states
	Live    bool     `json:"live"`           // it reads the objects in the clusters
	Kinds   []string `json:"kinds,omitempty"`
	Source  string   `json:"-"`
}

// All lists the shipped queries and the queries of the root, which override shipped ones of
// the same name.
func All(root string) ([]Named, error) {
	dir := ""
	if root != "" {
		dir = filepath.Join(root, Directory)
	}
	files, err := Files(dir, shipped, "queries")
	if err != nil {
		return nil, err
	}
	var all []Named
	for _, file := range files {
		if errors.Is(file.Err, fs.ErrNotExist) {
			continue
		}
		if file.Err != nil {
			return nil, fmt.Errorf("reading the query %s: %w", file.Name, file.Err)
		}
		n := Named{Name: file.Name, File: file.Path, Source: file.Source}
		n.readComment()
		all = append(all, n)
	}
	slices.SortFunc(all, func(a, b Named) int { return cmp.Compare(a.Name, b.Name) })
	return all, nil
}

// readComment parses the first comment of a query: a summary, and what the query reads.
func (n *Named) readComment() {
	n.State = true
	for line := range strings.Lines(n.Source) {
		text, ok := strings.CutPrefix(strings.TrimSpace(line), "#")
		if !ok {
			return
		}
		text = strings.TrimSpace(text)
		if reads, ok := strings.CutPrefix(text, "reads:"); ok {
			sources := list(reads)
			n.State, n.Live = slices.Contains(sources, "state"), slices.Contains(sources, "live")
		} else if kinds, ok := strings.CutPrefix(text, "kinds:"); ok {
			n.Kinds = list(kinds)
		} else if n.Summary == "" {
			n.Summary = text
		}
	}
}

func list(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ' ' })
}
