package discover

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mara/runner/internal/core/references"
)

// readSources adds the edges of a project from its sources, if they are not in its states.
func (a *adoption) readSources(f Found, sources *references.Repository) {
	deployed := len(a.states[f.Name]) > 0
	inStates := len(a.reads[f.Name])
	read := sources.Of(f.Project)
	var said []string // evidence of doubts that name a place
	for _, e := range read.Edges {
		switch {
		case a.knows(f.Name, e.Project):
		case !a.has(e.Project) && e.Certainty == references.Doubtful:
			if !deployed {
				said = append(said, e.Evidence)
				a.doubt("%s may read %s, which is not adopted: %s", f.Name, e.Project, e.Evidence)
			}
		case !a.has(e.Project):
			a.doubt("%s reads %s, which is not adopted: %s", f.Name, e.Project, e.Evidence)
		case e.Certainty == references.Doubtful:
			if !deployed {
				a.perhaps[f.Name] = append(a.perhaps[f.Name], e)
			}
		default:
			if deployed {
				e.Evidence += "; not in the deployed states"
			}
			a.add(f.Name, e)
		}
	}
	if deployed && inStates >= read.Sites {
		return // the states have every reference of the sources
	}
	for _, missing := range read.Missing {
		a.doubt("%s reads %s, which is not a project here: it has to be deployed before", f.Name, missing)
	}
	for _, place := range read.Computed {
		a.computed[f.Name] = append(a.computed[f.Name], place)
		if slices.ContainsFunc(said, func(evidence string) bool { return strings.HasPrefix(evidence, place+":") }) {
			continue // one doubt a place
		}
		if !slices.Contains(a.unnamed, place) {
			a.unnamed = append(a.unnamed, place)
		}
	}
}

// tellComputed records doubts about references with computed names, one a place. A file with many has one in all.
func (a *adoption) tellComputed() {
	for _, in := range byFile(a.unnamed) {
		if in.places == 1 {
			a.doubt("%s makes a stack reference with a computed name; if it reads another project here, add that to reads", in)
			continue
		}
		a.doubt("%s makes %d stack references with computed names; if they read other projects here, add those to reads", in, in.places)
	}
}

// mostPlaces is how many places of a file have a line each.
const mostPlaces = 3

// inFile is one place of a file, or all its places together.
type inFile struct {
	text   string
	places int
}

// String returns the places as they are shown.
func (f inFile) String() string { return f.text }

// byFile returns places, FILE:LINE, in their order; those of a file with many are one.
func byFile(places []string) []inFile {
	lines := map[string][]string{}
	for _, place := range places {
		file, line := cutLine(place)
		lines[file] = append(lines[file], line)
	}
	var all []inFile
	for _, place := range places {
		file, _ := cutLine(place)
		switch of := lines[file]; {
		case len(of) > mostPlaces:
			text := fmt.Sprintf("%s (lines %s)", file, strings.Join(of[:mostPlaces], ", ")+", ...")
			all = append(all, inFile{text, len(of)})
			delete(lines, file)
		case len(of) > 0:
			all = append(all, inFile{place, 1})
		}
	}
	return all
}

func cutLine(place string) (file, line string) {
	at := strings.LastIndexByte(place, ':')
	if at < 0 {
		return place, ""
	}
	return place[:at], place[at+1:]
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

	if !a.has(project) {
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
		evidence := fmt.Sprintf("the state of %s has a reference to %s", stack, name)
		a.add(f.Name, Edge{Project: project, Evidence: evidence, Certainty: Deployed})
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
