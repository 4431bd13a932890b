package outdir_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mara/runner/internal/machine/failure"
	"mara/runner/internal/machine/outdir"
)

// contents reads the files of a directory, without the marker.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() || entry.Name() == outdir.Marker {
			return err
		}
		content, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		found[filepath.ToSlash(name)] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func files(pairs ...string) map[string][]byte {
	made := map[string][]byte{}
	for i := 0; i < len(pairs); i += 2 {
		made[pairs[i]] = []byte(pairs[i+1])
	}
	return made
}

func refused(t *testing.T, err error, want string) {
	t.Helper()
	var environment *failure.Environment
	if !errors.As(err, &environment) || !strings.Contains(err.Error(), want) || !strings.Contains(environment.NextStep(), "nothing was written") {
		t.Errorf("error %v, want one that says %q", err, want)
	}
}

func TestWrite(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a", "out")
	for _, step := range []map[string][]byte{files("x.yaml", "one", "sub/y.yaml", "two"), files("x.yaml", "three"), files("z/z.yaml", "")} {
		if err := outdir.Write(dir, "runner test", step); err != nil {
			t.Fatal(err)
		}
		want := map[string]string{}
		for name, content := range step {
			want[name] = string(content)
		}
		if diff := cmp.Diff(want, contents(t, dir)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	if entries, err := os.ReadDir(filepath.Dir(dir)); err != nil || len(entries) != 1 {
		t.Errorf("beside the directory is left %v, error %v", entries, err)
	}
}

func TestWriteRefuses(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, file, content, command, want string
	}{
		{"a foreign file", "mine.txt", "mine", "runner test", "has files that `runner test` did not write: mine.txt"},
		{"a file that was changed", "x.yaml", "changed", "runner test", "has files that were changed by hand: x.yaml"},
		{"a directory of another command", "x.yaml", "one", "runner other", "is not a directory of `runner other`"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "out")
			if err := outdir.Write(dir, "runner test", files("x.yaml", "one")); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, test.file), []byte(test.content), 0o600); err != nil {
				t.Fatal(err)
			}
			before := contents(t, dir)
			refused(t, outdir.Write(dir, test.command, files("x.yaml", "two")), test.want)
			if diff := cmp.Diff(before, contents(t, dir)); diff != "" {
				t.Errorf("something was written: %s", diff)
			}
		})
	}
}

func TestWriteIntoAnEmptyDirOrALink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Skip(err)
	}
	if err := outdir.Write(link, "runner test", files("x.yaml", "one")); err != nil || contents(t, dir)["x.yaml"] != "one" {
		t.Errorf("error %v, files %v", err, contents(t, dir))
	}
}

func TestWriteFile(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a", "b.yml")
	for _, content := range []string{"one\n", "two\n"} {
		if err := outdir.WriteFile(path, "runner test", []byte(content)); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || !strings.HasSuffix(string(got), "\n"+content) || !strings.HasPrefix(string(got), "# Written by `runner test`") {
			t.Errorf("got %q, %v", got, err)
		}
	}
	refused(t, outdir.WriteFile(path, "runner other", nil), "was not written by `runner other`")
	got, _ := os.ReadFile(path)
	if err := os.WriteFile(path, append(got, "more\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	refused(t, outdir.WriteFile(path, "runner test", []byte("three\n")), "or was changed since")
}
