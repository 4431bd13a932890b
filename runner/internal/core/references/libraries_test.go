package references_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"mara/runner/internal/core/references"
)

// mostFiles limits how much of each part of a library is read.
const mostFiles = 300

// libraries returns files of the libraries that Go, Python and Node come with, where they are installed.
func libraries() (found []string) {
	for _, pattern := range []string{
		"/usr/local/go/src/*/*.go", "/usr/local/go/src/*/*/*.go", "/usr/lib/go/src/*/*.go", "/usr/lib/python3*/*.py", "/usr/lib/python3*/[a-t]*/*.py", "/usr/local/lib/python3*/*.py",
		"/usr/lib/node_modules/npm/node_modules/*/lib/*.js", "/usr/lib/node_modules/npm/lib/*/*.js",
		"/usr/local/lib/node_modules/npm/lib/*/*.js", "/usr/lib/node_modules/npm/node_modules/*/*.js",
	} {
		files, _ := filepath.Glob(pattern)
		found = append(found, files[:min(mostFiles, len(files))]...)
	}
	return found
}

// TestLibraries: the search for references reads any real source, soon, and finds none where there is none.
func TestLibraries(t *testing.T) {
	t.Parallel()
	files := libraries()
	if len(files) == 0 {
		t.Skip("none of them is installed")
	}
	root := t.TempDir()
	dir := filepath.Join(root, "app")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for i, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			continue // it is a link to nowhere
		}
		name := fmt.Sprintf("%d_%s", i, filepath.Base(file)) // a directory node_modules would be left out
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	app := references.Project{Name: "app", Dir: dir}
	began := time.Now()
	r, err := references.Read(t.Context(), root, []references.Project{app, {Name: "net", Dir: filepath.Join(root, "net")}})
	if err != nil {
		t.Fatal(err)
	}
	if found := r.Of(app); found.Sites > 0 {
		t.Errorf("references in libraries: %v", found)
	}
	t.Logf("%d files in %s", len(files), time.Since(began))
}
