package feature

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const here = "mara/runner/internal/feature/"

// exceptions are the features that import others. Each is a debt: a value that main could hand in, or a package that
// belongs to the core.
var exceptions = map[string][]string{
	"doctor":   {"kind", "policy"},
	"export":   {"mirror", "operator", "simulate"},
	"firstrun": {"doctor"},
	"mirror":   {"simulate"},
	"simulate": {"mirror"},
	"policy":   {"query"},
	"promote":  {"mirror"},
	"rollout":  {"policy", "upgrade"},
	"upgrade":  {"backup"},
	"web":      {"policy"},
}

// TestFeaturesStandAlone lists the features with their lines of Go, and the imports between them, which have to be the
// listed ones.
func TestFeaturesStandAlone(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-json=ImportPath,Dir,GoFiles,Imports", "./...").Output()
	if err != nil {
		t.Fatal(err)
	}
	imports, lines := map[string]map[string]bool{}, map[string]int{}
	decoder := json.NewDecoder(bytes.NewReader(out))
	for {
		var p struct {
			ImportPath, Dir  string
			GoFiles, Imports []string
		}
		if err := decoder.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		name, ok := featureOf(p.ImportPath)
		if !ok {
			continue
		}
		for _, file := range p.GoFiles {
			content, err := os.ReadFile(filepath.Join(p.Dir, file))
			if err != nil {
				t.Fatal(err)
			}
			lines[name] += bytes.Count(content, []byte("\n"))
		}
		for _, path := range p.Imports {
			if other, ok := featureOf(path); ok && other != name {
				if imports[name] == nil {
					imports[name] = map[string]bool{}
				}
				imports[name][other] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(lines)) {
		others := slices.Sorted(maps.Keys(imports[name]))
		t.Logf("%-12s %5d lines  imports %s", name, lines[name], strings.Join(others, ", "))
		if !slices.Equal(others, exceptions[name]) {
			t.Errorf("%s imports the features %q, and not %q: hand in what it needs in package wire, or list it here",
				name, others, exceptions[name])
		}
	}
}

// featureOf returns the feature that a package belongs to.
func featureOf(path string) (name string, ok bool) {
	rest, ok := strings.CutPrefix(path, here)
	name, _, _ = strings.Cut(rest, "/")
	return name, ok
}
