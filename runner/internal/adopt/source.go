package adopt

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Limits of what is looked at in the sources.
const (
	maxSource      = 1 << 20 // bytes of a file
	referenceLines = 8       // in which the name of a reference stands
)

// sourceEndings returns those of the languages that Pulumi knows.
func sourceEndings() []string {
	return []string{".yaml", ".yml", ".ts", ".mts", ".js", ".mjs", ".py", ".go", ".cs", ".fs", ".vb", ".java", ".kt", ".scala"}
}

// skippedFolder reports a folder that has nothing that somebody here has written.
func skippedFolder(name string) bool {
	return strings.HasPrefix(name, ".") && name != "." || slices.Contains([]string{"node_modules", "vendor", "venv", "__pycache__", "target", "obj"}, name)
}

// madeReference finds where a program makes a stack reference, in any language.
var madeReference = regexp.MustCompile(`StackReference(<[^>]*>)?\s*\(|pulumi:pulumi:StackReference|new\s+(\w+\.)*StackReference\b`)

// readSources takes the edges of a project that is not deployed from its sources,
// as far as the name of a project stands there.
func (a *adoption) readSources(f Found) {
	_ = filepath.WalkDir(f.Dir, func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			a.doubt("%s cannot be looked at for references: %v", f.Name, err)
			return nil
		case entry.IsDir() && file != f.Dir && (skippedFolder(entry.Name()) || slices.Contains(f.Nested, file)):
			return fs.SkipDir
		case !entry.Type().IsRegular() || !slices.Contains(sourceEndings(), filepath.Ext(file)):
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
	relative, _ := filepath.Rel(f.Dir, file) // it is below
	shown := path.Join(f.Path, filepath.ToSlash(relative))
	lines := strings.Split(string(content), "\n")
	for i, line := range lines {
		if !madeReference.MatchString(line) {
			continue
		}
		place := fmt.Sprintf("%s:%d", shown, i+1)
		named := a.named(f.Name, referenceText(lines[i:]))
		if named == "" {
			a.doubt("%s makes a stack reference whose name does not stand there; if it reads another project here, add that to reads of %s", place, f.Name)
			continue
		}
		a.add(f.Name, named, place+" makes a reference to it")
		a.doubt("%s reads %s by %s alone, for nothing of it is deployed", f.Name, named, place)
	}
}

// referenceText returns what belongs to the reference in the first line.
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

// named returns the project whose name stands in a text as a part of a stack's name.
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
