package discover

import (
	"path"
	"slices"
	"strings"
)

// move writes the new paths of projects whose directories are elsewhere now. exists reports whether a path of mara.yaml
// is a directory. A project is known by the name in the comment that adopt has written, or else by the last element of its
// path; where several projects fit, or none, the path stays, and the next command names it.
func (a Adoption) move(content []byte, exists func(path string) bool) (string, []Addition, error) {
	file, err := readEntries(content)
	if err != nil {
		return "", nil, err
	}
	isListed := func(p Project) bool {
		return slices.ContainsFunc(file.entries, func(e entry) bool { return e.path == path.Clean(p.Path) })
	}
	unlisted := slices.DeleteFunc(slices.Clone(a.Projects), isListed)
	var moved []Addition
	for _, e := range file.entries {
		if e.place == nil || e.isElsewhere || exists(e.path) {
			continue
		}
		name := file.named(e)
		var fit []Project
		for _, p := range unlisted {
			if name == p.Name || name == "" && path.Base(p.Path) == path.Base(e.path) {
				fit = append(fit, p)
			}
		}
		if len(fit) != 1 {
			continue
		}
		line := e.place.Line - 1
		head, rest := file.lines[line][:e.place.Column-1], file.lines[line][e.place.Column-1:]
		written := e.place.Value
		if strings.HasPrefix(rest, `"`) || strings.HasPrefix(rest, "'") {
			written = rest[:1] + written + rest[:1]
		}
		after, ok := strings.CutPrefix(rest, written)
		if !ok {
			continue
		}
		file.lines[line] = head + quote(fit[0].Path) + after
		moved = append(moved, Addition{Path: fit[0].Path, Name: fit[0].Name, MovedFrom: e.path})
	}
	return file.text(), moved, nil
}

// named returns the name of the project in the comment that adopt has written below its path, or "".
func (f *entries) named(e entry) string {
	for _, line := range f.lines[e.start:e.end] {
		comment, isComment := strings.CutPrefix(strings.TrimSpace(line), "# ")
		name, stacks, ok := strings.Cut(comment, "; ")
		if isComment && ok && (stacks == "no stack" || strings.HasPrefix(stacks, "stacks: ")) {
			return name
		}
	}
	return ""
}
