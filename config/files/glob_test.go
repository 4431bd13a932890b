package files_test

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mara/config/files"
)

// TestGlob: the name of the directory is no pattern, whatever it is.
func TestGlob(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"plain", "w[1]", "a*b", "what?", `back\slash`, "[", "[a-", "größe", "{x,y}"} {
		dir := filepath.Join(t.TempDir(), name)
		for _, file := range []string{"one.log", "two.log", "sub/three.log"} {
			path := filepath.Join(dir, filepath.FromSlash(file))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		for pattern, want := range map[string][]string{
			"*.log": {"one.log", "two.log"}, "./one.log": {"one.log"}, "*/*.log": {"sub/three.log"}, "sub/": {"sub"}, "none": nil,
		} {
			found, err := files.Glob(dir, pattern)
			for i := range found {
				found[i], _ = filepath.Rel(dir, found[i])
				found[i] = filepath.ToSlash(found[i])
			}
			if err != nil || !slices.Equal(found, want) {
				t.Errorf("%s in %q: %q, %v, want %q", pattern, name, found, err, want)
			}
		}
	}
	if _, err := files.Glob(t.TempDir(), "[a-"); err == nil {
		t.Error("a wrong pattern is no error")
	}
}

// FuzzGlob: a file is found by its own name below a directory of any name, and by a pattern that matches it.
func FuzzGlob(f *testing.F) {
	for _, seed := range [][3]string{{"w[1]", "a.log", "*.log"}, {`\`, "[", "*"}, {"a*", "?", "[?]"}, {"x", "a-b", "a[a-"}} {
		f.Add(seed[0], seed[1], seed[2])
	}
	f.Fuzz(func(t *testing.T, dir, name, pattern string) {
		for _, part := range []string{dir, name} {
			if part == "" || part == "." || part == ".." || len(part) > 100 || strings.ContainsAny(part, "/\x00") {
				t.Skip()
			}
		}
		dir = filepath.Join(t.TempDir(), dir)
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Skip()
		}
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Skip()
		}
		found, err := files.Glob(dir, pattern)
		matches, wrong := path.Match(path.Clean(pattern), name)
		if wrong == nil && err == nil && matches != slices.Contains(found, filepath.Join(dir, name)) {
			t.Errorf("%q in %q with %q: %q", pattern, dir, name, found)
		}
		for _, file := range found {
			if !strings.HasPrefix(file, dir) {
				t.Errorf("%q leaves %q: %q", pattern, dir, file)
			}
		}
	})
}
