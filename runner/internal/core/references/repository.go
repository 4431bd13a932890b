package references

import (
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"mara/config/files"
)

// maxSource limits the size of a source, in bytes.
const maxSource = 1 << 20

// Repository has the sources below a root.
type Repository struct {
	root              string
	projects          []Project
	files             []*source
	byPath            map[string]*source
	python            map[string][]*source // by the last part of the module's name
	java              map[string][]*source // by the name of the class, and of the directory with "/" after it
	goDirs            map[string][]*source // by the directory below the root
	packages          map[string]string    // directories of npm's packages, by name
	projectReferences map[string][]string  // directories that a project of .NET references

}

// Read reads the sources below a root, until the context ends.
func Read(ctx context.Context, root string, projects []Project) (*Repository, error) {
	r := &Repository{root: root, projects: projects, byPath: map[string]*source{}, python: map[string][]*source{}, java: map[string][]*source{},
		goDirs: map[string][]*source{}, packages: map[string]string{}, projectReferences: map[string][]string{}}
	_ = filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return fs.SkipAll
		case err != nil:
			return nil // what cannot be read says nothing
		case entry.IsDir() && file != root && SkippedDir(file):
			return fs.SkipDir
		case !entry.Type().IsRegular():
			return nil
		}
		r.add(file, entry)
		return nil
	})
	return r, context.Cause(ctx)
}

// SkippedDir reports whether a directory has no sources of this repository. A virtual environment of Python may have
// any name; it has a mark.
func SkippedDir(dir string) bool {
	name := filepath.Base(dir)
	if strings.HasPrefix(name, ".") && name != "." || slices.Contains([]string{"node_modules", "vendor", "venv",
		"__pycache__", "target", "obj", "site-packages", "dist-packages"}, name) {
		return true
	}
	_, err := os.Lstat(filepath.Join(dir, "pyvenv.cfg"))
	return err == nil
}

func (r *Repository) add(file string, entry fs.DirEntry) {
	ending := filepath.Ext(file)
	_, known := languageOf(ending)
	isYAML := ending == ".yaml" || ending == ".yml"
	isProjectFile := slices.Contains([]string{".csproj", ".fsproj", ".vbproj"}, ending)
	if !known && !isYAML && !isProjectFile && entry.Name() != "package.json" {
		return
	}
	if info, err := entry.Info(); err != nil || info.Size() > maxSource {
		return
	}
	content, err := files.ReadCommitted(file, files.Text)
	if err != nil {
		return
	}
	dir := filepath.Dir(file)
	switch {
	case entry.Name() == "package.json":
		var p struct{ Name string }
		if json.Unmarshal(content, &p) == nil && p.Name != "" {
			r.packages[p.Name] = dir
		}
		return
	case isProjectFile:
		for _, m := range dotnetReference.FindAllSubmatch(content, -1) {
			other := filepath.Join(dir, filepath.FromSlash(strings.ReplaceAll(string(m[1]), `\`, "/")))
			r.projectReferences[dir] = append(r.projectReferences[dir], filepath.Dir(other))
		}
		return
	}
	s := &source{path: file, ending: ending, content: string(content)}
	r.files = append(r.files, s)
	r.byPath[file] = s
	shown := r.shown(file)
	switch ending {
	case ".py":
		stem := strings.TrimSuffix(entry.Name(), ".py")
		if stem == "__init__" {
			stem = filepath.Base(dir)
		}
		r.python[stem] = append(r.python[stem], s)
	case ".java", ".kt", ".kts", ".scala", ".groovy":
		for _, key := range []string{strings.TrimSuffix(entry.Name(), ending), filepath.Base(dir) + "/"} {
			r.java[key] = append(r.java[key], s)
		}
	case ".go":
		r.goDirs[path.Dir(shown)] = append(r.goDirs[path.Dir(shown)], s)
	}
}

// dotnetReference matches a reference to another project of .NET.
var dotnetReference = regexp.MustCompile(`<ProjectReference\s+Include="([^"]+)"`)

// filesOf returns the files of a project, without those of projects below it.
func (r *Repository) filesOf(p Project) []*source {
	return slices.DeleteFunc(r.under(p.Dir), func(s *source) bool {
		return slices.ContainsFunc(p.Nested, func(dir string) bool { return isBelow(s.path, dir) })
	})
}

// under returns the files below a directory.
func (r *Repository) under(dir string) []*source {
	return slices.DeleteFunc(slices.Clone(r.files), func(s *source) bool { return !isBelow(s.path, dir) })
}

func isBelow(file, dir string) bool {
	return strings.HasPrefix(file, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}
