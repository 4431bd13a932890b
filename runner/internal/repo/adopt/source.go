package adopt

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Limits for reading sources.
const (
	maxSource      = 1 << 20 // bytes of a file
	referenceLines = 8       // lines to search for the name of a reference
)

// sourceEndings are the file endings of Pulumi's languages.
var sourceEndings = []string{".yaml", ".yml", ".ts", ".mts", ".js", ".mjs", ".py", ".go", ".cs", ".fs", ".vb", ".java",
	".kt", ".scala"}

// skippedDir reports whether a directory has no sources of this repository.
func skippedDir(name string) bool {
	return strings.HasPrefix(name, ".") && name != "." ||
		slices.Contains([]string{"node_modules", "vendor", "venv", "__pycache__", "target", "obj"}, name)
}

// madeReference matches the creation of a stack reference in any language.
var madeReference = regexp.MustCompile(
	`StackReference(<[^>]*>)?\s*\(|pulumi:pulumi:StackReference|new\s+(\w+\.)*StackReference\b`)

// readSources adds the edges of a project that is not deployed from its sources, if they
// contain names of projects.
func (a *adoption) readSources(f Found) {
	_ = filepath.WalkDir(f.Dir, func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			a.doubt("%s cannot be searched for references: %v", f.Name, err)
			return nil
		case entry.IsDir() && file != f.Dir && (skippedDir(entry.Name()) || slices.Contains(f.Nested, file)):
			return fs.SkipDir
		case !entry.Type().IsRegular() || !slices.Contains(sourceEndings, filepath.Ext(file)):
			return nil
		}
		if info, err := entry.Info(); err == nil && info.Size() <= maxSource {
			a.readSource(f, file)
		}
		return nil
	})
}

func (a *adoption) readSource(f Found, file string) {
	content, err := os.ReadFile(file)
	if err != nil || !bytes.Contains(content, []byte("StackReference")) {
		return
	}
	relative, _ := filepath.Rel(f.Dir, file) // file is below f.Dir
	shown := path.Join(f.Path, filepath.ToSlash(relative))
	lines := strings.Split(string(content), "\n")
	for i, line := range lines {
		if !madeReference.MatchString(line) {
			continue
		}
		place := fmt.Sprintf("%s:%d", shown, i+1)
		named := a.named(f.Name, referenceText(lines[i:]))
		if named == "" {
			a.doubt("%s makes a stack reference with a computed name; if it reads another project here, add that to reads of %s",
				place, f.Name)
			continue
		}
		a.add(f.Name, named, place+" makes a reference to it")
		a.doubt("the only evidence that %s reads %s is %s, because it is not deployed", f.Name, named, place)
	}
}

// referenceText returns the text of the reference that begins in the first line.
func referenceText(lines []string) string {
	lines = lines[:min(len(lines), referenceLines)]
	for i, line := range lines {
		if i > 0 && madeReference.MatchString(line) {
			lines = lines[:i]
			break
		}
	}
	return strings.Join(lines, "\n")
}

// named returns the project whose name is part of a stack's name in a text.
func (a *adoption) named(reader, text string) string {
	first, project := len(text), ""
	for _, f := range a.found {
		at := regexp.MustCompile("[/\"'`]" + regexp.QuoteMeta(f.Name) + "/").FindStringIndex(text)
		if f.Name != reader && at != nil && at[0] < first {
			first, project = at[0], f.Name
		}
	}
	return project
}

// readStates adds the edges of a project from the stack references in its states.
func (a *adoption) readStates(f Found) error {
	for _, stack := range slices.Sorted(maps.Keys(a.states[f.Name])) {
		names, err := References(a.states[f.Name][stack])
		if err != nil {
			return fmt.Errorf("reading the state of %s of %s: %w", stack, f.Name, err)
		}
		for _, name := range names {
			a.refer(f, stack, name)
		}
	}
	return nil
}

// refer adds an edge for a reference of a stack, if it stays in the environment.
func (a *adoption) refer(f Found, stack, name string) {
	parts := strings.Split(name, "/")
	if len(parts) < 2 {
		return // another stack of the same project
	}
	project, other := parts[len(parts)-2], parts[len(parts)-1]
	evidence := fmt.Sprintf("the state of %s has a reference to %s", stack, name)
	if !a.isFound(project) {
		a.doubt("%s reads %s, which is not a project here: it has to be deployed before", f.Name, name)
		return
	}
	from, known := a.names.Environment(f.Name, stack)
	to, follows := a.names.Environment(project, other)
	switch {
	case project == f.Name:
	case known && follows && from != to:
		a.doubt("%s, stack %s, reads %s, which belongs to another environment: this is not an edge", f.Name, stack, name)
	default:
		a.add(f.Name, project, evidence)
	}
}

// References returns the names of the stacks that a state references.
func References(state json.RawMessage) ([]string, error) {
	if len(state) == 0 {
		return nil, nil
	}
	var deployment struct {
		Resources []struct {
			Type   string `json:"type"`
			ID     string `json:"id"`
			Inputs struct {
				Name any `json:"name"`
			} `json:"inputs"`
		} `json:"resources"`
	}
	if err := json.Unmarshal(state, &deployment); err != nil {
		return nil, err
	}
	var names []string
	for _, r := range deployment.Resources {
		if r.Type != "pulumi:pulumi:StackReference" {
			continue
		}
		name, isText := r.Inputs.Name.(string)
		if !isText {
			name = r.ID
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names, nil
}
